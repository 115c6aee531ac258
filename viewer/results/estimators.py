"""What a cell of a table can be: estimators by name.

An estimator sees the rows of a cell and returns as many values as the cell has names;
NaN stands for what cannot be told. Sums run in the order of the rows, so that a sum is
the same wherever it is worked out.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, isnan, nan
from typing import Any, Final

import numpy as np

from viewer.metrics.cluster_bootstrap import Resampling, cluster_bootstrap
from viewer.metrics.intervals import wilson
from viewer.metrics.judging import judge_agreement, prediction_powered
from viewer.metrics.pairing import mcnemar, paired_table
from viewer.metrics.permutation import sign_flip
from viewer.metrics.ranks import competition_ranks
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
    return (_share(seen.rows, seen.of[0]),)


@estimator("part")
def part(seen: Seen) -> Sequence[object]:
    """Return the number of rows as a share of those they are held against."""
    return (_ratio(len(seen.rows), _length(seen.others)),)


@estimator("mean")
def mean(seen: Seen) -> Sequence[object]:
    """Return the mean of each column over the rows that have it."""
    return tuple(_mean(seen.values(place)) for place in range(len(seen.of)))


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


@estimator("nested mean of rates")
def nested_mean_of_rates(seen: Seen) -> Sequence[object]:
    """Return the mean over ``by`` of the share of rows whose column holds.

    ``by`` are columns, each within the one before: the mean over the values of the
    first of the mean over those of the second, and so on.
    """
    return (_nested(seen.rows, seen.of[0], seen.options["by"]),)


@estimator("change of rates")
def change_of_rates(seen: Seen) -> Sequence[object]:
    """Return the nested mean of what it is held against, its own, and the difference.

    Last comes the difference's direction, as an arrow.
    """
    column, by = seen.of[0], seen.options["by"]
    before = nan if seen.others is None else _nested(seen.others, column, by)
    after = _nested(seen.rows, column, by)
    return before, after, after - before, arrow(after - before)


def arrow(change: float) -> str:
    """Return the sign of a change: up, down, none, or "" where it is not known."""
    if isnan(change):
        return ""
    return "↑" if change > 0 else "↓" if change < 0 else "="


@estimator("rate by cluster")
def rate_by_cluster(seen: Seen) -> Sequence[object]:
    """Return the percentile interval of a rate, ``cluster`` drawn with all its rows.

    Those that are drawn are the clusters of the rows it is held against.
    """
    name = seen.options["cluster"]
    every = sorted(set([] if seen.others is None else seen.others[name].tolist()))
    if not every or seen.rows.empty:
        return nan, nan
    place = {cluster: i for i, cluster in enumerate(every)}
    own = [place[cluster] for cluster in seen.rows[name].tolist()]
    hits = np.bincount(own, seen.rows[seen.of[0]].astype(float), len(every))
    trials = np.bincount(own, minlength=len(every))
    drawn = cluster_bootstrap(
        hits.astype(np.int64)[:, None],
        trials[:, None],
        Resampling(seen.options["replicates"], seen.options["seed"]),
    )
    interval = drawn.cells[0].percentile.interval
    return interval.low, interval.high


@estimator("chance")
def chance(seen: Seen) -> Sequence[object]:
    """Return the expected rate of a random option, each item once.

    The column counts an item's options.
    """
    counts = _by_item(seen).values()
    return (
        float(sum(Fraction(1, n) for n in counts) / len(counts)) if counts else nan,
    )


@estimator("constant answer")
def constant_answer(seen: Seen) -> Sequence[object]:
    """Return the rate of always giving one answer, each item once, and the answer.

    The column has an item's right answer; without the option ``answer`` it is the most
    frequent of them, the smallest of those alike.
    """
    right = list(_by_item(seen).values())
    counts = Counter(right)
    most = min(counts, key=lambda one: (-counts[one], one), default=None)
    answer = seen.options.get("answer", most)
    if answer is None:
        return nan, ""
    return _ratio(right.count(answer), len(right)), answer


@estimator("first")
def first(seen: Seen) -> Sequence[object]:
    """Return the first value of each column."""
    return tuple(next(iter(seen.rows[name].tolist()), None) for name in seen.of)


@estimator("distinct")
def distinct(seen: Seen) -> Sequence[object]:
    """Return how many values a column has, and their share of those held against."""
    own, others = set(seen.values()), seen.others
    every = own if others is None else set(_told(others, seen.of[0]))
    return len(own), _ratio(len(own), len(every))


@estimator("difference in points")
def difference_in_points(seen: Seen) -> Sequence[object]:
    """Return a rate less another in percentage points.

    The columns are the first rate's hits and rows, and the other's.
    """
    hits, rows, others, of = (sum(seen.values(i)) for i in range(4))
    return (100 * (_ratio(hits, rows) - _ratio(others, of)),)


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


@estimator("difference of means")
def difference_of_means(seen: Seen) -> Sequence[object]:
    """Return the mean of a column less that of another, times ``scale``.

    Each is over the rows that have it.
    """
    first, second = (_mean(seen.values(place)) for place in range(2))
    return (seen.options["scale"] * (first - second),)


@estimator("spread of shares")
def spread_of_shares(seen: Seen) -> Sequence[object]:
    """Return the greatest share of rows whose column holds less the least.

    The shares are those of the ``among`` values of the column ``by``; there is none
    where one of them has none.
    """
    by = seen.rows[seen.options["by"]]
    shares = [
        _share(seen.rows[by == value], seen.of[0]) for value in seen.options["among"]
    ]
    return (nan if any(map(isnan, shares)) else max(shares) - min(shares),)


@estimator("rank of share")
def rank_of_share(seen: Seen) -> Sequence[object]:
    """Return the rank of a share among those of the column ``by``, the highest 1.

    Equal ones have the same rank (competition ranks).
    """
    (column,), others = seen.of, seen.others
    of_others = () if others is None else others.groupby(seen.options["by"])
    shares = [_share(rows, column) for _, rows in of_others]
    return competition_ranks([_share(seen.rows, column), *shares])[:1]


@estimator("mcnemar")
def exact_mcnemar(seen: Seen) -> Sequence[object]:
    """Return by how many points a share changed, what was gained and lost, and p.

    Rows and those they are held against are paired by the column ``pair``; the test is
    McNemar's, exact. There is none of rows that are held against themselves.
    """
    (column,), others = seen.of, seen.others
    if others is None or others.index.equals(seen.rows.index):
        return (nan,) * 4
    after, before = (
        dict(
            zip(rows[seen.options["pair"]].tolist(), rows[column].tolist(), strict=True)
        )
        for rows in (seen.rows, others)
    )
    shared = [key for key in before if key in after]
    if not shared:
        return (nan,) * 4
    table = paired_table([after[k] for k in shared], [before[k] for k in shared])
    gained, lost = table.only_first, table.only_second
    change = 100 * (gained - lost) / len(shared)
    return change, gained, lost, mcnemar(gained, lost).p_value


@estimator("prediction-powered mean")
def prediction_powered_mean(seen: Seen) -> Sequence[object]:
    """Return a judge's mean score, and that corrected by what people scored.

    The columns are the judge's scores and people's; the corrected mean has Student's
    interval (Angelopoulos 2023).
    """
    judge, human = (_or_none(seen.rows, column) for column in seen.of)
    found = prediction_powered(judge, human)
    interval = found.interval
    return _ratio(sum(judge), len(judge)), found.value, interval.low, interval.high


@estimator("judge agreement")
def agreement_with_judge(seen: Seen) -> Sequence[object]:
    """Return how a judge's scores agree with people's, of rows that have both.

    That is the share of equal ones, kappa, kappa with quadratic weights, and kappa of
    each of the ``levels`` against all others.
    """
    judge, human = (_or_none(seen.rows, column) for column in seen.of)
    found = judge_agreement(judge, human, seen.options["levels"])
    all_ = (found.same, found.kappa, found.weighted, *found.levels)
    return tuple(one.value for one in all_)


def _mean(values: Sequence[float]) -> float:
    return _ratio(sum(values), len(values))


def _share(rows: Frame, column: str) -> float:
    return _ratio(sum(_told(rows, column)), len(rows))


def _or_none(rows: Frame, column: str) -> list[Any]:
    """Return a column's values, None where there is none."""
    values = rows[column].tolist()
    return [None if isinstance(x, float) and isnan(x) else x for x in values]


def _rate(k: int, n: int) -> tuple[float, ...]:
    interval = wilson(k, n) if n else None
    ends = (interval.low, interval.high) if interval else (nan, nan)
    return (k, n, _ratio(k, n), *ends)


def _nested(rows: Frame, column: str, by: Sequence[str]) -> float:
    if not by:
        return _ratio(int(sum(rows[column])), len(rows))
    known = rows[by[0]].tolist()
    parts = (
        _nested(rows[[one == value for one in known]], column, by[1:])
        for value in dict.fromkeys(known)
    )
    means = [part for part in parts if not isnan(part)]
    return fsum(means) / len(means) if means else nan


def _by_item(seen: Seen) -> dict[str, Any]:
    items, values = seen.rows["item"].tolist(), seen.rows[seen.of[0]].tolist()
    return dict(zip(items, values, strict=True))


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
