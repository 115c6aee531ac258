"""Sums and deviations, rounded as by NumPy."""

import math
from collections.abc import Sequence

TAIL = (1 - 0.95) / 2
_UNROLLED, _BLOCK = 8, 128


def pairwise_sum(values: Sequence[float]) -> float:
    """Return a sum in the order of NumPy: eight at a time, longer ones in halves."""
    n = len(values)
    if n < _UNROLLED:
        total = 0.0
        for value in values:
            total += value
        return total
    if n > _BLOCK:
        half = n // 2 - (n // 2) % _UNROLLED
        return pairwise_sum(values[:half]) + pairwise_sum(values[half:])
    lanes = list(values[:_UNROLLED])
    whole = n - n % _UNROLLED
    for start in range(_UNROLLED, whole, _UNROLLED):
        for lane in range(_UNROLLED):
            lanes[lane] += values[start + lane]
    a, b, c, d, e, f, g, h = lanes
    total = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for value in values[whole:]:
        total += value
    return total


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation with n - 1; NaN for fewer than two values."""
    return math.sqrt(variance(values))


def variance(values: Sequence[float]) -> float:
    """Return the variance with n - 1; NaN for fewer than two values."""
    n = len(values)
    if n < 2:
        return math.nan
    mean = pairwise_sum(values) / n
    gaps = [value - mean for value in values]
    return pairwise_sum([gap * gap for gap in gaps]) / (n - 1)
