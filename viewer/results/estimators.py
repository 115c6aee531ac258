"""What a cell of a table can be: estimators by name.

An estimator sees the rows of a cell and returns as many values as the cell has names;
NaN stands for what cannot be told. Sums run in the order of the rows, so that a sum is
the same wherever it is worked out.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any, Final

import numpy as np

from viewer.metrics.cluster_bootstrap import Resampling, cluster_bootstrap
from viewer.metrics.intervals import wilson
from viewer.metrics.permutation import sign_flip
from viewer.results.records import Frame


@dataclass(frozen=True, eq=False)
class Seen:
    """What an estimator works from.

    ``rows`` are those of the cell, ``others`` those it is held against, None without
    any; ``of`` names the columns to read, ``options`` are the specification's.
    """

    rows: Frame
    others: "Frame | None"
    of: tuple[str, ...]
    options: Mapping[str, Any]

    def values(self, place: int = 0) -> list[Any]:
        """Return a column's values, without those that are not there."""
        return _told(self.rows, self.of[place])


Estimator = Callable[[Seen], Sequence[object]]
ESTIMATORS: Final[dict[str, Estimator]] = {}


def estimator(name: str) -> Callable[[Estimator], Estimator]:
    """Register an estimator under the name that specifications call it by."""

    def keep(function: Estimator) -> Estimator:
        ESTIMATORS[name] = function
        return function

    return keep


@estimator("size")
def size(seen: Seen) -> Sequence[object]:
    """Return how many rows there are."""
    return (len(seen.rows),)


@estimator("sum")
def total(seen: Seen) -> Sequence[object]:
    """Return the sum of a column."""
    return (sum(seen.values()),)


@estimator("rate")
def rate(seen: Seen) -> Sequence[object]:
    """Return k, n, k / n and Wilson's interval; k counts rows whose column holds."""
    return _rate(int(sum(seen.values())), len(seen.rows))


@estimator("pooled rate")
def pooled_rate(seen: Seen) -> Sequence[object]:
    """Return the sum of a column over that of another, and Wilson's interval."""
    return _rate(int(sum(seen.values(0))), int(sum(seen.values(1))))[2:]


@estimator("mean of pooled rates")
def mean_of_pooled_rates(seen: Seen) -> Sequence[object]:
    """Return the mean of pooled rates over the ``among`` values of the column ``by``.

    There is none where one of them has none.
    """
    by, among = seen.options["by"], seen.options["among"]
    above, below = seen.of
    rates = []
    for value in among:
        own = seen.rows[seen.rows[by] == value]
        rates.append(_ratio(sum(_told(own, above)), sum(_told(own, below))))
    return (sum(rates) / len(rates),)


@estimator("share")
def share(seen: Seen) -> Sequence[object]:
    """Return the share of rows whose column holds."""
    return (_ratio(sum(seen.values()), len(seen.rows)),)


@estimator("part")
def part(seen: Seen) -> Sequence[object]:
    """Return the number of rows as a share of those they are held against."""
    return (_ratio(len(seen.rows), _length(seen.others)),)


@estimator("mean")
def mean(seen: Seen) -> Sequence[object]:
    """Return the mean of each column over the rows that have it."""
    columns = (seen.values(place) for place in range(len(seen.of)))
    return tuple(_ratio(sum(of), len(of)) for of in columns)


@estimator("largest")
def largest(seen: Seen) -> Sequence[object]:
    """Return the largest value of a column, none unless every row has one."""
    told = seen.values()
    return (max(told) if told and len(told) == len(seen.rows) else nan,)


@estimator("f1")
def f1(seen: Seen) -> Sequence[object]:
    """Return F1, precision and recall, micro over all (row, label).

    Both columns hold labels, found and true; ``only`` are the labels that count,
    ``drop`` those that do not.
    """
    return _f1(seen.rows, seen)


@estimator("macro f1")
def macro_f1(seen: Seen) -> Sequence[object]:
    """Return the mean F1 of the ``only`` labels; none where one has none."""
    labels = seen.options["only"]
    ones = [
        _f1(seen.rows, Seen(seen.rows, None, seen.of, {"only": (one,)}))[0]
        for one in labels
    ]
    return (sum(ones) / len(ones),)


@estimator("gain in f1")
def gain_in_f1(seen: Seen) -> Sequence[object]:
    """Return F1 of what it is held against, its own, and the gain in per cent."""
    before = nan if seen.others is None else _f1(seen.others, seen)[0]
    after = _f1(seen.rows, seen)[0]
    gain = 100 * (after - before) / before if before else nan
    return before, after, gain


@estimator("paired difference")
def paired_difference(seen: Seen) -> Sequence[object]:
    """Return the mean of a column less that of another over rows with both.

    That is how many there are, both means, their difference with the percentile
    interval of a bootstrap that draws ``cluster`` with all its rows, the p-value of a
    sign-flip test by cluster, and the interval's name.
    """
    first, second = seen.of
    both = seen.rows[seen.rows[first].notna() & seen.rows[second].notna()]
    ones, others = both[first].tolist(), both[second].tolist()
    by_cluster: dict[str, list[float]] = defaultdict(list)
    for cluster, one, other in zip(
        both[seen.options["cluster"]], ones, others, strict=True
    ):
        by_cluster[cluster].append(one - other)
    clusters = [by_cluster[name] for name in sorted(by_cluster)]
    drawn = cluster_bootstrap(
        np.array([[sum(of)] for of in clusters]).reshape(-1, 1),
        np.array([[len(of)] for of in clusters]).reshape(-1, 1),
        Resampling(seen.options["replicates"], seen.options["seed"]),
    ).micro
    interval = drawn.percentile.interval
    return (
        *(len(both), _ratio(sum(ones), len(ones)), _ratio(sum(others), len(others))),
        *(drawn.value, interval.low, interval.high),
        sign_flip([sum(of) for of in clusters]).p_value,
        drawn.percentile.method,
    )


def _rate(k: int, n: int) -> tuple[float, ...]:
    interval = wilson(k, n) if n else None
    ends = (interval.low, interval.high) if interval else (nan, nan)
    return (k, n, _ratio(k, n), *ends)


def _f1(rows: Frame, seen: Seen) -> tuple[float, float, float]:
    only, drop = seen.options.get("only"), seen.options.get("drop", ())
    hits = extra = missed = 0
    found, true = seen.of
    for said, wanted in zip(rows[found], rows[true], strict=True):
        one = {label for label in said if _takes(label, only, drop)}
        other = {label for label in wanted if _takes(label, only, drop)}
        hits += len(one & other)
        extra += len(one - other)
        missed += len(other - one)
    return (
        _ratio(2 * hits, 2 * hits + extra + missed),
        _ratio(hits, hits + extra),
        _ratio(hits, hits + missed),
    )


def _takes(label: str, only: Sequence[str] | None, drop: Sequence[str]) -> bool:
    return label not in drop and (only is None or label in only)


def _told(rows: Frame, column: str) -> list[Any]:
    return [
        value
        for value in rows[column].tolist()
        if value is not None and not (isinstance(value, float) and isnan(value))
    ]


def _length(rows: "Frame | None") -> int:
    return 0 if rows is None else len(rows)


def _ratio(above: float, below: float) -> float:
    return above / below if below else nan
