"""Intervals of rates whose items share patients, using only the standard library."""

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from functools import lru_cache

from viewer.writers.verify.sums import TAIL

_STEPS, _TERMS, _TINY, _EXACT = 100, 100_000, 1e-300, 1e-15
_MOST_ITEMS, _ADDED = 2, 0.25


def rate_interval(
    rows: Iterable[tuple[float, int, Hashable, Hashable]],
) -> tuple[float | None, float | None, str]:
    """Return an interval's ends and name from hits, trials, patient and item of rows.

    Exact bounds for as many independent trials as vary like the patients do, at most
    one an item.
    """
    units: dict[Hashable, list[float]] = {}
    items = set()
    for hits, trials, patient, item in rows:
        if trials:
            unit = units.setdefault(patient, [0, 0])
            unit[0], unit[1] = unit[0] + (hits or 0), unit[1] + trials
            items.add(item)
    if len(units) < 2:
        why = "not estimable from one patient" if units else "no trial"
        return None, None, f"{why}, 95 %"
    k, n = (sum(unit[i] for unit in units.values()) for i in (0, 1))
    if all(own == 1 for _, own in units.values()):
        return *_exact_bounds(k, n), "Clopper-Pearson, 95 %"
    rate = k / n
    within, ends = rate * (1 - rate) * n, rate**2 + (1 - rate) ** 2
    size = min(_effective_trials(units.values(), rate, within, ends), len(items))
    return *_exact_bounds(rate * size, size), "Clopper-Pearson by patient, 95 %"


def _effective_trials(
    units: Collection[Sequence[float]], mean: float, within: float, ends: float
) -> float:
    """Return how many independent trials vary like these, at least one a patient.

    ``units`` are each patient's sum and number; ``within`` is the sum of the trials'
    squared distances from the mean, ``ends`` that of the possible ends. Patients of
    unequal size count as fewer of equal size. A quarter of a patient is added at each
    end, more if sizes are unequal.
    """
    m, n = len(units), sum(count for _, count in units)
    if n == m:
        return n
    patients = n**2 / sum(count**2 for _, count in units)
    size = n / patients
    between = math.fsum((total - mean * count) ** 2 for total, count in units)
    between *= patients / (patients - 1)
    added = _ADDED * (m / patients) ** 2 * size * ends
    effect = (between + added * size) / (within + added)
    return max(n / max(effect, 1), patients)


def macro_interval(
    rows: Iterable[tuple[float, int, str, str, str]],
) -> tuple[float | None, float | None, str]:
    """Return the same for a mean of rates from hits, trials, rate, patient and item.

    The variance of a rate is at least that of one trial a patient, of which two more
    are a hit and a miss; covariances count where they add to it.
    """
    cells: dict[str, dict[str, list[float]]] = {}
    items, everyone = set(), set()
    for own_hits, own_trials, name, patient, item in rows:
        cell = cells.setdefault(name, {}).setdefault(patient, [0, 0])
        cell[0], cell[1] = cell[0] + (own_hits or 0), cell[1] + own_trials
        items.add(item)
        everyone.add(patient)
    if len(everyone) < 2:
        return None, None, "not estimable from one patient, 95 %"
    gaps: dict[str, list[float]] = {one: [] for one in everyone}
    rates, near, own = [], [], 0.0
    for of in cells.values():
        hits, trials = (sum(cell[i] for cell in of.values()) for i in (0, 1))
        rate, m = hits / trials, len(of)
        rates.append(rate)
        near.append((rate * m + 1) / (m + 2))
        squares = 0.0
        for patient, (k, n) in of.items():
            gap = (k - rate * n) / (len(cells) * trials)
            gaps[patient].append(gap)
            squares += gap * gap
        least = near[-1] * (1 - near[-1]) / (m * len(cells) ** 2)
        own += max(squares * m / max(m - 1, 1), least)
    whole = len(everyone) / (len(everyone) - 1)
    common = whole * math.fsum(
        math.fsum(some) ** 2 - math.fsum(gap * gap for gap in some)
        for some in gaps.values()
    )
    middle, rate = math.fsum(near) / len(near), math.fsum(rates) / len(rates)
    size = middle * (1 - middle) / (own + max(common, 0.0))
    size = min(size, len(items), _MOST_ITEMS * len(everyone))
    name = "Clopper-Pearson by patient, mean of rates, 95 %"
    return *_exact_bounds(rate * size, size), name


def difference_interval(
    units: Iterable[Sequence[float]],
) -> tuple[float | None, float | None, str]:
    """Return an interval of a mean of differences from those of each patient.

    The variance is at least that with two more differences, one at each end.
    """
    own = [*units]
    m = len(own)
    if m < 2:
        why = "not estimable from one patient" if m else "no trial"
        return None, None, f"{why}, 95 %"
    sums = [(math.fsum(of), len(of)) for of in own]
    n = sum(count for _, count in sums)
    value = math.fsum(total for total, _ in sums) / n
    within = math.fsum((one - value) ** 2 for of in own for one in of)
    worth = _effective_trials(sums, value, within, 2 + 2 * value**2)
    least = within / n * worth + 2 + 2 * worth * value**2 / (worth + 2)
    variance = max(within / n / (worth - 1), least / (worth + 2) ** 2)
    rate = (value + 1) / 2
    size = max(4 * rate * (1 - rate) / variance, worth)
    low, high = _exact_bounds(rate * size, size)
    name = "Clopper-Pearson by patient, of differences, 95 %"
    return 2 * low - 1, 2 * high - 1, name


def bounded_interval(
    scores: Iterable[tuple[Hashable, float]], low: float, high: float
) -> tuple[float | None, float | None, str]:
    """Return the interval of a mean of scores from ``low`` to ``high``, by cluster."""
    units: dict[Hashable, list[float]] = {}
    for cluster, score in scores:
        units.setdefault(cluster, []).append((2 * score - low - high) / (high - low))
    below, above, name = difference_interval(units.values())
    name = name.replace("differences", f"scores {low:g} to {high:g}")
    if below is None or above is None:
        return None, None, name
    middle, half = (low + high) / 2, (high - low) / 2
    return middle + half * below, middle + half * above, name


def student_quantile(freedom: int) -> float:
    """Return the 97.5 % quantile of Student's distribution."""
    x = beta_quantile(2 * TAIL, freedom / 2, 0.5)
    return math.sqrt(freedom * (1 - x) / x)


def _exact_bounds(k: float, n: float) -> tuple[float, float]:
    """Return Clopper-Pearson bounds of k of n, which need not be integers."""
    low = beta_quantile(TAIL, k, n - k + 1) if k > 0 else 0.0
    high = 1 - beta_quantile(TAIL, n - k, k + 1) if k < n else 1.0
    return low, high


@lru_cache(maxsize=65_536)
def beta_quantile(level: float, a: float, b: float) -> float:
    """Return the quantile of a beta distribution, by Newton steps within bounds."""
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(_STEPS):
        gap = beta_share(x, a, b) - level
        low, high = (low, x) if gap > 0 else (x, high)
        slope = _front(x, a, b) / (x * (1 - x))
        after = x - gap / slope if slope > _TINY else low
        # Where the distribution is flat, a Newton step leaves the bounds: halve them.
        after = after if low < after < high else (low + high) / 2
        if abs(after - x) <= _EXACT * x:
            return after
        x = after
    return x


def beta_share(x: float, a: float, b: float) -> float:
    """Return the cumulative probability of a beta distribution at ``x`` (0 < x < 1)."""
    # The fraction converges fast only below this; above it, by symmetry.
    if x > (a + 1) / (a + b + 2):
        return 1 - _front(x, a, b) * _fraction(1 - x, b, a) / b
    return _front(x, a, b) * _fraction(x, a, b) / a


def _front(x: float, a: float, b: float) -> float:
    # By logarithms: the gamma function itself overflows from 172 on.
    norm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return math.exp(norm + a * math.log(x) + b * math.log1p(-x))


def _fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function (Lentz)."""
    d = 1 / (1 - (a + b) * x / (a + 1))
    c, whole = 1.0, d
    for m in range(1, _TERMS):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            # Lentz: a denominator of 0 is replaced, or the fraction would end there.
            d = 1 / (1 + term * d or _TINY)
            c = 1 + term / c or _TINY
            whole *= d * c
        if abs(d * c - 1) < _EXACT:
            break
    return whole
