"""Agreement of two readers by definition, and by other people's programs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import bootstrap
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


@dataclass(frozen=True)
class Near:
    """A number that a cell comes near to, as far as resampling lets it."""

    value: float
    by: float


def intervals(pairs: Pairs, tasks: Sequence[str]) -> dict[str, tuple[Near, Near]]:
    """Return SciPy's 95 % BCa intervals of kappa and MAD, tasks drawn as wholes."""
    names = sorted(set(tasks))
    tables = np.zeros((len(names), 5, 5))
    for (a, b), task in zip(pairs, tasks, strict=True):
        tables[names.index(task), a - 1, b - 1] += 1
    return {
        "qwk": _interval(tables, _kappas, kappa(pairs)),
        "mad": _interval(tables, _mads, float(mad(pairs))),
    }


_LEVEL = np.arange(5)
_SQUARES = (_LEVEL[:, None] - _LEVEL) ** 2.0
_GAPS = np.abs(_LEVEL[:, None] - _LEVEL)


def _kappas(tables: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    n = tables.sum(axis=(-2, -1))
    rows, columns = tables.sum(axis=-1), tables.sum(axis=-2)
    chance = (rows[..., :, None] * columns[..., None, :] * _SQUARES).sum(axis=(-2, -1))
    return np.asarray(1 - (tables * _SQUARES).sum(axis=(-2, -1)) * n / chance)


def _mads(tables: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray((tables * _GAPS).sum(axis=(-2, -1)) / tables.sum(axis=(-2, -1)))


def _interval(
    tables: npt.NDArray[np.float64],
    of: Any,  # noqa: ANN401 - a statistic of tables
    value: float,
) -> tuple[Near, Near]:
    """Return the interval; where no resample differs it is the value itself."""

    def statistic(drawn: Any, axis: int) -> Any:  # noqa: ANN401 - SciPy's own shapes
        moved = np.moveaxis(np.asarray(drawn, dtype=np.int64), axis, -1)
        return of(tables[moved].sum(axis=-3))

    off = tables.sum(axis=0)[_GAPS > 0].sum()
    if not off:
        return Near(value, 1e-12), Near(value, 1e-12)
    found = bootstrap(
        (np.arange(len(tables)),),
        statistic,
        n_resamples=9_999,
        batch=1_000,
        vectorized=True,
        method="BCa",
        random_state=np.random.default_rng(7),
    ).confidence_interval
    width = float(found.high - found.low)
    return Near(float(found.low), 0.12 * width), Near(float(found.high), 0.12 * width)
