"""Agreement of two readers by definition, and by other people's programs."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from math import sqrt

from scipy.stats import t
from sklearn.metrics import cohen_kappa_score

LEVELS = (1, 2, 3, 4, 5)
Pairs = Sequence[tuple[int, int]]


def kappa(pairs: Pairs) -> float:
    """Return scikit-learn's quadratic kappa with the labels fixed."""
    one, two = zip(*pairs, strict=True)
    return float(cohen_kappa_score(one, two, labels=LEVELS, weights="quadratic"))


def mad(pairs: Pairs) -> Fraction:
    """Return the mean absolute difference."""
    return sum((Fraction(abs(a - b)) for a, b in pairs), Fraction(0)) / len(pairs)


def ac2(pairs: Pairs) -> Fraction:
    """Return Gwet's AC2 with quadratic weights (Gwet 2014, chapter 4), exactly."""
    weight = {
        (a, b): 1 - Fraction((a - b) ** 2, 16) for a, b in product(LEVELS, LEVELS)
    }
    observed = sum((weight[pair] for pair in pairs), Fraction(0)) / len(pairs)
    used = Counter(score for pair in pairs for score in pair)
    shares = [Fraction(used[level], 2 * len(pairs)) for level in LEVELS]
    spread = sum((share * (1 - share) for share in shares), Fraction(0))
    expected = sum(weight.values(), Fraction(0)) * spread / (5 * 4)
    return (observed - expected) / (1 - expected)


def ac2_of_all(units: Sequence[Sequence[int]]) -> Fraction:
    """Return AC2 over units of any number of scores, exactly."""
    weight = {
        (a, b): 1 - Fraction((a - b) ** 2, 16) for a, b in product(LEVELS, LEVELS)
    }
    rated = [unit for unit in units if len(unit) > 1]
    agreed = [_mean([weight[pair] for pair in combinations(unit, 2)]) for unit in rated]
    used = [
        _mean([Fraction(unit.count(level), len(unit)) for unit in units])
        for level in LEVELS
    ]
    spread = sum((share * (1 - share) for share in used), Fraction(0))
    expected = sum(weight.values(), Fraction(0)) * spread / (5 * 4)
    return (_mean(agreed) - expected) / (1 - expected)


def alpha_of_all(units: Sequence[Sequence[int]]) -> Fraction:
    """Return ordinal alpha over units of any number of scores, exactly."""
    rated = [unit for unit in units if len(unit) > 1]
    every = [score for unit in rated for score in unit]
    used = Counter(every)

    def distance(a: int, b: int) -> Fraction:
        low, high = min(a, b), max(a, b)
        between = sum(used[level] for level in range(low, high + 1))
        return (between - Fraction(used[low] + used[high], 2)) ** 2

    gaps = (
        len(unit) * _mean([distance(a, b) for a, b in combinations(unit, 2)])
        for unit in rated
    )
    within = sum(gaps, Fraction(0)) / len(every)
    return 1 - within / _mean([distance(a, b) for a, b in combinations(every, 2)])


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def alpha(pairs: Pairs) -> Fraction:
    """Return Krippendorff's ordinal alpha: every pair of scores there is, exactly."""
    used = Counter(score for pair in pairs for score in pair)

    def distance(a: int, b: int) -> Fraction:
        low, high = min(a, b), max(a, b)
        between = sum(used[level] for level in range(low, high + 1))
        return (between - Fraction(used[low] + used[high], 2)) ** 2

    within = sum((distance(a, b) for a, b in pairs), Fraction(0)) / len(pairs)
    every = list(combinations([score for pair in pairs for score in pair], 2))
    between = sum((distance(a, b) for a, b in every), Fraction(0)) / len(every)
    return 1 - within / between


def by_level(pairs: Pairs) -> list[Fraction | None]:
    """Return for each score how often the other reader gave it too."""
    found: list[Fraction | None] = []
    for level in LEVELS:
        either = sum((a == level) + (b == level) for a, b in pairs)
        both = sum(a == b == level for a, b in pairs)
        found.append(Fraction(2 * both, either) if either else None)
    return found


Weighed = tuple[Sequence[int], float, float]
"""A unit's scores, how much they weigh as pairs, and how much as scores used."""
Coefficient = Callable[[Sequence[Weighed]], float]
_ENDS = tuple(product((LEVELS[0], LEVELS[-1]), repeat=2))


def kappa_ends(pairs: Pairs, whose: Sequence[str]) -> tuple[float, float]:
    """Return the 95 % bounds of kappa: a jackknife over patients and four more.

    Of these, as large as a patient on average, two agree at an end of the scale and two
    disagree as far as can be. It reaches as far from kappa as a jackknife without them.
    """
    return _ends(pairs, whose, _weighted, lambda _: (1.0, 1.0))


def ac2_ends(
    units: Sequence[Sequence[int]], whose: Sequence[str]
) -> tuple[float, float]:
    """Return the 95 % bounds of AC2 in the same way."""
    return _ends(units, whose, _weighed_ac2, lambda unit: (float(len(unit) > 1), 1.0))


def alpha_ends(
    units: Sequence[Sequence[int]], whose: Sequence[str]
) -> tuple[float, float]:
    """Return the 95 % bounds of ordinal alpha in the same way, of units scored twice.

    A unit weighs as much as it has scores, of which an added one has two.
    """
    twice = [len(unit) > 1 for unit in units]
    return _ends(
        [unit for unit, keep in zip(units, twice, strict=True) if keep],
        [who for who, keep in zip(whose, twice, strict=True) if keep],
        _weighed_alpha,
        lambda unit: (len(unit) / 2, 1.0),
    )


def _ends(
    units: Sequence[Sequence[int]],
    whose: Sequence[str],
    coefficient: Coefficient,
    size: Callable[[Sequence[int]], tuple[float, float]],
) -> tuple[float, float]:
    patients = sorted(set(whose))
    groups: list[list[Weighed]] = [
        [(unit, 1.0, 1.0) for unit, of in zip(units, whose, strict=True) if of == one]
        for one in patients
    ]
    pair, use = (sum(of) / len(patients) for of in zip(*map(size, units), strict=True))
    ends: list[list[Weighed]] = [[(end, pair, use)] for end in _ENDS]
    more = [*groups, *ends]
    value, middle = (coefficient([*chain(*of)]) for of in (groups, more))
    quantile = float(t.ppf(0.975, len(patients) - 1))
    reach, half = (quantile * _error(of, coefficient) for of in (groups, more))
    low, high = min(middle - half, value - reach), max(middle + half, value + reach)
    return max(low, -1.0), min(high, 1.0)


def _error(groups: Sequence[Sequence[Weighed]], coefficient: Coefficient) -> float:
    left = [
        coefficient([*chain(*(of for j, of in enumerate(groups) if j != i))])
        for i in range(len(groups))
    ]
    n = len(groups)
    return sqrt((n - 1) / n * sum((one - sum(left) / n) ** 2 for one in left))


def _weighed_ac2(units: Sequence[Weighed]) -> float:
    rated = [(unit, weight) for unit, weight, _ in units if len(unit) > 1]
    agreed = sum(
        weight * float(_mean([1 - Fraction((a - b) ** 2, 16) for a, b in _met(unit)]))
        for unit, weight in rated
    ) / sum(weight for _, weight in rated)
    every = sum(weight for *_, weight in units)
    used = [
        sum(weight * unit.count(level) / len(unit) for unit, _, weight in units) / every
        for level in LEVELS
    ]
    total = sum(1 - (a - b) ** 2 / 16 for a, b in product(LEVELS, LEVELS))
    expected = total * sum(share * (1 - share) for share in used) / (5 * 4)
    return (agreed - expected) / (1 - expected)


def _weighed_alpha(units: Sequence[Weighed]) -> float:
    used = {
        level: sum(weight * unit.count(level) for unit, weight, _ in units)
        for level in LEVELS
    }
    n = sum(used.values())

    def distance(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        between = sum(used[level] for level in range(low, high + 1))
        return float(between - (used[low] + used[high]) / 2) ** 2

    within = sum(
        weight * 2 * sum(distance(a, b) for a, b in _met(unit)) / (len(unit) - 1)
        for unit, weight, _ in units
    )
    apart = sum(used[a] * used[b] * distance(a, b) for a, b in product(LEVELS, LEVELS))
    return 1 - within * (n - 1) / apart


def _met(unit: Sequence[int]) -> list[tuple[int, int]]:
    return list(combinations(unit, 2))


def _weighted(units: Sequence[Weighed]) -> float:
    """Return scikit-learn's quadratic kappa of pairs that weigh differently."""
    (one, two), weights = (
        zip(*(pair for pair, *_ in units), strict=True),
        [weight for _, weight, _ in units],
    )
    return float(
        cohen_kappa_score(
            one, two, labels=LEVELS, weights="quadratic", sample_weight=weights
        )
    )
