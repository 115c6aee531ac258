"""Estimators of readers, judges and modalities: how far they agree, and tests."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from viewer.writers.verify.estimators import (
    Cell,
    Cells,
    Number,
    Rows,
    interval_name,
    mean_told,
    ratio,
    resampled,
)
from viewer.writers.verify.sums import bca_bounds, deviation, variance

LEVELS = (1, 2, 3, 4, 5)
_EXACT_PAIRS, _SCIPY_UNTIED, _SCIPY_TIED = 1_000, 50, 13
_TIE, _ORDERS = 1e-9, 4
_CENTRAL = 0.95
Table = Sequence[Sequence[float]]


def _pairs(s: Cell, rows: Rows) -> list[tuple[Any, Any]]:
    """Return the two columns' values of rows that have both."""
    both = ((row[s.of[0]], row[s.of[1]]) for row in rows)
    return [pair for pair in both if None not in pair]


def _crossed(
    pairs: Sequence[tuple[Any, Any]], labels: Sequence[Any]
) -> list[list[int]]:
    """Return how often each label of the one met each of the other."""
    met = Counter(pairs)
    return [[met[one, other] for other in labels] for one in labels]


def _kappa(table: Table, power: int) -> Number:
    """Cohen's: 1 - observed / expected disagreement; power 0 weighs all alike."""
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


def _judge_agreement(s: Cell) -> Cells:
    pairs, levels = _pairs(s, s.rows), s.options["levels"]
    table = _crossed(pairs, levels)
    same = ratio(sum(table[i][i] for i in range(len(levels))), len(pairs))
    of_level = (
        _kappa(_crossed([(a == x, b == x) for a, b in pairs], (False, True)), 0)
        for x in levels
    )
    return same, _kappa(table, 0), _kappa(table, 2), *of_level


def _prediction_powered(s: Cell) -> Cells:
    """Return the judge's mean, that plus people's mean error, Student's interval."""
    scores, pairs = s.told(0), _pairs(s, s.rows)
    plain = ratio(sum(scores), len(scores))
    if plain is None or not pairs:
        return plain, None, None, None
    errors, m = [b - a for a, b in pairs], len(pairs)
    value = plain + sum(errors) / m
    if m < 2:
        return plain, value, None, None
    middle = sum(a for a, _ in pairs) / m
    both = sum((a - middle) * e for (a, _), e in zip(pairs, errors, strict=True))
    spread = (variance(scores) + 2 * both / (m - 1)) / len(scores)
    spread += variance(errors) / m
    half = _student(m - 1) * math.sqrt(max(spread, 0.0))
    return plain, value, value - half, value + half


def _student(df: int) -> float:
    """Return where Student's central 95 % end (Abramowitz and Stegun 26.7.3, .4)."""

    def inside(angle: float) -> float:
        sine, cosine, odd = math.sin(angle), math.cos(angle), df % 2
        term = cosine if odd else 1.0
        total = 0.0 if df == 1 else term
        for k in range(2 + odd, df - 1, 2):
            term *= cosine * cosine * (k - 1) / k
            total += term
        return 2 / math.pi * (angle + sine * total) if odd else sine * total

    low, high = 0.0, math.pi / 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < _CENTRAL else (low, middle)
    return math.tan(low) * math.sqrt(df)


def _spread(s: Cell) -> Cells:
    values = s.told()
    return mean_told(s.rows, s.of[0]), deviation(values)


def _signed(s: Cell, rows: Rows) -> Cells:
    """Wilcoxon's signed-rank test: n, zeros, both sums, p, effect and its name."""
    gaps = [round(a - b, 12) for a, b in _pairs(s, rows)]
    way, zeros = s.options["zero_method"], gaps.count(0)
    kept = [gap for gap in gaps if gap or way != "wilcox"]
    ties = Counter(map(abs, kept))
    rank, below = {}, 0
    for size in sorted(ties):
        rank[size] = below + (ties[size] + 1) / 2
        below += ties[size]
    plus, minus = (
        float(sum(rank[abs(gap)] for gap in kept if gap * sign > 0)) for sign in (1, -1)
    )
    smaller = min(plus, minus)
    if way == "zsplit":
        half = sum(rank[0] for gap in kept if not gap) / 2
        plus, minus = plus + half, minus + half
    p: Number = None
    how, ranked = "no pair differs", [rank[abs(gap)] for gap in kept if gap]
    if ranked:
        p, how = _normal_p(plus, ties, way), "normal approximation with tie correction"
        is_tied = zeros > 0 or len(ties) < len(kept)
        if _counts_out(s.options["p_method"], len(ranked), len(gaps), is_tied):
            p, how = _exact_p(ranked, smaller), f"exact, {len(ranked)} pairs"
    name = f"Wilcoxon signed-rank, two-sided, zeros {way} ({zeros}), {how}"
    effect = None if p is None else (plus - minus) / (plus + minus)
    return len(gaps), zeros, plus, minus, p, effect, name


def _counts_out(method: str, ranked: int, pairs: int, is_tied: bool) -> bool:
    if method == "scipy":
        return pairs <= (_SCIPY_TIED if is_tied else _SCIPY_UNTIED)
    return method == "exact" and ranked <= _EXACT_PAIRS


def _exact_p(ranks: Sequence[float], smaller: float) -> float:
    """Return twice the smaller sum's tail over all sign patterns of these ranks."""
    end = round(2 * smaller) + 1
    shares = [1.0] + [0.0] * (end - 1)
    for rank in (round(2 * one) for one in ranks):
        moved = chain([0.0] * min(rank, end), shares)
        shares = [(one + two) / 2 for one, two in zip(shares, moved, strict=False)]
    return min(1.0, 2 * sum(shares))


def _normal_p(plus: float, ties: Counter[float], way: str) -> float:
    """Return the p of a normal approximation; ranks of zeros count in no variance."""
    n, lost = sum(ties.values()), ties[0] if way == "pratt" else 0
    mean = (n * (n + 1) - lost * (lost + 1)) / 4
    tied = sum(t**3 - t for size, t in ties.items() if size or not lost)
    whole = n * (n + 1) * (2 * n + 1) - lost * (lost + 1) * (2 * lost + 1)
    return math.erfc(
        abs(plus - mean) / math.sqrt((whole - tied / 2) / 24) / math.sqrt(2)
    )


def _adjusted(s: Cell) -> Cells:
    """Return the Benjamini-Hochberg adjusted p; a missing p counts as 1."""
    family, every = s.options["family"], s.others or []
    if not s.rows:
        return (None,)
    raw = {
        name: _signed(s, [row for row in every if row[family] == name])[4]
        for name in dict.fromkeys(row[family] for row in every)
    }
    own = raw[s.rows[0][family]]
    known = sorted(1.0 if p is None else p for p in raw.values())
    steps = [p * len(known) / i for i, p in enumerate(known, 1)]
    if own is None:
        return (None,)
    return (min(1.0, *steps[known.index(own) :]),)


def _signed_rank(s: Cell) -> Cells:
    n, zeros, plus, minus, p, effect, name = _signed(s, s.rows)
    pairs = _pairs(s, s.rows)
    means = [ratio(sum(one[i] for one in pairs), len(pairs)) for i in (0, 1)]
    apart = None if None in means else means[0] - means[1]  # type: ignore[operator]
    name = f"{name}; Benjamini-Hochberg over the declared five"
    return n, zeros, plus, minus, p, *_adjusted(s), effect, apart, name


def _by_task(s: Cell) -> list[list[tuple[int, int]]]:
    """Return both readers' scores, those of one task together, tasks by name."""
    tasks: dict[str, list[tuple[int, int]]] = {}
    for row in s.rows:
        pair = (row[s.of[0]], row[s.of[1]])
        tasks.setdefault(row[s.options["cluster"]], []).append(pair)
    return [tasks[name] for name in sorted(tasks)]


def _with_bca(
    s: Cell,
    names: tuple[str, str],
    units: list[list[int]],
    of: Any,  # noqa: ANN401
) -> Cells:
    """Return what is made of sums of units, its BCa interval and the interval's name.

    ``names`` are those of the stream that is drawn from, and of the interval.
    """
    stream, kind = names
    whole = [sum(lane) for lane in zip(*units, strict=True)]
    left = [of([a - b for a, b in zip(whole, unit, strict=True)]) for unit in units]
    drawn = resampled(stream, s, units) if units else []
    samples = [value for value in map(of, drawn) if value is not None]
    known = None not in left and samples
    same = bool(samples) and max(samples) == min(samples)
    bounds = bca_bounds(samples, of(whole), left) if known else (None, None)
    count = len(units) if known else min(len(samples), 1)
    return (
        of(whole) if units else None,
        *bounds,
        interval_name(kind, s, count, same=same, how="BCa"),
    )


def _quadratic_kappa(s: Cell) -> Cells:
    size = len(LEVELS)

    def of(lanes: Sequence[int]) -> Number:
        return _kappa([lanes[i : i + size] for i in range(0, size * size, size)], 2)

    tables = [_crossed(pairs, LEVELS) for pairs in _by_task(s)]
    kind = f"quadratic \u03ba, {size} labels, bootstrap over tasks"
    return _with_bca(s, ("tasks", kind), [list(chain(*one)) for one in tables], of)


def _absolute_difference(s: Cell) -> Cells:
    units = [[sum(abs(a - b) for a, b in t), len(t)] for t in _by_task(s)]
    names = ("patients", "patient-cluster bootstrap")
    return _with_bca(s, names, units, lambda lanes: ratio(*lanes))


def _coefficients(units: Sequence[Sequence[int]]) -> tuple[Number, Number]:
    """Return Gwet's AC2, quadratic weights, and Krippendorff's ordinal alpha.

    Each unit has the levels that it was given, at least one.
    """
    counts = [[unit.count(level) for level in LEVELS] for unit in units]
    twice = [(of, sum(of)) for of in counts if sum(of) > 1]
    if not twice:
        return None, None
    q, places = len(LEVELS), range(len(LEVELS))
    weight = [[1 - ((i - j) / (q - 1)) ** 2 for j in places] for i in places]
    agreed = sum(
        sum(
            of[i] * (sum(w * n for w, n in zip(weight[i], of, strict=True)) - 1)
            for i in places
        )
        / (r * (r - 1))
        for of, r in twice
    ) / len(twice)
    use = [sum(of[i] / sum(of) for of in counts) / len(counts) for i in places]
    by_chance = sum(map(sum, weight)) * sum(u * (1 - u) for u in use) / (q * (q - 1))
    used = [sum(of[i] for of, _ in twice) for i in places]
    middle = [sum(used[:i]) + used[i] / 2 for i in places]
    n, every = sum(used), [(i, j) for i in places for j in places]
    seen = sum(
        of[i] * of[j] / (r - 1) * (middle[i] - middle[j]) ** 2
        for of, r in twice
        for i, j in every
    )
    expected = sum(used[i] * used[j] * (middle[i] - middle[j]) ** 2 for i, j in every)
    alpha = 1 - seen * (n - 1) / expected if expected else None
    return (agreed - by_chance) / (1 - by_chance), alpha


def _of_two(s: Cell) -> Cells:
    table = _crossed(pairs := _pairs(s, s.rows), LEVELS)
    chosen = [
        sum(row) + sum(column)
        for row, column in zip(table, zip(*table, strict=True), strict=True)
    ]
    agreed = [ratio(2 * table[i][i], chosen[i]) for i in range(len(LEVELS))]
    return (*_coefficients(pairs), *agreed)


def _of_readers(s: Cell) -> Cells:
    reader, unit, score = s.of
    units: dict[Any, dict[str, int]] = {}
    for row in s.rows:
        units.setdefault(row[unit], {})[row[reader]] = row[score]
    given = [list(of.values()) for of in units.values()]
    twice = sum(len(of) > 1 for of in given)
    return len({row[reader] for row in s.rows}), twice, *_coefficients(given)


def _over_orders(s: Cell) -> Cells:
    """Return cases asked in every order, with a choice in each, alike, and right."""
    cases: dict[str, tuple[dict[int, Any], Any]] = {}
    for row in s.rows:
        case, order, chosen, answer = (row[name] for name in s.of)
        cases.setdefault(case, ({}, answer))[0][order] = chosen
    asked = [
        ({*of.values()}, right) for of, right in cases.values() if len(of) == _ORDERS
    ]
    whole = [(of, right) for of, right in asked if None not in of]
    same = sum(len(of) == 1 for of, _ in whole)
    return len(asked), len(whole), same, sum(of == {right} for of, right in whole)


def _modalities(rows: Rows, of: Sequence[str]) -> Cells:
    """Return NMSE, that with both swapped, Lin's concordance, and counts of cases.

    Those are with both, above, below, tied, and without one of the two.
    """
    both = [(r[of[0]], r[of[1]]) for r in rows if None not in (r[of[0]], r[of[1]])]
    gaps = [x - y for x, y in both]
    squares = [
        ratio(sum(g * g for g in gaps), sum(p[i] ** 2 for p in both)) for i in (1, 0)
    ]
    n, concordance = len(both), None
    if n:
        a, b = (sum(pair[i] for pair in both) / n for i in (0, 1))
        moments = [((x - a) ** 2 + (y - b) ** 2, (x - a) * (y - b)) for x, y in both]
        apart = sum(m for m, _ in moments) / n + (a - b) ** 2
        concordance = ratio(2 * sum(m for _, m in moments) / n, apart)
    above, below = sum(g >= _TIE for g in gaps), sum(g <= -_TIE for g in gaps)
    counts = (n, above, below, n - above - below, len(rows) - n)
    return *squares, concordance, *counts


def _mean_of_types(s: Cell) -> Cells:
    by, among = s.options["by"], s.options["among"]
    parts = [_modalities([r for r in s.rows if r[by] == one], s.of) for one in among]
    means = []
    for place in (0, 1):
        known = [part[place] for part in parts if part[place] is not None]
        means.append(ratio(sum(known), len(known)))
    return (*means, *(None,) * 6)


def _change_in_nmse(s: Cell) -> Cells:
    by = s.options["by"]
    before, after = (
        _modalities([r for r in s.rows if r[by] == one], s.of)[0]
        for one in (False, True)
    )
    return before, after, None if None in (before, after) else after - before


def _few(s: Cell) -> Cells:
    least = s.options["fewer_than"]
    return (f"fewer than {least} cases" if len(s.rows) < least else "",)


AGREEMENTS: dict[str, Callable[[Cell], Cells]] = {
    "judge agreement": _judge_agreement,
    "prediction-powered mean": _prediction_powered,
    "spread": _spread,
    "signed rank": _signed_rank,
    "adjusted p": _adjusted,
    "quadratic kappa": _quadratic_kappa,
    "mean absolute difference": _absolute_difference,
    "agreement of two": _of_two,
    "agreement of readers": _of_readers,
    "cross-modal": lambda s: _modalities(s.rows, s.of),
    "mean cross-modal": _mean_of_types,
    "change in nmse": _change_in_nmse,
    "agreement over orders": _over_orders,
    "warning of few": _few,
}
