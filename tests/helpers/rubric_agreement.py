"""Agreement of two readers by definition, and by other people's programs."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
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


def kappa_ends(pairs: Pairs, whose: Sequence[str]) -> tuple[float, float]:
    """Return the 95 % bounds of kappa: a jackknife over patients and four more.

    Of these, as large as a patient on average, two agree at an end of the scale and two
    disagree as far as can be.
    """
    patients = sorted(set(whose))
    size = len(pairs) / len(patients)
    groups = [
        [(pair, 1.0) for pair, of in zip(pairs, whose, strict=True) if of == one]
        for one in patients
    ]
    ends = LEVELS[0], LEVELS[-1]
    groups += [[(pair, size)] for pair in product(ends, ends)]
    left = [_weighted(groups[:i] + groups[i + 1 :]) for i in range(len(groups))]
    n, middle = len(groups), _weighted(groups)
    squares = sum((one - sum(left) / n) ** 2 for one in left)
    half = float(t.ppf(0.975, len(patients) - 1)) * sqrt((n - 1) / n * squares)
    value = kappa(pairs)
    low, high = min(middle - half, value), max(middle + half, value)
    return max(low, -1.0), min(high, 1.0)


def _weighted(groups: Sequence[Sequence[tuple[tuple[int, int], float]]]) -> float:
    """Return scikit-learn's quadratic kappa of pairs that weigh differently."""
    every = [one for of in groups for one in of]
    (one, two), weights = (
        zip(*(p for p, _ in every), strict=True),
        [w for _, w in every],
    )
    return float(
        cohen_kappa_score(
            one, two, labels=LEVELS, weights="quadratic", sample_weight=weights
        )
    )
