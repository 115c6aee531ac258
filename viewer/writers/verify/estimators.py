"""The estimators of table cells, by the names that specifications use."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any

from viewer.writers.verify.by_patient import (
    bounded_interval,
    difference_interval,
    macro_interval,
    rate_interval,
)
from viewer.writers.verify.draws import drawn_signs, named_entropy

Rows = list[dict[str, Any]]
Number = float | None
Cells = Sequence[Any]
_FEW_SIGNS, _WHOLE, _SLACK, _BITS = 16, 1_000_000, 1e-9, 32


Later = Callable[[], Cells]
"""Gives a cell's values once all that its table draws is drawn."""


class Shared:
    """Results shared by several cells of a table: computed once."""

    def __init__(self) -> None:
        self.tasks: dict[Hashable, Any] = {}
        self.made: Mapping[Hashable, Any] = {}

    def ask(self, what: Hashable, task: Callable[[], Any]) -> Callable[[], Any]:
        """Register a task once; the returned function gives its result later."""
        if what not in self.tasks:
            self.tasks[what] = task()
        return lambda: self.made[what]


@dataclass(frozen=True)
class Cell:
    """The rows of a cell, those it is compared with, its columns and its options."""

    rows: Rows
    others: Rows | None
    of: Sequence[str]
    options: Mapping[str, Any]
    shared: Shared

    def values(self, place: int = 0) -> list[Any]:
        """Return a column's values where present."""
        return values_in(self.rows, self.of[place])


def values_in(rows: Rows, column: str) -> list[Any]:
    """Return the values of a column that are not missing."""
    return [row[column] for row in rows if row[column] is not None]


def ratio(above: float, below: float) -> Number:
    """Return a ratio, None if the denominator is 0."""
    return above / below if below else None


def mean_of_values(rows: Rows, column: str) -> Number:
    """Return the mean of a column over the rows that have it."""
    values = values_in(rows, column)
    return ratio(sum(values), len(values))


def _less(one: Number, other: Number) -> Number:
    return None if one is None or other is None else one - other


def _share(rows: Rows, column: str) -> Number:
    return ratio(sum(values_in(rows, column)), len(rows))


def _rate(s: Cell) -> Cells:
    k, n = int(sum(s.values())), len(s.rows)
    return (k, n, ratio(k, n), *(_interval(s) if len(s.of) > 1 else ()))


def _interval(s: Cell, below: str = "") -> Cells:
    column, *_, patient, item = s.of
    by = s.options.get("by", "")
    if by and len({row[by] for row in s.rows}) > 1:
        return macro_interval(
            (r[column], 1, r[by], r[patient], r[item]) for r in s.rows
        )
    return rate_interval(
        (row[column], row[below] if below else 1, row[patient], row[item])
        for row in s.rows
    )


def _pooled_by(s: Cell) -> Cells:
    """Return the mean, over values of a column, of one sum divided by another."""
    rates = []
    for value in s.options["among"]:
        rows = [row for row in s.rows if row[s.options["by"]] == value]
        rates.append(ratio(*(sum(values_in(rows, name)) for name in s.of)))
    return (None if None in rates else sum(rates) / len(rates),)  # type: ignore[arg-type]


def _pooled_by_interval(s: Cell) -> Cells:
    """Return the interval of that mean, by patient; for one value that of its rate."""
    above, below, patient, item = s.of
    by, among = s.options["by"], s.options["among"]
    rows = [row for row in s.rows if row[by] in among]
    if len(among) == 1:
        return rate_interval((r[above], r[below], r[patient], r[item]) for r in rows)
    if {row[by] for row in rows if row[below]} != set(among):
        return None, None, "not estimable: a rate of the mean has no trial, 95 %"
    return macro_interval(
        (r[above], r[below], r[by], r[patient], r[item]) for r in rows if r[below]
    )


Decision = tuple[bool, bool, Any, Any]
"""Whether a label is predicted, whether it is right, its patient, and which it is."""


def _decided(
    rows: Rows, of: Sequence[str], options: Mapping[str, Any]
) -> list[Decision]:
    """Return each label of a row that is predicted or right, with which it is."""
    only, drop, decided = options.get("only"), options.get("drop", ()), []
    found, true, *who = of
    for row in rows:
        for label in {*row[found], *row[true]} - {*drop}:
            if only is None or label in only:
                patient, item = (row[name] for name in who) if who else (None, None)
                each = label in row[found], label in row[true]
                decided.append((*each, patient, (item, label)))
    return decided


def _f1(rows: Rows, of: Sequence[str], options: Mapping[str, Any]) -> list[Number]:
    """F1, precision and recall of labels, micro over rows and labels."""
    tally = Counter(one[:2] for one in _decided(rows, of, options))
    hits, extra, missed = tally[True, True], tally[True, False], tally[False, True]
    whole = 2 * hits + extra + missed
    return [
        ratio(2 * hits, whole),
        ratio(hits, hits + extra),
        ratio(hits, hits + missed),
    ]


def _share_interval(decided: Iterable[Decision]) -> Cells:
    """Return the interval of the share of labels that are predicted and true."""
    return rate_interval((a and b, 1, patient, key) for a, b, patient, key in decided)


def _f1_interval(decided: Iterable[Decision]) -> Cells:
    """Return that of F1 = 2J / (1 + J), which rises with the share J."""
    low, high, name = _share_interval(decided)
    return *(None if one is None else 2 * one / (1 + one) for one in (low, high)), name


def _intervals_of_f1(s: Cell) -> Cells:
    """Return the intervals of F1, precision and recall."""
    decided = _decided(s.rows, s.of, s.options)
    parts = ([one for one in decided if one[i]] for i in (0, 1))
    return (*_f1_interval(decided), *(x for of in parts for x in _share_interval(of)))


def _macro_f1(s: Cell) -> Cells:
    ones = [_f1(s.rows, s.of, {"only": [one]})[0] for one in s.options["only"]]
    return (None if None in ones else sum(ones) / len(ones),)  # type: ignore[arg-type]


def _interval_of_macro_f1(s: Cell) -> Cells:
    """Return the means of the ends of each label's interval."""
    each = [
        _f1_interval(_decided(s.rows, s.of, {"only": [one]}))
        for one in s.options["only"]
    ]
    for low, _, why in each:
        if low is None:
            return None, None, why
    low, high = (sum(one[i] for one in each) / len(each) for i in (0, 1))
    return low, high, "Clopper-Pearson by patient, mean of ends, 95 %"


def _gain_in_f1(s: Cell) -> Cells:
    before, after = (_f1(rows or [], s.of, s.options)[0] for rows in (s.others, s.rows))
    gain = _less(after, before)
    percent = None if gain is None else ratio(100 * gain, before or 0)
    return before, after, percent


def _nested(rows: Rows, column: str, by: Sequence[str]) -> Number:
    """Return the mean over the first column of the mean over the next, and so on."""
    if not by:
        return ratio(math.fsum(row[column] for row in rows), len(rows))
    parts: dict[Any, Rows] = {}
    for row in rows:
        parts.setdefault(row[by[0]], []).append(row)
    means = [_nested(part, column, by[1:]) for part in parts.values()]
    known = [mean for mean in means if mean is not None]
    return math.fsum(known) / len(known) if known else None


def _change_of_rates(s: Cell) -> Cells:
    """Return nested means of pairs, their number, and their chance."""
    (column, chance), by, pair = s.of, s.options["by"], s.options["pair"]
    known = {row[pair]: row[column] for row in s.others or []}
    rows = [{**row, "before": known[row[pair]]} for row in s.rows if row[pair] in known]
    before, after, level = (_nested(rows, n, by) for n in ("before", column, chance))
    change = _less(after, before)
    arrow = ""
    if change is not None:
        arrow = "\u2191" if change > 0 else "\u2193" if change else "="
    return before, after, change, arrow, len(rows), level


def _intervals_of_changed_rates(s: Cell) -> Cells:
    """Return the intervals of a rate and of its change, by patient."""
    (column, patient, item), by = s.of, s.options["by"]
    pair = s.options["pair"]
    known = {row[pair]: row[column] for row in s.others or []}
    rows = [row for row in s.rows if row[pair] in known]
    sizes = Counter(tuple(row[name] for name in by) for row in rows)
    if len(set(sizes.values())) > 1:
        return (None, None, "not estimable: unequal numbers of pairs, 95 %") * 2
    rate = rate_interval((row[column], 1, row[patient], row[item]) for row in rows)
    gaps: dict[Any, list[int]] = {}
    for row in rows:
        gaps.setdefault(row[patient], []).append(row[column] - known[row[pair]])
    change = difference_interval(gaps.values())
    return *rate, *change


def _chance_level(s: Cell) -> Cells:
    known = [row[s.of[0]] for row in s.rows]
    return (None if None in known else ratio(math.fsum(known), len(known)),)


def _by_item(s: Cell) -> list[Any]:
    return list({row["item"]: row[s.of[0]] for row in s.rows}.values())


def _by_chance(s: Cell) -> Cells:
    counts = _by_item(s)
    # Fractions: their sum does not depend on the order of the items.
    whole = sum((Fraction(1, n) for n in counts), Fraction())
    return (float(whole / len(counts)) if counts else None,)


def _constant_answer(s: Cell) -> Cells:
    """Return the rate of a constant answer: the one named, or the most frequent."""
    right = Counter(_by_item(s))
    most = min(right, key=lambda one: (-right[one], one), default=None)
    answer = s.options.get("answer", most)
    if answer is None:
        return None, ""
    return ratio(right[answer], sum(right.values())), answer


def _distinct(s: Cell) -> Cells:
    values = set(s.values())
    every = values if s.others is None else set(values_in(s.others, s.of[0]))
    return len(values), ratio(len(values), len(every))


def _rate_of_distinct(s: Cell) -> Cells:
    """Return the number of distinct values in rows, of all, and the share if known."""
    column, holds = s.of
    held = {row[column] for row in s.rows if row[holds]}
    every, all_there = set(s.values()), len(s.values(1)) == len(s.rows)
    return len(held), len(every), ratio(len(held), len(every)) if all_there else None


def _points_apart(s: Cell) -> Cells:
    one, other = (ratio(*(sum(s.values(i)) for i in pair)) for pair in ((0, 1), (2, 3)))
    gap = _less(one, other)
    return (None if gap is None else 100 * gap,)


def _paired_difference(s: Cell) -> Cells:
    """Return the mean difference of two columns, its interval, and signs by patient."""
    rows = [row for row in s.rows if None not in (row[s.of[0]], row[s.of[1]])]
    clusters: dict[str, list[float]] = {}
    for row in rows:
        gap = row[s.of[0]] - row[s.of[1]]
        clusters.setdefault(row[s.options["cluster"]], []).append(gap)
    units = [(sum(clusters[one]), len(clusters[one])) for one in sorted(clusters)]
    low, high, method = difference_interval(clusters.values())
    if ends := s.options.get("ends"):
        gaps = [(one, gap) for one, of in clusters.items() for gap in of]
        low, high, method = bounded_interval(gaps, *ends)
    return (
        *(len(rows), *(mean_of_values(rows, name) for name in s.of)),
        *(ratio(sum(one for one, _ in units), len(rows)), low, high),
        sign_flip([one for one, _ in units]) if units else None,
        method,
    )


def sign_flip(differences: Sequence[float]) -> float:
    """Return the share of sign patterns with a sum as far from 0, two-sided."""
    d = [one for one in differences if one]
    size = sum(map(abs, d))
    if all(one == int(one) for one in d) and size < _WHOLE:
        ways = {0: 1}
        for step, n in Counter(abs(int(one)) for one in d).items():
            longer: Counter[int] = Counter()
            for total, count in ways.items():
                for heads in range(n + 1):
                    at = total + step * (2 * heads - n)
                    longer[at] += count * math.comb(n, heads)
            ways = longer
        far = sum(n for total, n in ways.items() if abs(total) >= abs(sum(d)))
        return far / (1 << len(d))
    # The same terms added in another order may differ in the last digit.
    limit = abs(sum(d)) - _SLACK * size
    if len(d) <= _FEW_SIGNS:
        sums = [0.0]
        for one in d:
            sums = [total + signed for signed in (one, -one) for total in sums]
        return sum(abs(total) >= limit for total in sums) / len(sums)
    entropy, rows = named_entropy(0, "sign flips"), 10_000
    far = sum(
        abs(2 * sum(one for one, up in zip(d, signs, strict=True) if up) - sum(d))
        >= limit
        for signs in drawn_signs(entropy, len(d), rows)
    )
    # The signs observed are one more pattern; without them p could be 0.
    return (far + 1) / (rows + 1)


def _gap(s: Cell) -> Cells:
    """Return the difference of two means in points, and its interval by cluster.

    A cluster must have as many values of one as of the other.
    """
    by, units = s.options["cluster"], dict[Any, list[list[float]]]()
    for place, column in enumerate(s.of):
        for row in s.rows:
            if row[column] is not None:
                unit = units.setdefault(row[by], [[], []])
                unit[place].append(row[column])
    gap = _less(*(mean_of_values(s.rows, name) for name in s.of))
    if any(len(one) != len(other) for one, other in units.values()):
        why = "not estimable: not the same cases in both, 95 %"
        return None if gap is None else 100 * gap, None, None, why
    pairs = (zip(one, other, strict=True) for one, other in units.values())
    return _in_points(gap, [[a - b for a, b in own] for own in pairs])


def _in_points(value: Number, units: Iterable[Sequence[float]]) -> Cells:
    """Return a mean difference and its interval in percentage points."""
    low, high, name = difference_interval(units)
    return *(None if one is None else 100 * one for one in (value, low, high)), name


def _interval_of_scores(s: Cell) -> Cells:
    cluster, (column,) = s.options["cluster"], s.of
    scored = [(row[cluster], row[column]) for row in s.rows if row[column] is not None]
    return bounded_interval(scored, *s.options["ends"])


def _spread_of_shares(s: Cell) -> Cells:
    by = s.options["by"]
    parts = ([r for r in s.rows if r[by] == one] for one in s.options["among"])
    shares = [_share(rows, s.of[0]) for rows in parts]
    known = [share for share in shares if share is not None]
    return (max(known) - min(known) if len(known) == len(shares) else None,)


def _rank_of_share(s: Cell) -> Cells:
    """Return the rank: 1 plus the number of others with a greater share."""
    others: dict[Any, Rows] = {}
    for row in s.others or []:
        others.setdefault(row[s.options["by"]], []).append(row)
    share = _share(s.rows, s.of[0])
    if share is None:
        return (None,)
    return (1 + sum((_share(rows, s.of[0]) or 0) > share for rows in others.values()),)


def _paired_change(s: Cell) -> Cells:
    """Return change in points with interval, gained, lost and p of paired rows."""
    pair, cluster, (column,) = s.options["pair"], s.options["cluster"], s.of
    if s.others is None or list(map(id, s.others)) == list(map(id, s.rows)):
        return (None,) * 8
    before, changes = {r[pair]: r[column] for r in s.others}, dict[Any, list[int]]()
    for r in s.rows:
        if r[pair] in before:
            changes.setdefault(r[cluster], []).append(r[column] - before[r[pair]])
    every = [one for of in changes.values() for one in of]
    change = _in_points(ratio(sum(every), len(every)), changes.values())
    if not every:
        return (*change, *(None,) * 3, 0)
    # Means as whole numbers: of these every pattern of signs is counted exactly.
    scale = math.lcm(*map(len, changes.values()))
    p = sign_flip([sum(of) * (scale // len(of)) for of in changes.values()])
    return *change, every.count(1), every.count(-1), p, len(every)


def _largest(s: Cell) -> Cells:
    told = s.values()
    return (max(told) if told and len(told) == len(s.rows) else None,)


COUNTED: dict[str, Callable[[Cell], Cells]] = {
    "size": lambda s: (len(s.rows),),
    "sum": lambda s: (sum(s.values()),),
    "rate": _rate,
    "pooled rate": lambda s: (
        ratio(sum(s.values()), sum(s.values(1))),
        *_interval(s, s.of[1]),
    ),
    "mean of pooled rates": _pooled_by,
    "interval of mean of pooled rates": _pooled_by_interval,
    "share": lambda s: (_share(s.rows, s.of[0]),),
    "part": lambda s: (ratio(len(s.rows), len(s.others or [])),),
    "mean": lambda s: [mean_of_values(s.rows, name) for name in s.of],
    "largest": _largest,
    "f1": lambda s: _f1(s.rows, s.of, s.options),
    "interval of f1": _intervals_of_f1,
    "macro f1": _macro_f1,
    "interval of macro f1": _interval_of_macro_f1,
    "gain in f1": _gain_in_f1,
    "nested mean of rates": lambda s: (_nested(s.rows, s.of[0], s.options["by"]),),
    "change of rates": _change_of_rates,
    "intervals of changed rates": _intervals_of_changed_rates,
    "chance": _by_chance,
    "chance level": _chance_level,
    "constant answer": _constant_answer,
    "first": lambda s: [s.rows[0][name] if s.rows else None for name in s.of],
    "distinct": _distinct,
    "rate of distinct": _rate_of_distinct,
    "listed": lambda s: (";".join(sorted(set(s.values()))),),
    "median": lambda s: (median(s.values()) if s.values() else None,),
    "interval": _interval,
    "difference in points": _points_apart,
    "paired difference": _paired_difference,
    "gap of rates": _gap,
    "interval of scores": _interval_of_scores,
    "spread of shares": _spread_of_shares,
    "rank of share": _rank_of_share,
    "paired change": _paired_change,
}
