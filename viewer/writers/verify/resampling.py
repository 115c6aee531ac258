"""Bootstrap replicates drawn again, many sums at once.

All that a unit adds to any sum is packed into one long integer, 32 bits to a number,
so that adding up a resample is one sum of integers.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from viewer.writers.verify.draws import drawn_rows
from viewer.writers.verify.sums import (
    bca_bounds,
    central_interval,
    deviation,
    pairwise_sum,
)

_LANE = 4
Arm = tuple[str, str]
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Stratum:
    """The settled trials of one finding and view, by patient.

    ``trials`` and ``hits`` count, ``given`` maps (patient, cell) to answers in that
    cell, ``wanted`` to trials of which the cell qualifies.
    """

    trials: Mapping[str, int]
    hits: Mapping[str, int]
    given: Mapping[tuple[str, int], int]
    wanted: Mapping[tuple[str, int], int]
    n_cells: int

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Trials, hits, and how often an answer meets a reference, over all pairs."""
        cells = range(self.n_cells)
        given, wanted = [0] * self.n_cells, [0] * self.n_cells
        for (_, cell), count in self.given.items():
            given[cell] += count
        for (_, cell), count in self.wanted.items():
            wanted[cell] += count
        met = sum(given[c] * wanted[c] for c in cells)
        return sum(self.trials.values()), sum(self.hits.values()), met


def stratum_of(rows: Sequence[Mapping[str, Any]]) -> Stratum:
    """Return the stratum of some trials."""
    return Stratum(
        Counter(row["patient"] for row in rows),
        Counter(row["patient"] for row in rows if row["place"] in row["hits"]),
        Counter((row["patient"], row["place"]) for row in rows if row["place"] >= 0),
        Counter((row["patient"], cell) for row in rows for cell in row["hits"]),
        max(row["n_cells"] for row in rows),
    )


def skill_of(strata: Sequence[Stratum]) -> tuple[float, float]:
    """Return the prior-only rate and the skill over strata."""
    numbers = [one.numbers for one in strata]
    n = sum(trials for trials, _, _ in numbers)
    prior = math.fsum(met / trials for trials, _, met in numbers)
    gained = math.fsum((k * t - met) / t for t, k, met in numbers)
    return prior / n, gained / n


Findings = Sequence[Sequence[Stratum]]
"""For each finding its strata."""


@dataclass(frozen=True)
class SumsTask:
    """Units, each with what it adds to several sums."""

    entropy: Sequence[int]
    replicates: int
    units: Sequence[Sequence[int]]

    @property
    def size(self) -> int:
        """How many numbers are drawn."""
        return self.replicates * len(self.units)

    def work(self) -> list[list[int]]:
        """Return each replicate's sums."""
        packed = [_packed(unit) for unit in self.units]
        count = len(self.units[0])
        return [
            list(row) for row in _sums(self.entropy, self.replicates, packed, count)
        ]


@dataclass(frozen=True)
class PatientTask(SumsTask):
    """Patients of one view and arm: hits and trials of each finding in turn.

    ``names`` are those of the findings, of their mean and of all pooled.
    """

    names: Sequence[str]

    def work(self) -> Any:  # noqa: ANN401 - each task makes its own
        """Return rate, SD and bounds by name."""
        totals = [sum(column) for column in zip(*self.units, strict=True)]
        samples = [_rates(row) for row in super().work()]
        left_out = [
            _rates([t - own for t, own in zip(totals, unit, strict=True)])
            for unit in self.units
        ]
        return {
            name: _summary(value, [s[i] for s in samples], [j[i] for j in left_out])
            for i, (name, value) in enumerate(
                zip(self.names, _rates(totals), strict=True)
            )
        }


def _rates(sums: Sequence[int]) -> list[float]:
    """Return each finding's rate, their mean and the pooled rate; NaN without trial."""
    hits, trials = sums[::2], sums[1::2]
    rates = [k / n if n else math.nan for k, n in zip(hits, trials, strict=True)]
    present = [0.0 if math.isnan(rate) else rate for rate in rates]
    count = sum(n > 0 for n in trials)
    mean = pairwise_sum(present) / count if count else math.nan
    n = sum(trials)
    return [*rates, mean, sum(hits) / n if n else math.nan]


def _summary(
    value: float, samples: Sequence[float], left_out: Sequence[float]
) -> tuple[float | None, ...]:
    if any(math.isnan(one) for one in left_out):
        return (value, *(None,) * 5)
    kept = [one for one in samples if not math.isnan(one)]
    spread = 0.0 if min(kept) == max(kept) else deviation(kept)
    return value, spread, *central_interval(kept), *bca_bounds(kept, value, left_out)


@dataclass(frozen=True)
class SkillTask:
    """What the skill of several arms is resampled from; the arms share the draws."""

    entropy: Sequence[int]
    replicates: int
    arms: Mapping[Arm, Findings]

    @property
    def patients(self) -> list[str]:
        """Who is drawn: the patients of any arm."""
        arms = self.arms.values()
        return sorted(
            {p for arm in arms for of in arm for one in of for p in one.trials}
        )

    @property
    def size(self) -> int:
        """How many numbers are drawn."""
        return self.replicates * len(self.patients)

    def work(self) -> dict[Arm, tuple[Bounds, Bounds]]:
        """Return each arm's skill interval: mean over findings, and pooled."""
        arms = list(self.arms.values())
        strata = [s for arm in arms for finding in arm for s in finding]
        index = {patient: i for i, patient in enumerate(self.patients)}
        lanes = sum(2 + 2 * s.n_cells for s in strata)
        units = [[0] * lanes for _ in index]
        start = 0
        for one in strata:
            _fill(units, index, one, start)
            start += 2 + 2 * one.n_cells
        packed = [_packed(unit) for unit in units]
        samples: list[tuple[list[float], list[float]]] = [([], []) for _ in arms]
        for row in _sums(self.entropy, self.replicates, packed, lanes):
            _add_replicate(arms, row, samples)
        return {
            arm: (central_interval(macro), central_interval(micro))
            for arm, (macro, micro) in zip(self.arms, samples, strict=True)
        }


def mean_of_present(values: Sequence[float]) -> float:
    """Return the mean of the values that are numbers, NaN of none."""
    total, count = 0.0, 0
    for value in values:
        if not math.isnan(value):
            total += value
            count += 1
    return total / count if count else math.nan


def _fill(
    units: Sequence[list[int]], index: Mapping[str, int], one: Stratum, start: int
) -> None:
    for patient, count in one.trials.items():
        units[index[patient]][start] = count
        units[index[patient]][start + 1] = one.hits.get(patient, 0)
    for (patient, cell), count in one.given.items():
        units[index[patient]][start + 2 + cell] = count
    for (patient, cell), count in one.wanted.items():
        units[index[patient]][start + 2 + one.n_cells + cell] = count


def _packed(values: Sequence[int]) -> int:
    order = sys.byteorder
    data = b"".join(value.to_bytes(_LANE, order) for value in values)
    return int.from_bytes(data, order)


def _sums(
    entropy: Sequence[int], replicates: int, packed: Sequence[int], lanes: int
) -> Iterator[memoryview]:
    value_of = packed.__getitem__
    for row in drawn_rows(entropy, len(packed), replicates):
        data = sum(map(value_of, row)).to_bytes(_LANE * lanes, sys.byteorder)
        yield memoryview(data).cast("I")


def _add_replicate(
    arms: Sequence[Findings],
    row: memoryview,
    samples: Sequence[tuple[list[float], list[float]]],
) -> None:
    start = 0
    for arm, (macro, micro) in zip(arms, samples, strict=True):
        of_findings, all_gained, all_n = [], 0.0, 0.0
        for finding in arm:
            gained, n = 0.0, 0.0
            for one in finding:
                more, trials = _gained(row, start, one.n_cells)
                gained, n = gained + more, n + trials
                start += 2 + 2 * one.n_cells
            of_findings.append(gained / n if n else math.nan)
            all_gained, all_n = all_gained + gained, all_n + n
        macro.append(mean_of_present(of_findings))
        micro.append(all_gained / all_n if all_n else math.nan)


def _gained(row: memoryview, start: int, cells: int) -> tuple[float, int]:
    """Return the hits above those of the prior, and the trials, of a replicate."""
    n, k = row[start], row[start + 1]
    if not n:
        return 0.0, 0
    middle = start + 2 + cells
    met = sum(map(mul, row[start + 2 : middle], row[middle : middle + cells]))
    return (k * n - met) / n, n
