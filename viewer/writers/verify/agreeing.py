"""Estimators of agreement between readers, judges and modalities, and tests."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from viewer.writers.verify.by_patient import bounded_interval
from viewer.writers.verify.coefficients import (
    COEFFICIENTS,
    LEVELS,
    crossed,
    kappa,
    pairs_of,
)
from viewer.writers.verify.estimators import (
    Cell,
    Cells,
    Number,
    Rows,
    mean_of_values,
    ratio,
    sign_flip,
)
from viewer.writers.verify.sums import deviation

# SciPy's: scipy.stats.wilcoxon counts up to 50 pairs, of tied ones up to 13.
_EXACT_PAIRS, _SCIPY_UNTIED, _SCIPY_TIED = 1_000, 50, 13
_ORDERS = 4
TIE = 1e-9
"""The least difference of two sensitivities that is one."""
Scored = tuple[Any, float]
"""A cluster's name, and a score of it."""


def _judge_agreement(s: Cell) -> Cells:
    pairs, levels = pairs_of(s, s.rows), s.options["levels"]
    table = crossed(pairs, levels)
    same = ratio(sum(table[i][i] for i in range(len(levels))), len(pairs))
    of_level = (
        kappa(crossed([(a == x, b == x) for a, b in pairs], (False, True)), 0)
        for x in levels
    )
    return same, kappa(table, 0), kappa(table, 2), *of_level


def _prediction_powered(s: Cell) -> Cells:
    """Return the judge's mean plus the mean error by people, its interval and name.

    The sum of two means of bounded scores: of the labelled and of the others.
    """
    (judge, human), (low, high) = s.of, s.options["ends"]
    scores, labelled = s.values(0), [r for r in s.rows if r[human] is not None]
    plain, m = ratio(sum(scores), len(scores)), len(labelled)
    name = f"prediction-powered, {m} labelled, 95 %"
    if plain is None or not m:
        return plain, None, None, None, name
    value = plain + sum(r[human] - r[judge] for r in labelled) / m
    rest, case = 1 - m / len(scores), s.options["cluster"]
    own = [(r[case], r[human] - rest * r[judge]) for r in labelled]
    others = [(r[case], r[judge]) for r in s.rows if r[human] is None]
    cases, more_cases = ({one for one, _ in of} for of in (own, others))
    if len(cases) < 2:
        name = f"not estimable from one labelled case, {name}"
        return plain, value, None, None, name
    reaches = _reaches(own, low - rest * high, high - rest * low)
    more = [rest * one for one in _reaches(others, low, high)]
    both = [*zip(reaches, more, strict=True)]
    down, up = map(sum, both) if cases & more_cases else (math.hypot(*p) for p in both)
    return plain, value, max(value - down, low), min(value + up, high), name


def _reaches(scores: Sequence[Scored], low: float, high: float) -> tuple[float, float]:
    """Return the half-widths of the interval of a mean of bounded scores."""
    if not scores:
        return 0.0, 0.0
    middle = sum(score for _, score in scores) / len(scores)
    below, above, _ = bounded_interval(scores, low, high)
    down, up = low if below is None else below, high if above is None else above
    return middle - down, up - middle


def _spread(s: Cell) -> Cells:
    values = s.values()
    return mean_of_values(s.rows, s.of[0]), deviation(values)


def _signed(s: Cell, rows: Rows) -> Cells:
    """Wilcoxon's signed-rank test: n, zeros, both sums, p, effect and its name."""
    # Equal differences of decimals, such as 0.3 - 0.1 and 0.2 - 0, must be tied.
    gaps = [round(a - b, 12) for a, b in pairs_of(s, rows)]
    way, zeros = s.options["zero_method"], gaps.count(0)
    counted = [gap for gap in gaps if gap or way != "wilcox"]
    ties = Counter(map(abs, counted))
    rank, below = {}, 0
    for size in sorted(ties):
        rank[size] = below + (ties[size] + 1) / 2
        below += ties[size]
    plus, minus = (
        float(sum(rank[abs(gap)] for gap in counted if gap * sign > 0))
        for sign in (1, -1)
    )
    smaller = min(plus, minus)
    if way == "zsplit":
        half = sum(rank[0] for gap in counted if not gap) / 2
        plus, minus = plus + half, minus + half
    p: Number = None
    how, ranked = "no pair differs", [rank[abs(gap)] for gap in counted if gap]
    if ranked:
        p, how = _normal_p(plus, ties, way), "normal approximation with tie correction"
        is_tied = zeros > 0 or len(ties) < len(counted)
        shared = _signs_by_cluster(s, rows, rank)
        if shared:
            p, how = sign_flip(shared), _flipped(shared)
        elif _counts_out(s.options["p_method"], len(ranked), len(gaps), is_tied):
            p, how = _exact_p(ranked, smaller), f"exact, {len(ranked)} pairs"
    name = f"Wilcoxon signed-rank, two-sided, zeros {way} ({zeros}), {how}"
    effect = None if p is None else (plus - minus) / (plus + minus)
    return len(gaps), zeros, plus, minus, p, effect, name


def _signs_by_cluster(s: Cell, rows: Rows, rank: Mapping[float, float]) -> list[float]:
    """Return the doubled sums of signed ranks by cluster, if any has several rows."""
    one, other = s.of
    sums, pairs = dict[Any, float](), 0
    for row in rows:
        if None in (row[one], row[other]):
            continue
        gap, cluster = round(row[one] - row[other], 12), row[s.options["cluster"]]
        if gap:
            # Doubled: tied ranks are halves, and patterns of whole numbers are counted.
            signed = 2 * math.copysign(rank[abs(gap)], gap)
            sums[cluster], pairs = sums.get(cluster, 0.0) + signed, pairs + 1
    return list(sums.values()) if len(sums) < pairs else []


def _flipped(sums: Sequence[float]) -> str:
    return f"sign flips by patient, all 2^{sum(map(bool, sums))} patterns"


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
    """Return the p of a normal approximation, without the variance of zeros' ranks."""
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
    pairs = pairs_of(s, s.rows)
    means = [ratio(sum(one[i] for one in pairs), len(pairs)) for i in (0, 1)]
    apart = None if None in means else means[0] - means[1]  # type: ignore[operator]
    name = f"{name}; Benjamini-Hochberg over the declared five"
    return n, zeros, plus, minus, p, *_adjusted(s), effect, apart, name


def _absolute_difference(s: Cell) -> Cells:
    """Return the mean absolute difference of two scores, and its interval."""
    one, other = s.of
    gaps = [
        (row[s.options["cluster"]], abs(row[one] - row[other]))
        for row in s.rows
        if None not in (row[one], row[other])
    ]
    value = ratio(sum(gap for _, gap in gaps), len(gaps))
    return value, *bounded_interval(gaps, 0, LEVELS[-1] - LEVELS[0])


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
    """Return NMSE, NMSE with both swapped, Lin's concordance, and counts of cases.

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
    above, below = sum(g >= TIE for g in gaps), sum(g <= -TIE for g in gaps)
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
    **COEFFICIENTS,
    "mean absolute difference": _absolute_difference,
    "cross-modal": lambda s: _modalities(s.rows, s.of),
    "mean cross-modal": _mean_of_types,
    "change in nmse": _change_in_nmse,
    "agreement over orders": _over_orders,
    "warning of few": _few,
}
