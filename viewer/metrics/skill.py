"""What of a hit rate the image explains: the rate less the prior-only rate (X-04).

The prior-only rate is what the same answers would reach if they were handed to the
images of the same finding and view at random: every answer meets every reference of
its stratum, its own included, and the mean is exact. All of it is done in integers, so
that a model that always gives the same answer has a skill of exactly 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import fsum

import numpy as np
import numpy.typing as npt

from viewer.metrics.intervals import resampling_weights

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_LARGEST_BLOCK = 4_000_000
"""Of weights held at once."""


@dataclass(frozen=True, eq=False)
class Stratum:
    """The settled trials of one finding and view, summed up by patient.

    ``patients`` (p,) indices into the resampled patients; ``trials`` (p,) and ``hits``
    (p,) counts; ``met[i, j]`` how often an answer of patient i hits a reference of
    patient j, over all pairs of their trials (an answer that could not be read hits
    none).
    """

    patients: _Ints
    trials: _Ints
    hits: _Ints
    met: _Ints


@dataclass(frozen=True, slots=True)
class Skill:
    """A hit rate, the prior-only rate of the same answers, and their difference."""

    hit_rate: float
    prior: float
    skill: float


@dataclass(frozen=True, eq=False)
class SkillReplicates:
    """Each replicate's skill: mean over findings, and pooled; NaN where none."""

    macro: _Floats
    micro: _Floats


def stratum(
    patients: _Ints, n_cells: int, answers: _Ints, references: Sequence[tuple[int, ...]]
) -> Stratum:
    """Sum up trials by patient.

    Parameters
    ----------
    patients : (trials,) integers
        Each trial's patient.
    n_cells : int
        Cells of the grid.
    answers : (trials,) integers
        Each answered cell's row-major index, -1 for none.
    references : sequence of tuple of int
        Each trial's qualifying cells.
    """
    present, of = np.unique(patients, return_inverse=True)
    trials = np.bincount(of, minlength=present.size)
    sizes = [len(cells) for cells in references]
    cells = np.fromiter(chain.from_iterable(references), np.int64, sum(sizes))
    wanting, found = np.repeat(of, sizes), np.repeat(answers, sizes) == cells
    hits = np.bincount(wanting[found], minlength=present.size)
    answered = answers >= 0
    # floats hold these whole numbers exactly, and are multiplied many times as fast
    given, wanted = np.zeros((2, present.size, n_cells))
    np.add.at(given, (of[answered], answers[answered]), 1)
    np.add.at(wanted, (wanting, cells), 1)
    return Stratum(present, trials, hits, (given @ wanted.T).astype(np.int64))


def skill_of(strata: Sequence[Stratum]) -> Skill:
    """Return the skill over strata, each weighted by its trials."""
    n = sum(int(s.trials.sum()) for s in strata)
    hits = sum(int(s.hits.sum()) for s in strata)
    prior = fsum(int(s.met.sum()) / int(s.trials.sum()) for s in strata)
    gained = fsum(_gained(s) for s in strata)
    return Skill(hits / n, prior / n, gained / n)


def bootstrap_skill(
    arms: Sequence[Sequence[Sequence[Stratum]]],
    replicates: int,
    rng: np.random.Generator,
) -> list[SkillReplicates]:
    """Return the skill of each arm in each replicate; the arms share the draws.

    Patients with a trial in any arm are drawn with replacement, as many as there are,
    and all trials of a patient go with him. A finding none of whose patients was drawn
    is left out of that replicate's macro mean (NaN-skipping).

    Parameters
    ----------
    arms : sequence of sequences of sequences of Stratum
        For each arm (a model under a condition), for each finding, its strata.
    replicates : int
        How many replicates.
    rng : numpy.random.Generator
        Where the draws come from.
    """
    everyone = [s.patients for arm in arms for finding in arm for s in finding]
    universe = np.unique(np.concatenate(everyone))
    block = max(1, _LARGEST_BLOCK // universe.size)
    parts: list[list[SkillReplicates]] = []
    for start in range(0, replicates, block):
        rows = min(block, replicates - start)
        weights = resampling_weights(universe.size, rows, rng).astype(np.float64)
        parts.append([_replicates(arm, universe, weights) for arm in arms])
    return [_joined(blocks) for blocks in zip(*parts, strict=True)]


def mean_of_findings(values: Sequence[_Floats]) -> _Floats:
    """Return the mean over findings of each replicate, NaN ones left out."""
    stacked = np.stack(values)
    present = ~np.isnan(stacked)
    total = np.where(present, stacked, 0.0).sum(axis=0)
    count = present.sum(axis=0)
    return _ratio(total, count.astype(np.float64))


def _replicates(
    findings: Sequence[Sequence[Stratum]], universe: _Ints, weights: _Floats
) -> SkillReplicates:
    pooled = [_pooled(strata, universe, weights) for strata in findings]
    macro = mean_of_findings([_ratio(gained, n) for gained, n in pooled])
    gained, n = (np.sum(part, axis=0) for part in zip(*pooled, strict=True))
    return SkillReplicates(macro, _ratio(gained, n))


def _pooled(
    strata: Sequence[Stratum], universe: _Ints, weights: _Floats
) -> tuple[_Floats, _Floats]:
    """Return gained hits and trials of each replicate over strata."""
    gained, n = np.zeros(weights.shape[0]), np.zeros(weights.shape[0])
    for one in strata:
        columns = np.searchsorted(universe, one.patients)
        more, trials = _resampled(one, weights[:, columns])
        gained += more
        n += trials
    return gained, n


def _ratio(gained: _Floats, n: _Floats) -> _Floats:
    return np.divide(gained, n, out=np.full_like(gained, np.nan), where=n > 0)


def _joined(parts: Sequence[SkillReplicates]) -> SkillReplicates:
    return SkillReplicates(
        np.concatenate([part.macro for part in parts]),
        np.concatenate([part.micro for part in parts]),
    )


def _gained(one: Stratum) -> float:
    """Return the hits above those of the prior: (k·n − met) / n, exactly 0 if equal."""
    n, k = int(one.trials.sum()), int(one.hits.sum())
    return (k * n - int(one.met.sum())) / n


def _resampled(one: Stratum, weights: _Floats) -> tuple[_Floats, _Floats]:
    """Return gained hits and trials of each replicate; whole numbers stay exact."""
    n = weights @ one.trials
    k = weights @ one.hits
    met = np.einsum("rp,rp->r", weights @ one.met.astype(np.float64), weights)
    return np.divide(k * n - met, n, out=np.zeros_like(n), where=n > 0), n
