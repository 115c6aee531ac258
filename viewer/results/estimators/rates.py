"""Counts, sums, rates and means over a cell's rows."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import repeat
from math import fsum, isnan, nan
from statistics import median
from typing import Any, Final

from viewer.metrics.estimate import Estimate
from viewer.metrics.pairing import grouped_difference
from viewer.metrics.proportions import macro_interval, patient_interval
from viewer.metrics.ranks import competition_ranks
from viewer.results.estimators.registry import (
    Seen,
    estimator,
    mean_of,
    or_none,
    ratio,
    share_of,
)
from viewer.results.frame import Frame


@estimator("size")
def size(seen: Seen) -> Sequence[object]:
    """Return the number of rows."""
    return (len(seen.rows),)


@estimator("sum")
def total(seen: Seen) -> Sequence[object]:
    """Return the sum of a column."""
    return (sum(seen.values()),)


@estimator("rate")
def rate(seen: Seen) -> Sequence[object]:
    """Return k, n and k / n; k counts rows whose column is true.

    If columns with each row's patient and item follow, the interval does too.
    """
    k, n = int(sum(seen.values())), len(seen.rows)
    return (k, n, ratio(k, n), *(_interval(seen) if len(seen.of) > 1 else ()))


@estimator("pooled rate")
def pooled_rate(seen: Seen) -> Sequence[object]:
    """Return a column's sum divided by another's, and the interval.

    The following columns have each row's patient and item.
    """
    above, below = sum(seen.values(0)), sum(seen.values(1))
    return (ratio(above, below), *_interval(seen, seen.of[1]))


@estimator("mean of pooled rates")
def mean_of_pooled_rates(seen: Seen) -> Sequence[object]:
    """Return the mean of pooled rates over the ``among`` values of the column ``by``.

    It is undefined if one of them has no rate.
    """
    by, among = seen.options["by"], seen.options["among"]
    above, below = seen.of
    rates = []
    for value in among:
        rows = seen.rows.where({by: (value,)})
        rates.append(ratio(sum(rows.values_in(above)), sum(rows.values_in(below))))
    return (sum(rates) / len(rates),)


@estimator("interval of mean of pooled rates")
def interval_of_mean_of_pooled_rates(seen: Seen) -> Sequence[object]:
    """Return the interval of "mean of pooled rates" and its name.

    Two more columns have each row's patient and item. One rate has the interval of a
    "pooled rate".
    """
    by, among = seen.options["by"], seen.options["among"]
    above, below, patient, item = seen.of
    rows = seen.rows.where({by: among})
    if len(among) == 1:
        return _interval(replace(seen, rows=rows), below)
    hits: dict[str, list[float]] = defaultdict(lambda: [0] * len(among))
    trials: dict[str, list[int]] = defaultdict(lambda: [0] * len(among))
    items = set()
    for part, k, n, who, which in rows.each(by, above, below, patient, item):
        if n:
            hits[who][among.index(part)] += k or 0
            trials[who][among.index(part)] += n
            items.add(which)
    asked = [sum(of) for of in zip(*trials.values(), strict=True)]
    if not asked or not all(asked):
        return nan, nan, NOT_EVERY
    return _ends(macro_interval([*hits.values()], [*trials.values()], len(items)))


NOT_EVERY: Final = "not estimable: a rate of the mean has no trial, 95 %"
"""Why a mean of rates has no interval."""


@estimator("interval")
def interval(seen: Seen) -> Sequence[object]:
    """Return the interval of the share of rows whose column is true, and its name.

    Two more columns have each row's patient and item. With ``by`` it is the interval of
    the mean over the values of a column.
    """
    by = seen.options.get("by", "")
    several = by and len(set(seen.rows[by])) > 1
    return _macro(seen, by) if several else _interval(seen)


@estimator("share")
def share(seen: Seen) -> Sequence[object]:
    """Return the share of rows whose column is true."""
    return (share_of(seen.rows, seen.of[0]),)


@estimator("part")
def part(seen: Seen) -> Sequence[object]:
    """Return the number of rows as a share of those they are compared with."""
    return (ratio(len(seen.rows), _length(seen.others)),)


@estimator("mean")
def mean(seen: Seen) -> Sequence[object]:
    """Return the mean of each column over the rows that have a value."""
    return tuple(mean_of(seen.values(place)) for place in range(len(seen.of)))


@estimator("median")
def middle(seen: Seen) -> Sequence[object]:
    """Return the median of a column over the rows that have a value."""
    chances = seen.values()
    return (median(chances) if chances else nan,)


@estimator("largest")
def largest(seen: Seen) -> Sequence[object]:
    """Return the largest value of a column, undefined unless every row has one."""
    chances = seen.values()
    return (max(chances) if chances and len(chances) == len(seen.rows) else nan,)


@estimator("nested mean of rates")
def nested_mean_of_rates(seen: Seen) -> Sequence[object]:
    """Return the mean over ``by`` of the share of rows whose column is true.

    ``by`` are nested columns: the mean over the values of the first of the mean over
    those of the second, and so on.
    """
    return (_nested(seen.rows, seen.of[0], seen.options["by"]),)


@estimator("change of rates")
def change_of_rates(seen: Seen) -> Sequence[object]:
    """Return the nested mean compared with, the cell's own, and their difference.

    Both use only rows with a counterpart of the same ``pair``. Then follow the
    difference's direction as an arrow, the number of rows, and their chance level.
    """
    (column, chance), by, pair = seen.of, seen.options["by"], seen.options["pair"]
    known = {} if seen.others is None else dict(seen.others.each(pair, column))
    places = (i for i, one in enumerate(seen.rows[pair]) if one in known)
    rows = seen.rows.take(places)
    before = _nested(
        rows.having(**{column: [known[i] for i in rows[pair]]}), column, by
    )
    after = _nested(rows, column, by)
    values = before, after, after - before, arrow(after - before)
    return *values, len(rows), _nested(rows, chance, by)


@estimator("intervals of changed rates")
def intervals_of_changed_rates(seen: Seen) -> Sequence[object]:
    """Return the intervals of the rate and of the change in "change of rates".

    Both are by patient, with their names. The columns are the verdict, each row's
    patient and its item. They need as many pairs in every combination of ``by``, where
    a mean of means is the mean over all pairs.
    """
    (column, patient, item), pair = seen.of, seen.options["pair"]
    known = {} if seen.others is None else dict(seen.others.each(pair, column))
    rows = seen.rows.take(i for i, one in enumerate(seen.rows[pair]) if one in known)
    sizes = {len(own) for own in rows.groups(*seen.options["by"]).values()}
    if len(sizes) > 1:
        return (nan, nan, UNEQUAL) * 2
    hits: dict[str, list[int]] = defaultdict(list)
    gaps: dict[str, list[int]] = defaultdict(list)
    for who, key, after in rows.each(patient, pair, column):
        hits[who].append(int(after))
        gaps[who].append(int(after) - int(known[key]))
    trials = [*map(len, hits.values())]
    items = len(set(rows[item]))
    rate = patient_interval([*map(sum, hits.values())], trials, items)
    change = grouped_difference(gaps.values())
    return tuple(
        value
        for of in (rate, change)
        for value in (of.interval.low, of.interval.high, of.method)
    )


UNEQUAL: Final = "not estimable: unequal numbers of pairs, 95 %"
"""Why a mean of means has no interval."""


def arrow(change: float) -> str:
    """Return an arrow for a change: up, down, none, or "" if unknown."""
    if isnan(change):
        return ""
    return "↑" if change > 0 else "↓" if change < 0 else "="


@estimator("chance")
def chance(seen: Seen) -> Sequence[object]:
    """Return the expected rate of a random option, counting each item once.

    The column has an item's number of options.
    """
    counts = _by_item(seen).values()
    return (
        float(sum(Fraction(1, n) for n in counts) / len(counts)) if counts else nan,
    )


@estimator("chance level")
def chance_level(seen: Seen) -> Sequence[object]:
    """Return the mean chance level of rows, undefined if one of them has none.

    It covers the same trials as the rate, each as often as the rate counts it.
    """
    known = or_none(seen.rows, seen.of[0])
    # fsum rounds once: the order of the rows does not change the last digit.
    return (nan if None in known else ratio(fsum(known), len(known)),)


@estimator("constant answer")
def constant_answer(seen: Seen) -> Sequence[object]:
    """Return the rate of always giving the same answer, and that answer.

    Each item counts once. The column has its right answer; without the option
    ``answer`` the most frequent one is used, the smallest for ties.
    """
    right = list(_by_item(seen).values())
    counts = Counter(right)
    most = min(counts, key=lambda one: (-counts[one], one), default=None)
    answer = seen.options.get("answer", most)
    if answer is None:
        return nan, ""
    return ratio(right.count(answer), len(right)), answer


@estimator("first")
def first(seen: Seen) -> Sequence[object]:
    """Return the first value of each column."""
    return tuple(next(iter(seen.rows[name]), None) for name in seen.of)


@estimator("listed")
def listed(seen: Seen) -> Sequence[object]:
    """Return the distinct values of a column by name, separated by semicolons."""
    return (";".join(sorted(set(seen.values()))),)


@estimator("rate of distinct")
def rate_of_distinct(seen: Seen) -> Sequence[object]:
    """Return how many distinct values of a column have a true row, and their share.

    The share is undefined unless the other column has a value in every row.
    """
    column, holds = seen.of
    values, held = set(seen.values()), or_none(seen.rows, holds)
    pairs = zip(seen.rows[column], held, strict=True)
    k = len({value for value, holding in pairs if holding})
    return k, len(values), nan if None in held else ratio(k, len(values))


@estimator("distinct")
def distinct(seen: Seen) -> Sequence[object]:
    """Return the number of distinct values of a column, and its share of others'."""
    values, others = set(seen.values()), seen.others
    every = values if others is None else set(others.values_in(seen.of[0]))
    return len(values), ratio(len(values), len(every))


@estimator("difference in points")
def difference_in_points(seen: Seen) -> Sequence[object]:
    """Return a rate minus another in percentage points.

    The columns are the first rate's hits and trials, and the other's.
    """
    hits, rows, others, of = (sum(seen.values(i)) for i in range(4))
    return (100 * (ratio(hits, rows) - ratio(others, of)),)


@estimator("spread of shares")
def spread_of_shares(seen: Seen) -> Sequence[object]:
    """Return the range of the shares of rows whose column is true.

    It is the largest minus the smallest share among the ``among`` values of the column
    ``by``; undefined if one of them has none.
    """
    by, among = seen.options["by"], seen.options["among"]
    parts = (seen.rows.where({by: (value,)}) for value in among)
    shares = [share_of(rows, seen.of[0]) for rows in parts]
    return (nan if any(map(isnan, shares)) else max(shares) - min(shares),)


@estimator("rank of share")
def rank_of_share(seen: Seen) -> Sequence[object]:
    """Return the rank of a share among those of the column ``by``, the highest 1.

    Ties share the better rank (competition ranks).
    """
    (column,), others = seen.of, seen.others
    of_others = {} if others is None else others.groups(seen.options["by"])
    shares = [share_of(rows, column) for rows in of_others.values()]
    return competition_ranks([share_of(seen.rows, column), *shares])[:1]


def _interval(seen: Seen, below: str = "") -> tuple[object, ...]:
    """Return the interval of the first column's sum over another's, and its name.

    Without another column the number of rows is used. The last two columns are the
    row's patient and item; rows without a trial have neither.
    """
    hits: dict[str, float] = defaultdict(float)
    trials: dict[str, int] = defaultdict(int)
    items = set()
    counts = seen.rows[below] if below else repeat(1)
    for k, n, patient, item in zip(
        *(seen.rows[seen.of[0]], counts, *(seen.rows[name] for name in seen.of[-2:])),
        # repeat(1) has no end.
        strict=False,
    ):
        hits[patient] += k or 0
        trials[patient] += n
        if n:
            items.add(item)
    return _ends(patient_interval([*hits.values()], [*trials.values()], len(items)))


def _macro(seen: Seen, by: str) -> tuple[object, ...]:
    """Return the interval of the mean of shares over the values of a column."""
    column, patient, item = seen.of
    parts = list(dict.fromkeys(seen.rows[by]))
    hits: dict[str, list[int]] = defaultdict(lambda: [0] * len(parts))
    trials: dict[str, list[int]] = defaultdict(lambda: [0] * len(parts))
    for who, part, is_hit in seen.rows.each(patient, by, column):
        hits[who][parts.index(part)] += is_hit
        trials[who][parts.index(part)] += 1
    items = len(set(seen.rows[item]))
    return _ends(macro_interval([*hits.values()], [*trials.values()], items))


def _ends(estimate: Estimate) -> tuple[object, ...]:
    return estimate.interval.low, estimate.interval.high, estimate.method


def _nested(rows: Frame, column: str, by: Sequence[str]) -> float:
    if not by:
        return ratio(fsum(rows[column]), len(rows))
    parts = (_nested(own, column, by[1:]) for own in rows.groups(by[0]).values())
    means = [part for part in parts if not isnan(part)]
    return fsum(means) / len(means) if means else nan


def _by_item(seen: Seen) -> dict[str, Any]:
    return dict(seen.rows.each("item", seen.of[0]))


def _length(rows: Frame | None) -> int:
    """Return the number of rows, 0 without a frame."""
    return 0 if rows is None else len(rows)
