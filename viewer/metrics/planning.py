"""How many readers and cases a reader study needs, from the variance of a pilot.

Ratings of fully crossed readers and cases are split into variance between cases,
between readers, and the rest (two-way random effects, Henderson's method; Shrout and
Fleiss 1979). The mean over ``r`` readers and ``n`` cases then has the variance
cases / n + readers / r + rest / (n r).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, nan, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Variances:
    """Variance between cases, between readers, and the rest, each 0 or more."""

    cases: float
    readers: float
    rest: float

    def of_mean(self, readers: int, cases: float) -> float:
        """Return the variance of a mean over so many readers and cases."""
        crossed = self.rest / (readers * cases)
        return self.cases / cases + self.readers / readers + crossed


def variances(ratings: npt.ArrayLike) -> Variances:
    """Return the variance components of ratings, (readers, cases), all of them there.

    Negative estimates are 0. With one reader, or one case, nothing can be estimated and
    all are NaN.
    """
    of = np.asarray(ratings, np.float64)
    r, n = of.shape
    if r < 2 or n < 2:
        return Variances(nan, nan, nan)
    mean, by_case, by_reader = of.mean(), of.mean(axis=0), of.mean(axis=1)
    between_cases = r * ((by_case - mean) ** 2).sum() / (n - 1)
    between_readers = n * ((by_reader - mean) ** 2).sum() / (r - 1)
    gaps = of - by_case[None, :] - by_reader[:, None] + mean
    rest = float((gaps**2).sum() / ((r - 1) * (n - 1)))
    return Variances(
        max(float(between_cases - rest) / r, 0.0),
        max(float(between_readers - rest) / n, 0.0),
        rest,
    )


@dataclass(frozen=True, slots=True)
class Plan:
    """So many cases with so many readers give the half width; inf if none do."""

    readers: int
    cases: float


def plans(
    of: Variances,
    half_width: float,
    readers: Sequence[int] = (1, 2, 3, 4, 5, 6, 8, 10),
    confidence: float = 0.95,
) -> tuple[Plan, ...]:
    """Return the cases needed for a mean known to ± ``half_width``, by readers.

    Raises
    ------
    ValueError
        If the half width is not above 0.
    """
    if not half_width > 0:
        raise ValueError("the half width must be above 0")
    quantile = NormalDist().inv_cdf((1 + confidence) / 2)
    wanted = (half_width / quantile) ** 2
    return tuple(Plan(r, _cases(of, r, wanted)) for r in readers)


def _cases(of: Variances, readers: int, wanted: float) -> float:
    """Return the fewest cases whose mean has at most the wanted variance."""
    left = wanted - of.readers / readers
    if not left > 0:
        return inf
    # Rounding must not ask for one more case than the exact number.
    return max(1, ceil(round((of.cases + of.rest / readers) / left, 9)))


def half_width(
    of: Variances, readers: int, cases: int, confidence: float = 0.95
) -> float:
    """Return the half width of the interval of a mean over readers and cases."""
    quantile = NormalDist().inv_cdf((1 + confidence) / 2)
    return quantile * sqrt(of.of_mean(readers, cases))
