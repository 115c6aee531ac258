"""Every interval and p-value that is printed, tried on studies whose truth is known.

``python -m tests.helpers.interval_proofs`` writes docs/intervals.md anew.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import product
from math import isnan, sqrt
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import jensenshannon

from tests.helpers import simulated as made
from viewer.metrics.agreement import Agreement, Weighting, cohen_kappa, gwet_ac
from viewer.metrics.capped_review import capped_review
from viewer.metrics.divergence import sampled_divergence
from viewer.metrics.intervals import Interval
from viewer.metrics.judging import prediction_powered
from viewer.metrics.krippendorff import Scale, krippendorff_alpha
from viewer.metrics.location_prior import gain_over_prior
from viewer.metrics.multiplicity import holm
from viewer.metrics.pairing import macro_difference, mcnemar, mean_difference
from viewer.metrics.permutation import macro_contributions, sign_flip
from viewer.metrics.proportions import (
    f1_interval,
    macro_interval,
    mean_of_alike,
    patient_bounds,
    patient_interval,
)
from viewer.metrics.rubric import mean_absolute_difference, weighted_kappa
from viewer.metrics.signed_rank import signed_rank
from viewer.metrics.word_prior import gain_over_words

Rng = np.random.Generator
Told = Iterator[tuple[float, float]]
"""1 where the truth is held, or nothing is found where nothing is; and the width."""
PAGE: Final = Path(__file__).parents[2] / "docs" / "intervals.md"
COMMAND: Final = "python -m tests.helpers.interval_proofs"
LEAST, LARGEST, NOISE = 0.93, 0.05, 2.0
"""Coverage, size, and standard errors of the simulation that a size may exceed."""
PATIENTS, ICCS, REPEATS = (5, 8, 20, 50, 200), (0.0, 0.3, 0.6), (1, 5)
RATES = (0.02, 0.1, 0.5, 0.9, 0.98)
AGAIN: Final = 5
"""Whatever setting looks worst is tried once more, in as many times the studies."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A method, the settings it is tried in, and what draws studies of a setting."""

    method: str
    settings: tuple[tuple[float, ...], ...]
    names: tuple[str, ...]
    studies: int
    draw: Callable[..., Told]
    is_test: bool = False


@dataclass(frozen=True, slots=True)
class Proved:
    """The least coverage, or the largest size, where that is, and the median width.

    ``each`` holds every setting's share of intervals that hold, and median width.
    """

    worst: float
    where: str
    width: float
    studies: int
    each: Mapping[tuple[float, ...], tuple[float, float]]

    def holds(self, proof: Proof) -> bool:
        """Tell whether that is as good as is promised."""
        if not proof.is_test:
            return self.worst >= LEAST
        slack = NOISE * sqrt(LARGEST * (1 - LARGEST) / self.studies)
        return self.worst <= LARGEST + slack

    def line(self, name: str, proof: Proof) -> str:
        """Return the row of the page."""
        kind, width = (
            ("size", "") if proof.is_test else ("coverage", f"{self.width:.3f}")
        )
        cells = (name, proof.method, str(len(proof.settings)), kind)
        return " | ".join(
            ("", *cells, f"{self.worst:.3f}", self.where, width, "")
        ).strip()


def proved(name: str) -> Proved:
    """Simulate every setting of a proof; the worst ones are drawn once more."""
    proof = PROOFS[name]
    found = [_tried(name, proof, one, proof.studies, 0) for one in proof.settings]
    again: set[int] = set()
    while (worst := min(range(len(found)), key=found.__getitem__)) not in again:
        again.add(worst)
        setting = proof.settings[worst]
        found[worst] = _tried(name, proof, setting, AGAIN * proof.studies, 1)
    least, setting = min(
        (held, s) for (held, _), s in zip(found, proof.settings, strict=True)
    )
    told = zip(proof.names, setting, strict=True)
    where = ", ".join(f"{one} {value:g}" for one, value in told)
    width = float(np.median([width for _, width in found]))
    figure = 1 - least if proof.is_test else least
    each = dict(zip(proof.settings, found, strict=True))
    return Proved(figure, where, width, AGAIN * proof.studies, each)


def _tried(
    name: str, proof: Proof, setting: Sequence[float], studies: int, again: int
) -> tuple[float, float]:
    rng = np.random.default_rng([zlib.crc32(f"{name}{setting}".encode()), again])
    held, widths = zip(*proof.draw(rng, studies, *setting), strict=True)
    return float(np.mean(held)), float(np.median(widths))


def _told(interval: Interval, truth: float) -> tuple[float, float]:
    low, high = interval.low - 1e-9, interval.high + 1e-9
    return float(low <= truth <= high), interval.high - interval.low


def _rates(
    rng: Rng, n: int, patients: int, items: int, icc: float, repeats: int, rate: float
) -> Told:
    own = made.rates_of(rng, rate, icc, (n, patients))
    low, high = patient_bounds(made.sums_of(rng, own, items, repeats))
    holds = (low <= rate + 1e-9) & (rate - 1e-9 <= high)
    yield from zip(holds.astype(float), high - low, strict=True)


def _items(
    rng: Rng, n: int, patients: int, items: int, icc: float, rate: float
) -> Told:
    for _ in range(n):
        own = made.rates_of(rng, rate, icc, (patients,))
        shares = made.hits_of(rng, own, items, 5).sum(axis=0) / 5
        trials = np.full(patients, items)
        yield _told(patient_interval(shares, trials, items * patients).interval, rate)


SIZES: Final = (
    ((10, 14, 30, 60, 100), 120, 3),
    ((1, 1, 1, 1, 50), 60, 4),
    ((1, 3, 5, 8), 20, 5),
    ((2, 2, 2), 5, 4),
    ((5,) * 9, 12, 1),
    ((2, 40), 41, 1),
)
"""Patients of each finding, of how many in all, and how many items each at most."""


def _macro(
    rng: Rng, n: int, which: int, repeats: int, icc: float, rate: float, spread: float
) -> Told:
    sizes, everyone, most = SIZES[which]
    rates = made.spread_rates(rate, spread, len(sizes))
    for _ in range(n):
        hits, trials = made.of_findings(rng, sizes, everyone, most, rates, icc)
        items = int(trials.sum())
        found = macro_interval(hits * repeats, trials * repeats, items)
        yield _told(found.interval, float(rates.mean()))


def _gain(
    rng: Rng,
    n: int,
    patients: int,
    items: int,
    repeats: int,
    icc: float,
    rate: float,
    else_: int,
) -> Told:
    other = ("prior", "constant", "uniform")[else_]
    truth = made.true_gain(rate, other)
    for _ in range(n):
        own = made.rates_of(rng, rate, icc, (patients,))
        one = made.placed(rng, own, items, repeats, other)
        held, width = _told(gain_over_prior([[one]]).interval, truth)
        near = (
            _told(gain_over_prior([[one]]).interval, truth + 1e-3)[0] if not held else 1
        )
        yield max(held, near), width


def _over_words(
    rng: Rng,
    n: int,
    patients: int,
    items: int,
    repeats: int,
    icc: float,
    words: int,
    denied: float,
    prior: float,
) -> Told:
    """Yield studies in which there is an interval; the others say why not."""
    left, tries = n, 10 * n
    while left and tries:
        tries -= 1
        swapped, there = made.worded(
            rng, (patients, items, repeats), icc, words, (denied, prior)
        )
        found = gain_over_words(swapped, there)
        if not isnan(found.interval.low):
            left -= 1
            yield _told(found.interval, denied - prior)


CHANGES: Final = (
    *((share, 0.0) for share in (0.0, 0.02, 0.1, 0.5, 0.9)),
    *((0.02, 0.02), (0.1, 0.1), (0.3, 0.1), (0.3, 0.3), (0.5, 0.5)),
)
"""Shares of items that are gained and lost."""


def _changes(
    rng: Rng, patients: int, items: int, icc: float, gained: float, lost: float
) -> npt.NDArray[np.int64]:
    """Return each item's change, (patients, items)."""
    shape = patients, items
    alike = rng.random(shape) < icc**0.5
    drawn = np.where(alike, rng.random((patients, 1)), rng.random(shape))
    return (drawn < gained).astype(np.int64) - (
        (drawn >= gained) & (drawn < gained + lost)
    )


def _f1s(
    rng: Rng,
    n: int,
    patients: int,
    items: int,
    icc: float,
    repeats: int,
    right: float,
    wrong: float,
) -> Told:
    """Yield intervals of F1 where so many items have a right or a wrong label."""
    truth, left, tries = 2 * right / (2 * right + wrong), n, 20 * n
    while left and tries:
        tries -= 1
        asked = made.sizes_of(rng, items, (patients,))
        most = int(asked.max())
        there = np.arange(most) < asked[:, None]
        first = _changes(rng, patients, most, icc, right, wrong)
        hits, decisions = np.zeros((2, patients), np.int64)
        decided = np.zeros((patients, most), np.bool_)
        for repeat in range(repeats):
            again = _changes(rng, patients, most, icc, right, wrong)
            keeps = rng.random(first.shape) < (made.ALIKE if repeat else 1)
            one = np.where(keeps, first, again) * there
            hits, decisions = hits + (one > 0).sum(1), decisions + (one != 0).sum(1)
            decided |= one != 0
        found = f1_interval(hits, decisions, int(decided.sum()))
        if not isnan(found.interval.low):
            left -= 1
            yield _told(found.interval, truth)


def _macro_f1s(
    rng: Rng, n: int, patients: int, items: int, icc: float, yes: float, no: float
) -> Told:
    """Yield intervals of the mean F1 of Yes and No; half of the items are Yes."""
    scores = (2 * a / (2 * a + (1 - b) + (1 - a)) for a, b in ((yes, no), (no, yes)))
    truth, left, tries = sum(scores) / 2, n, 20 * n
    while left and tries:
        tries -= 1
        own = [made.rates_of(rng, rate, icc, (patients, 1)) for rate in (yes, no)]
        is_yes = rng.random((patients, items)) < 0.5
        right = rng.random((patients, items)) < np.where(is_yes, *own)
        each = [
            f1_interval(
                (right & of).sum(1), (of | ~right).sum(1), int((of | ~right).sum())
            )
            for of in (is_yes, ~is_yes)
        ]
        found = mean_of_alike(each)
        if not isnan(found.interval.low):
            left -= 1
            yield _told(found.interval, truth)


def _differences(
    rng: Rng, n: int, patients: int, items: int, icc: float, gained: float, lost: float
) -> Told:
    for _ in range(n):
        trials = made.sizes_of(rng, items, (patients,))
        most = int(trials.max())
        d = _changes(rng, patients, most, icc, gained, lost)
        d *= np.arange(most) < trials[:, None]
        found = mean_difference(d.sum(axis=1), trials, float((d * d).sum()))
        yield _told(found.interval, gained - lost)


def _macro_differences(
    rng: Rng, n: int, which: int, icc: float, gained: float, lost: float
) -> Told:
    sizes, everyone, _ = SIZES[which]
    for _ in range(n):
        trials = np.zeros((everyone, len(sizes)), np.int64)
        for finding, size in enumerate(sizes):
            trials[rng.choice(everyone, size, replace=False), finding] = 1
        d = _changes(rng, everyone, len(sizes), icc, gained, lost) * trials
        found = macro_difference(d, trials, (d * d).sum(axis=0))
        yield _told(found.interval, gained - lost)


def _edits(
    rng: Rng, n: int, patients: int, items: int, icc: float, rate: float
) -> Told:
    """Yield shares of four edits less those of two shams (HEAL's net)."""
    for _ in range(n):
        nets = _nets(rng, patients, items, icc, rate)
        squares = float((nets * nets).sum())
        found = mean_difference(nets.sum(axis=1), [items] * patients, squares)
        yield _told(found.interval, 0.0)


def _nets(
    rng: Rng, patients: int, items: int, icc: float, rate: float
) -> npt.NDArray[np.float64]:
    """Return each item's share of edits less that of shams, (patients, items)."""
    own = made.rates_of(rng, rate, icc, (patients, 1))
    edits = rng.binomial(4, own, (patients, items)) / 4
    shams = rng.binomial(2, own, (patients, items)) / 2
    return np.asarray(edits - shams)


def _judged(
    rng: Rng, n: int, cases: int, labelled: int, rate: float, wrong: float
) -> Told:
    truth = rate * (1 - wrong) + (1 - rate) * wrong
    for _ in range(n):
        judge = rng.random(cases) < rate
        human = np.where(rng.random(cases) < wrong, ~judge, judge).astype(float)
        told = [float(h) if i < labelled else None for i, h in enumerate(human)]
        scores = judge.astype(float).tolist()
        found = prediction_powered(scores, told, range(cases), (0, 1))
        yield _told(found.interval, truth)


USES: Final = (
    (0.2,) * 5,
    (0.02, 0.03, 0.05, 0.15, 0.75),
    (0.45, 0.05, 0.0, 0.05, 0.45),
    (0.02, 0.0, 0.0, 0.0, 0.98),
)
"""How often each of five levels is used."""


def _kappa(
    rng: Rng, n: int, patients: int, items: int, icc: float, which: int, agree: float
) -> Told:
    truth, who = made.true_agreement(USES[which], agree)[0], np.arange(patients)
    left, tries = n, 20 * n
    while left and tries:
        one, two = made.graded(rng, patients, items, USES[which], agree, icc)
        names = np.repeat(who, items).astype(str).tolist()
        found = weighted_kappa(
            one.ravel().tolist(), two.ravel().tolist(), made.LEVELS, names
        )
        tries -= 1
        if not isnan(found.value):
            left -= 1
            yield _told(found.interval, truth)


MORE_USES: Final = (*USES, (0.5, 0.5), (0.05, 0.95), (0.6, 0.3, 0.1))
"""How often each of two to five labels is used."""


def _agreed(
    rng: Rng,
    n: int,
    patients: int,
    items: int,
    icc: float,
    which: int,
    agree: float,
    *,
    name: str,
) -> Told:
    """Yield intervals of a coefficient of two readers, where there is one."""
    use, coefficient = MORE_USES[which], _COEFFICIENTS[name]
    truth = made.true_coefficients(use, agree)[name]
    names = np.repeat(np.arange(patients), items).tolist()
    labels, left, tries = range(1, len(use) + 1), n, 20 * n
    while left and tries:
        pair = made.graded(rng, patients, items, use, agree, icc)
        raters = [of.ravel().tolist() for of in pair]
        tries -= 1
        found = coefficient(raters, labels, names)
        if not isnan(found.interval.low):
            left -= 1
            yield _told(found.interval, truth)


_COEFFICIENTS: Final[dict[str, Callable[..., Agreement]]] = {
    "AC1": lambda of, labels, who: gwet_ac(of, labels, clusters=who),
    "AC2": lambda of, labels, who: gwet_ac(of, labels, Weighting.QUADRATIC, who),
    "κ": lambda of, labels, who: cohen_kappa(of[0], of[1], labels, clusters=who),
    "α, nominal": lambda of, labels, who: krippendorff_alpha(
        of, labels, Scale.NOMINAL, who
    ),
    "α, ordinal": lambda of, labels, who: krippendorff_alpha(
        of, labels, Scale.ORDINAL, who
    ),
}


def _apart(
    rng: Rng, n: int, patients: int, items: int, icc: float, which: int, agree: float
) -> Told:
    truth = made.true_agreement(USES[which], agree)[1]
    names = np.repeat(np.arange(patients), items).astype(str).tolist()
    for _ in range(n):
        pair = made.graded(rng, patients, items, USES[which], agree, icc)
        one, two = (of.ravel().tolist() for of in pair)
        yield _told(mean_absolute_difference(one, two, names, 4).interval, truth)


BELIEFS: Final = (
    ((0.25,) * 4, (0.25,) * 4),
    ((0.7, 0.1, 0.1, 0.1), (0.6, 0.2, 0.1, 0.1)),
    ((0.7, 0.1, 0.1, 0.1), (0.1, 0.7, 0.1, 0.1)),
    ((0.97, 0.01, 0.01, 0.01), (0.01, 0.97, 0.01, 0.01)),
    ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)),
)


def _divergences(rng: Rng, n: int, draws: int, which: int) -> Told:
    p, q = BELIEFS[which]
    truth = 0.0 if p == q else float(jensenshannon(p, q, 2.0)) ** 2
    for seed in range(n):
        full, ablated = (tuple(rng.multinomial(draws, x).tolist()) for x in (p, q))
        yield _told(sampled_divergence(full, ablated, 2.0, seed).interval, truth)


def _reviews(rng: Rng, n: int, misses: int, kind: int) -> Told:
    for found in rng.hypergeometric(kind, misses - kind, min(50, misses), n):
        one = capped_review(misses, min(50, misses), int(found))
        yield float(one.low <= kind <= one.high), (one.high - one.low) / misses


def _alike(rng: Rng, patients: int, items: int, icc: float, rate: float) -> list[int]:
    """Return patients' differences of two models with the same rates."""
    own = made.rates_of(rng, rate, icc, (patients,))
    one, other = (made.hits_of(rng, own, items, 1).sum(axis=0) for _ in range(2))
    return [int(d) for d in one - other]


def _flips(
    rng: Rng, n: int, patients: int, items: int, icc: float, rate: float
) -> Told:
    for _ in range(n):
        d = _alike(rng, patients, items, icc, rate)
        yield float(sign_flip([5 * one for one in d]).p_value > LARGEST), 0.0


def _flipped_edits(
    rng: Rng, n: int, patients: int, items: int, icc: float, rate: float
) -> Told:
    for _ in range(n):
        p = sign_flip(
            _nets(rng, patients, items, icc, rate).sum(axis=1).tolist()
        ).p_value
        yield float(p > LARGEST), 0.0


def _flipped_means(rng: Rng, n: int, which: int, icc: float, rate: float) -> Told:
    sizes, everyone, most = SIZES[which]
    rates = made.spread_rates(rate, 1, len(sizes))
    for _ in range(n):
        hits, trials = made.of_findings(rng, sizes, everyone, most, rates, icc)
        signs = rng.choice((-1, 1), (everyone, 1))  # whose hits are whose
        other = rng.binomial(trials, 0.5)
        parts = macro_contributions(signs * (hits - other), trials)
        yield float(sign_flip(parts, permutations=500).p_value > LARGEST), 0.0


def _mcnemars(rng: Rng, n: int, patients: int, rate: float) -> Told:
    for won, lost in rng.multinomial(patients, [rate / 2, rate / 2, 1 - rate], n)[
        :, :2
    ]:
        yield float(mcnemar(int(won), int(lost)).p_value > LARGEST), 0.0


def _families(rng: Rng, n: int, patients: int, icc: float, rate: float) -> Told:
    """Yield whether none of five true nulls is claimed after Holm's adjustment."""
    for _ in range(n):
        ps = [sign_flip(_alike(rng, patients, 1, icc, rate)).p_value for _ in range(5)]
        yield float(min(holm(ps).adjusted) > LARGEST), 0.0


def _ranked(
    rng: Rng, n: int, patients: int, items: int, icc: float, which: int
) -> Told:
    who = np.repeat(np.arange(patients), items).tolist()
    for _ in range(n):
        pair = made.graded(rng, patients, items, USES[which], 0.5, icc)
        signs = rng.choice((-1, 1), (patients, 1))
        d = (signs * (pair[0] - pair[1])).ravel()
        p = signed_rank(d.tolist(), [0] * d.size, clusters=who).p_value
        yield float(isnan(p) or p > LARGEST), 0.0


def _all(*values: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    return tuple(product(*values))


def _of_changes(*values: Sequence[float]) -> tuple[tuple[float, ...], ...]:
    return tuple((*one, *change) for one in product(*values) for change in CHANGES)


_RIGHT: Final = ((0.0, 0), (0.4, 0), (0.8, 0), (1.0, 0), (0.1, 1), (0.5, 1), (0.95, 2))
_DENIED: Final = (
    (1.0, 0.0),
    (0.98, 0.5),
    (0.9, 0.1),
    (0.5, 0.5),
    (0.1, 0.1),
    (0.5, 0.0),
)
"""How often absent and present findings are denied."""
_LABELLED: Final = (
    *((0.02, 0.02), (0.1, 0.4), (0.3, 0.3), (0.5, 0.02), (0.9, 0.1)),
    *((0.02, 0.5), (0.0, 0.3), (0.5, 0.0)),
)
"""How many items have a label that is right, and one that is wrong or missing."""
_CLUSTERS: Final = ("patients", "items each", "ICC")
_SIZES: Final = (1, 4, 15, made.UNEQUAL, made.SKEWED)
_SIZED: Final = f"items each ({made.UNEQUAL}: 1-8, {made.SKEWED}: 1 or 15)"
PROOFS: Final[dict[str, Proof]] = {
    "rate": Proof(
        "Clopper-Pearson by patient",
        _all(PATIENTS, _SIZES, (*ICCS, 1.0), REPEATS, RATES),
        ("patients", _SIZED, "ICC", "repeats", "rate"),
        *(400, _rates),
    ),
    "rate of items asked five times": Proof(
        "Clopper-Pearson by patient",
        _all(PATIENTS, (1, 4), (0.0, 0.6), RATES),
        (*_CLUSTERS, "rate"),
        *(200, _items),
    ),
    "mean of rates": Proof(
        "Clopper-Pearson by patient, mean of rates",
        _all(range(len(SIZES)), REPEATS, (0.0, 0.6), RATES, (0, 1)),
        ("sizes of findings no.", "repeats", "ICC", "rate", "spread of logits"),
        *(150, _macro),
    ),
    "F1": Proof(
        "Clopper-Pearson by patient",
        tuple(
            (*one, *labels)
            for one in product((5, 20, 200), _SIZES, (0.0, 0.6, 1.0), REPEATS)
            for labels in _LABELLED
        ),
        (*("patients", _SIZED, "ICC", "repeats"), "labels right", "labels wrong"),
        *(100, _f1s),
    ),
    "macro F1": Proof(
        "Clopper-Pearson by patient, mean of ends",
        tuple(
            (*one, *right)
            for one in product((5, 20, 200), (1, 4, 15), (0.0, 0.6, 1.0))
            for right in ((0.5, 0.5), (0.9, 0.9), (0.98, 0.5), (0.1, 0.98), (1, 0))
        ),
        (*_CLUSTERS, "Yes right", "No right"),
        *(100, _macro_f1s),
    ),
    "gain over the location prior": Proof(
        "jackknife over patients, Student's t, variance at least that of a rate",
        tuple(
            (*one, *right)
            for one in product((5, 10, 20, 50), (1, 4), REPEATS, (0.0, 0.6))
            for right in _RIGHT
        ),
        (*("patients", "items each", "repeats", "ICC"), "right", "else no."),
        *(100, _gain),
    ),
    "gain over the word prior": Proof(
        "jackknife over patients, Student's t, variance at least that of two rates",
        tuple(
            (*one, *denied)
            for one in product((10, 20, 50), (1, 4), REPEATS, (0.0, 0.6), (3, 12))
            for denied in _DENIED
        ),
        ("patients", "items each", "repeats", "ICC", "words", "denied", "prior"),
        *(100, _over_words),
    ),
    "difference": Proof(
        "Clopper-Pearson by patient, of differences",
        _of_changes(PATIENTS, _SIZES, (0.0, 0.6, 1.0)),
        ("patients", _SIZED, "ICC", "gained", "lost"),
        *(200, _differences),
    ),
    "difference of shares of edits": Proof(
        "Clopper-Pearson by patient, of differences",
        _all(PATIENTS, (1, 4), (0.0, 0.6), RATES),
        (*_CLUSTERS, "rate"),
        *(200, _edits),
    ),
    "mean of differences": Proof(
        "Clopper-Pearson by patient, mean of differences",
        _of_changes(range(len(SIZES)), (0.0, 0.6)),
        ("sizes of findings no.", "ICC", "gained", "lost"),
        *(150, _macro_differences),
    ),
    "prediction-powered mean": Proof(
        "two means of bounded scores, by case",
        _all((20, 50, 200), (5, 10, 20), RATES, (0.0, 0.02, 0.2, 0.5)),
        ("cases", "labelled", "rate", "judge wrong"),
        *(100, _judged),
    ),
    "quadratic kappa": Proof(
        "jackknife by patient, with four more and without, Student's t",
        _all((5, 20, 50, 200), (1, 5), (0.0, 0.6), range(4), (0.0, 0.3, 0.9)),
        (*_CLUSTERS, "use of levels no.", "correlation"),
        *(80, _kappa),
    ),
    **{
        called: Proof(
            "jackknife by patient, with four more and without, Student's t",
            _all((5, 20, 200), (1, 5), (0.0, 0.6), range(len(MORE_USES)), (0.3, 0.9)),
            (*_CLUSTERS, "use of levels no.", "correlation"),
            *(200, partial(_agreed, name=name)),
        )
        for called, name in (
            ("unweighted kappa", "κ"),
            ("Gwet's AC1", "AC1"),
            ("Gwet's AC2", "AC2"),
            ("Krippendorff's alpha, nominal", "α, nominal"),
            ("Krippendorff's alpha, ordinal", "α, ordinal"),
        )
    },
    "mean absolute difference": Proof(
        "Clopper-Pearson by patient, of scores",
        _all((5, 20, 50, 200), (1, 5), (0.0, 0.6), range(4), (0.0, 0.3, 0.9)),
        (*_CLUSTERS, "use of levels no.", "correlation"),
        *(80, _apart),
    ),
    "divergence of drawn answers": Proof(
        "Dirichlet draws, ends moved by their bias",
        _all((20, 50, 200), range(len(BELIEFS))),
        ("answers", "beliefs no."),
        *(200, _divergences),
    ),
    "kinds of reviewed misses": Proof(
        "exact hypergeometric",
        tuple((m, k) for m in (60, 120, 310) for k in (0, 1, 5, m // 4, m // 2, m)),
        ("misses", "of the kind"),
        *(1_000, _reviews),
    ),
    "sign flips by patient": Proof(
        "all sign patterns",
        _all(PATIENTS, (1, 4), (0.0, 0.6), RATES),
        (*_CLUSTERS, "rate"),
        *(200, _flips, True),
    ),
    "sign flips of shares of edits": Proof(
        "all or 10,000 sign patterns",
        _all((5, 8, 12), (1, 4), (0.0, 0.6), RATES),
        (*_CLUSTERS, "rate"),
        *(200, _flipped_edits, True),
    ),
    "sign flips of a mean over findings": Proof(
        "all or random sign patterns",
        _all((1, 2, 3, 4), (0.0, 0.6), (0.1, 0.5, 0.9)),
        ("sizes of findings no.", "ICC", "rate"),
        *(60, _flipped_means, True),
    ),
    "McNemar": Proof(
        "exact, one item a patient and one reply an item",
        _all(PATIENTS, (0.04, 0.2, 0.5, 0.96)),
        ("patients", "discordant"),
        *(1_000, _mcnemars, True),
    ),
    "family after Holm": Proof(
        "sign flips by patient, five true nulls",
        _all((8, 20, 50), (0.0, 0.6), RATES),
        ("patients", "ICC", "rate"),
        *(100, _families, True),
    ),
    "signed rank": Proof(
        "exact; flipped by patient where one has several tasks",
        _all((5, 8, 20, 50), (1, 4), (0.0, 0.6), range(4)),
        (*_CLUSTERS, "use of levels no."),
        *(100, _ranked, True),
    ),
}
OF_ESTIMATORS: Final[dict[str, tuple[str, ...]]] = {
    "rate": ("rate",),
    "pooled rate": ("rate",),
    "interval": ("rate", "mean of rates"),
    "interval of mean of pooled rates": ("rate", "mean of rates"),
    "interval of f1": ("F1", "rate"),
    "interval of macro f1": ("macro F1",),
    "rate of items": ("rate of items asked five times", "mean of rates"),
    "gain": ("gain over the location prior",),
    "gain over words": ("gain over the word prior",),
    "paired difference": (
        *("difference", "difference of shares of edits"),
        "sign flips of shares of edits",
    ),
    "paired change": ("difference", "sign flips by patient"),
    "intervals of changed rates": ("rate", "difference"),
    "gap of rates": ("difference",),
    "interval of scores": ("mean absolute difference",),
    "prediction-powered mean": ("prediction-powered mean",),
    "quadratic kappa": ("quadratic kappa",),
    "agreement of two": ("Gwet's AC2", "Krippendorff's alpha, ordinal"),
    "agreement of readers": ("Gwet's AC2", "Krippendorff's alpha, ordinal"),
    "mean absolute difference": ("mean absolute difference",),
    "signed rank": ("signed rank",),
    "adjusted p": ("signed rank", "family after Holm"),
    "classes of error": ("kinds of reviewed misses",),
}
"""Which proofs stand for each estimator that gives an interval or a p-value."""


DESIGNS: Final = ("rate", "difference")
"""What is shown for each number of patients and items."""
_CALLED: Final = {made.UNEQUAL: "1 to 8", made.SKEWED: "15 of one in ten, else 1"}


def designs(name: str, found: Proved) -> Iterator[str]:
    """Yield rows of mean coverage and width: one for each number of items and ICC."""
    rows: dict[tuple[float, float], dict[float, list[tuple[float, float]]]] = {}
    for (patients, items, icc, *_), told in found.each.items():
        row = rows.setdefault((items, icc), {})
        row.setdefault(patients, []).append(told)
    for (items, icc), row in rows.items():
        called = _CALLED.get(int(items), f"{items:g}")
        cells = (
            "{:.3f} ({:.2f})".format(*np.mean(row[patients], axis=0))
            for patients in PATIENTS
        )
        yield " | ".join(("", name, called, f"{icc:g}", *cells, "")).strip()


def page(lines: Sequence[str], of_designs: Sequence[str], minutes: float) -> str:
    """Return the page that has the tables."""
    today = datetime.now(UTC).date().isoformat()
    words = (
        "Simulated patients differ (ICC: the correlation of two items of one patient), "
        "and a repeat agrees with its item nine times out of ten. In each setting an "
        f"interval covers the truth in at least {LEAST:.0%} of the studies, or its "
        'cell says "not estimable"; a test rejects a true null hypothesis in at most '
        f"{LARGEST:.0%}, up to the noise of the simulation. The setting that looks "
        "worst is simulated again, in five times as many studies, until the worst one "
        "is confirmed. Intervals and deviations that a paper prints are labelled as "
        "the paper's and are not among these."
    )
    how = (
        f"Generated by `{COMMAND}` on {today} in {minutes:.0f} minutes on one core; "
        "`make proof` repeats the simulation."
    )
    head = (
        *("# Every interval and p-value, simulated", "", words, "", how, ""),
        "| what | method | settings | figure | worst | where | median width |",
        "|---|---|---|---|---|---|---|",
    )
    means = (
        "How often intervals cover the truth on average, and how wide they are, by "
        "the number of patients and of items of each; averaged over the rates, or "
        "over the shares gained and lost, of the table above. Exact intervals cover "
        "more than 95% where there are few patients, or few who differ."
    )
    patients = " | ".join(f"{n} patients" for n in PATIENTS)
    more = (
        *("", "## By patients and items", "", means, ""),
        f"| what | items of a patient | ICC | {patients} |",
        "|---" * (3 + len(PATIENTS)) + "|",
    )
    return "\n".join((*head, *lines, *more, *of_designs, ""))


def _write() -> None:
    begun = datetime.now(UTC)
    found = {name: proved(name) for name in PROOFS}
    lines = [of.line(name, PROOFS[name]) for name, of in found.items()]
    rows = [row for name in DESIGNS for row in designs(name, found[name])]
    minutes = (datetime.now(UTC) - begun).total_seconds() / 60
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(lines, rows, minutes))


if __name__ == "__main__":
    _write()
