"""Coefficients of agreement: kappa, Gwet's AC2 and Krippendorff's alpha."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations, product
from typing import Any

from viewer.writers.verify.by_patient import student_quantile
from viewer.writers.verify.estimators import Cell, Cells, Number, Rows, ratio
from viewer.writers.verify.sums import variance

LEVELS = (1, 2, 3, 4, 5)
Table = Sequence[Sequence[float]]


def kappa(table: Table, power: int) -> Number:
    """Cohen's kappa: 1 - observed / expected disagreement; power 0 is unweighted."""
    places = range(len(table))
    n = sum(map(sum, table))
    rows, columns = (
        [sum(row) for row in table],
        [sum(c) for c in zip(*table, strict=True)],
    )
    apart = [[abs(i - j) ** power if i != j else 0 for j in places] for i in places]
    every = [(i, j) for i in places for j in places]
    expected = sum(apart[i][j] * rows[i] * columns[j] for i, j in every)
    observed = sum(apart[i][j] * table[i][j] for i, j in every)
    return 1 - observed * n / expected if expected else None


def crossed(pairs: Sequence[tuple[Any, Any]], labels: Sequence[Any]) -> list[list[int]]:
    """Return the counts of each pair of labels."""
    met = Counter(pairs)
    return [[met[one, other] for other in labels] for one in labels]


def pairs_of(s: Cell, rows: Rows) -> list[tuple[Any, Any]]:
    """Return the values of two columns in the rows that have both."""
    both = ((row[s.of[0]], row[s.of[1]]) for row in rows)
    return [pair for pair in both if None not in pair]


def _quadratic_kappa(s: Cell) -> Cells:
    """Return quadratic kappa and its jackknife over clusters, with four more added.

    Each of the four has a mean cluster's outputs in one corner of the table.
    """
    pairs: dict[Any, list[tuple[Any, Any]]] = {}
    for row in s.rows:
        both = (row[s.of[0]], row[s.of[1]])
        if None not in both:
            pairs.setdefault(row[s.options["cluster"]], []).append(both)
    levels = s.options.get("levels", LEVELS)
    m, size = len(pairs), len(levels)
    tables: list[Table] = [crossed(of, levels) for of in pairs.values()]
    value = kappa(_summed(tables), 2) if m else None
    name = f"quadratic \u03ba, {size} labels" if size > 2 else "Cohen's \u03ba"
    ends = _at_the_ends(sum(map(len, pairs.values())) / m, size) if m else []
    return value, *_left_out(value, tables, ends, lambda of: kappa(of, 2), name)


def _at_the_ends(total: float, size: int) -> list[Table]:
    """Return four tables, each with the total in another corner."""
    ends, places = (0, size - 1), range(size)
    return [
        [[total * ((i, j) == at) for j in places] for i in places]
        for at in product(ends, ends)
    ]


def _left_out(
    value: Number,
    tables: Sequence[Table],
    ends: Sequence[Table],
    coefficient: Callable[[Table], Number],
    name: str,
) -> Cells:
    """Return the jackknife interval of a coefficient of summed tables, and its name.

    ``tables`` are those of each patient, ``ends`` are added to them. It reaches at
    least as far from the value as without them.
    """
    m = len(tables)
    if m < 2 or value is None:
        why = "not estimable from one patient" if m == 1 else "not estimable"
        return None, None, f"{name}, {why}, 95 %"
    every = [*tables, *ends]
    middle, quantile = coefficient(_summed(every)) or 0.0, student_quantile(m - 1)
    half = quantile * (_error(every, coefficient) or 0.0)
    reach = quantile * (_error(tables, coefficient) or 0.0)
    low, high = min(middle - half, value - reach), max(middle + half, value + reach)
    return max(low, -1.0), min(high, 1.0), f"{name}, jackknife by patient, 95 %"


def _error(tables: Sequence[Table], coefficient: Callable[[Table], Number]) -> Number:
    """Return a jackknife's standard error, None if a coefficient is undefined."""
    whole, n = _summed(tables), len(tables)
    left_out = []
    for one in tables:
        rest = _summed([whole, one], (1, -1))
        left_out.append(coefficient([[round(x, 11) for x in row] for row in rest]))
    known = [value for value in left_out if value is not None]
    return math.sqrt(variance(known) * (n - 1) ** 2 / n) if len(known) == n else None


def _summed(tables: Sequence[Table], signs: Sequence[int] = ()) -> list[list[float]]:
    """Return the sum of tables, or their sum with signs."""
    factors = signs or [1] * len(tables)
    rows, columns = (range(len(of)) for of in (tables[0], tables[0][0]))
    return [
        [
            sum(f * t[i][j] for f, t in zip(factors, tables, strict=True))
            for j in columns
        ]
        for i in rows
    ]


Given = Sequence[tuple[Any, Sequence[int]]]
"""Each unit's patient, and the levels that it was given, at least one."""


def _ac2(units: Given) -> Cells:
    """Return Gwet's AC2 with quadratic weights, its interval and its name."""
    q, name = len(LEVELS), f"Gwet's AC2, quadratic, {len(LEVELS)} labels"
    if all(len(of) < 2 for _, of in units):
        return None, None, None, f"{name}, no unit was rated twice"
    patients: dict[Any, list[Table]] = {}
    for patient, of in units:
        pairs = [1 - ((a - b) / (q - 1)) ** 2 for a, b in permutations(of, 2)]
        use = (of.count(level) / len(of) for level in LEVELS)
        row = [ratio(sum(pairs), len(pairs)) or 0.0, float(len(of) > 1), 1.0, *use]
        patients.setdefault(patient, []).append([row])
    tables = [_summed(of) for of in patients.values()]
    every = sum(1 - ((i - j) / (q - 1)) ** 2 for i in LEVELS for j in LEVELS)

    def coefficient(of: Table) -> Number:
        agreed, twice, once, *used = of[0]
        if not twice:
            return None
        spread = sum(u / once * (1 - u / once) for u in used)
        by_chance = every * spread / (q * (q - 1))
        return (agreed / twice - by_chance) / (1 - by_chance)

    whole = _summed(tables)
    twice, once = (n / len(tables) for n in whole[0][1:3])
    none = [0.0] * (q - 2)
    ends = [
        [[twice * same, twice, once, once * first, *none, once * (1 - first)]]
        for same, first in ((1, 1), (1, 0), (0, 0.5), (0, 0.5))
    ]
    value = coefficient(whole)
    return value, *_left_out(value, tables, ends, coefficient, name)


def _alpha(units: Given) -> Cells:
    """Return Krippendorff's ordinal alpha, its interval and its name."""
    name, places = "Krippendorff's α, ordinal", range(len(LEVELS))
    patients: dict[Any, list[Table]] = {}
    for patient, of in units:
        if len(of) > 1:
            met = crossed([*permutations(of, 2)], LEVELS)
            pairs = [[n / (len(of) - 1) for n in row] for row in met]
            patients.setdefault(patient, []).append(pairs)
    if not patients:
        return None, None, None, f"{name}, no unit was rated twice"
    tables = [_summed(of) for of in patients.values()]

    def coefficient(of: Table) -> Number:
        used = [(sum(of[i]) + sum(row[i] for row in of)) / 2 for i in places]
        middle = [sum(used[:i]) + used[i] / 2 for i in places]
        apart = [[(middle[i] - middle[j]) ** 2 for j in places] for i in places]
        seen = sum(of[i][j] * apart[i][j] for i in places for j in places)
        by_chance = sum(used[i] * used[j] * apart[i][j] for i in places for j in places)
        return 1 - seen * (sum(used) - 1) / by_chance if by_chance else None

    whole = _summed(tables)
    value = coefficient(whole)
    if value is None:
        return None, None, None, f"{name}, every unit got the same label"
    ends = _at_the_ends(sum(map(sum, whole)) / len(tables), len(LEVELS))
    return value, *_left_out(value, tables, ends, coefficient, name)


def _of_two(s: Cell) -> Cells:
    table = crossed(pairs_of(s, s.rows), LEVELS)
    chosen = [
        sum(row) + sum(column)
        for row, column in zip(table, zip(*table, strict=True), strict=True)
    ]
    agreed = [ratio(2 * table[i][i], chosen[i]) for i in range(len(LEVELS))]
    units = [
        (row[s.options["cluster"]], [row[name] for name in s.of]) for row in s.rows
    ]
    return *_ac2(units), *_alpha(units), *agreed


def _of_readers(s: Cell) -> Cells:
    reader, unit, score = s.of
    given: dict[Any, tuple[Any, dict[str, int]]] = {}
    for row in s.rows:
        of = given.setdefault(row[unit], (row[s.options["cluster"]], {}))
        of[1][row[reader]] = row[score]
    units = [(patient, [*scores.values()]) for patient, scores in given.values()]
    twice = sum(len(scores) > 1 for _, scores in units)
    readers = len({row[reader] for row in s.rows})
    return readers, twice, *_ac2(units), *_alpha(units)


COEFFICIENTS: dict[str, Callable[[Cell], Cells]] = {
    "quadratic kappa": _quadratic_kappa,
    "agreement of two": _of_two,
    "agreement of readers": _of_readers,
}
"""Estimators of agreement whose intervals leave out patients."""
