"""How many misses are of a kind if only some of them were reviewed (E000-25).

The reviewed misses are drawn without replacement from a finite number, so the unknown
is an integer K. Its interval contains every K under which neither as few nor as many as
were found would have a probability below (1 − confidence) / 2 (the hypergeometric
analogue of Clopper and Pearson).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from viewer.metrics.estimate import percent

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_LARGEST_BLOCK = 1_000_000
"""Of chances held at once."""
_ROUNDING = 1e-9
"""Relative; a tail within it of the limit has reached the limit."""


@dataclass(frozen=True, slots=True)
class CappedReview:
    """``found`` of ``reviewed`` of ``misses``, and the K they are compatible with."""

    misses: int
    reviewed: int
    found: int
    low: int
    high: int
    confidence: float

    @property
    def share(self) -> float:
        """The share that was found, NaN before the first review."""
        return self.found / self.reviewed if self.reviewed else math.nan

    @property
    def count(self) -> float:
        """The expected number of misses of this kind, N·k/n (Gosai 2025)."""
        return self.misses * self.found / self.reviewed if self.reviewed else math.nan

    @property
    def method(self) -> str:
        """The method of the interval, in words."""
        return (
            f"exact hypergeometric, {percent(self.confidence)}, "
            f"{self.reviewed} of {self.misses} misses reviewed"
        )


@dataclass(frozen=True, slots=True)
class ReviewPlan:
    """How many more reviews narrow an interval to a wanted half width.

    ``worst_case`` is enough whatever they find; ``as_so_far`` if they find the share
    found so far (None before the first review). The half width is not quite monotone in
    the number of reviews: the number given suffices, and one fewer does not.
    """

    half_width: float
    confidence: float
    worst_case: int
    as_so_far: int | None


def capped_review(
    misses: int, reviewed: int, found: int, confidence: float = 0.95
) -> CappedReview:
    """Return an estimate for all ``misses`` from ``found`` among ``reviewed`` ones.

    Raises
    ------
    ValueError
        If there are no misses, or not ``0 <= found <= reviewed <= misses``.
    """
    if not 0 <= found <= reviewed <= misses or misses == 0:
        raise ValueError(f"{found} of {reviewed} of {misses} cannot have been reviewed")
    low, high = _bounds(misses, reviewed, confidence)
    bounds = int(low[found]), int(high[found])
    return CappedReview(misses, reviewed, found, *bounds, confidence)


def review_plan(review: CappedReview, half_width: float = 0.05) -> ReviewPlan:
    """Return how many more reviews narrow the share to ± ``half_width``."""

    def enough(chosen: Callable[[int], slice]) -> int:
        """Return the number of reviews at which all chosen counts are narrow enough."""
        too_few, suffices = review.reviewed - 1, review.misses
        while suffices - too_few > 1:
            middle = (too_few + suffices) // 2
            low, high = _bounds(review.misses, middle, review.confidence)
            widths = (high - low)[chosen(middle)]
            narrow = widths.max() <= 2 * half_width * review.misses
            too_few, suffices = (too_few, middle) if narrow else (middle, suffices)
        return suffices - review.reviewed

    def possible(reviewed: int) -> slice:
        return slice(review.found, review.found + reviewed - review.reviewed + 1)

    def expected(reviewed: int) -> slice:
        found = round(review.share * reviewed)
        return slice(found, found + 1)

    so_far = enough(expected) if review.reviewed else None
    return ReviewPlan(half_width, review.confidence, enough(possible), so_far)


@lru_cache(maxsize=256)
def _bounds(misses: int, reviewed: int, confidence: float) -> tuple[_Ints, _Ints]:
    """Return the lowest and the highest K for each count from 0 to ``reviewed``."""
    limit = (1 - confidence) / 2 * (1 + _ROUNDING)
    # The tail before a block is carried on: all chances at once would not fit.
    fewer, block = np.zeros(misses + 1), max(1, _LARGEST_BLOCK // (misses + 1))
    low, high = [], []
    for start in range(0, reviewed + 1, block):
        found = np.arange(start, min(start + block, reviewed + 1))
        chance = _hypergeometric(misses, reviewed, found)
        at_most = np.cumsum(np.column_stack((fewer, chance)), axis=1)[:, 1:]
        # 1 - at_most + chance is P(at least k); argmax finds the first True.
        low.append(np.argmax(1 - at_most + chance > limit, axis=0))
        high.append(misses - np.argmax(at_most[::-1] > limit, axis=0))
        fewer = at_most[:, -1]
    return np.concatenate(low), np.concatenate(high)


def _hypergeometric(misses: int, reviewed: int, found: _Ints) -> _Floats:
    """Return the (K, k) probability that k of the reviewed are found if K exist."""
    kind = np.arange(misses + 1)[:, None]
    # In logarithms, since 171! overflows a float.
    log_factorial = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, misses + 1)))))

    def log_choose(n: _Ints, k: _Ints) -> _Floats:
        there = (k >= 0) & (k <= n)
        k = np.where(there, k, 0)
        log = log_factorial[n] - log_factorial[k] - log_factorial[n - k]
        return np.where(there, log, -np.inf)

    ways = log_choose(kind, found) + log_choose(misses - kind, reviewed - found)
    return np.exp(ways - log_choose(np.array(misses), np.array(reviewed)))
