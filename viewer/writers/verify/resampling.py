"""Bootstrap replicates drawn again, with many sums at once.

All that a unit adds to any sum is packed into one long integer, 32 bits to a number,
so that adding up a resample is one sum of integers.
"""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from viewer.writers.verify.draws import drawn_rows
from viewer.writers.verify.sums import deviation, pairwise_sum

_LANE = 4
Arm = tuple[str, str]
Bounds = tuple[float, float]


@dataclass(frozen=True)
class SumsTask:
    """Units, each with its contributions to several sums."""

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
        """Return the SD by name."""
        totals = [sum(column) for column in zip(*self.units, strict=True)]
        samples = [_rates(row) for row in super().work()]
        left_out = [
            _rates([t - own for t, own in zip(totals, unit, strict=True)])
            for unit in self.units
        ]
        return {
            name: _sd_of([s[i] for s in samples], [j[i] for j in left_out])
            for i, name in enumerate(self.names)
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


def _sd_of(samples: Sequence[float], left_out: Sequence[float]) -> float | None:
    if any(math.isnan(one) for one in left_out):
        return None
    defined = [one for one in samples if not math.isnan(one)]
    # The mean of equal numbers may be off in the last digit, and so not give 0.
    return 0.0 if min(defined) == max(defined) else deviation(defined)


def mean_of_present(values: Sequence[float]) -> float:
    """Return the mean of the values that are numbers, NaN of none."""
    total, count = 0.0, 0
    for value in values:
        if not math.isnan(value):
            total += value
            count += 1
    return total / count if count else math.nan


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
