"""Sums, deviations, quantiles and intervals of resamples, rounded as by NumPy."""

import math
from collections.abc import Sequence
from statistics import NormalDist

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
    """Return the standard deviation with n - 1 below; NaN of fewer than two."""
    return math.sqrt(variance(values))


def variance(values: Sequence[float]) -> float:
    """Return the variance with n - 1 below; NaN of fewer than two."""
    n = len(values)
    if n < 2:
        return math.nan
    mean = pairwise_sum(values) / n
    gaps = [value - mean for value in values]
    return pairwise_sum([gap * gap for gap in gaps]) / (n - 1)


def quantile(ordered: Sequence[float], level: float) -> float:
    """Return a quantile of ascending values, linear between neighbours."""
    place = (len(ordered) - 1) * level
    below = min(math.floor(place), len(ordered) - 1)
    a, b = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
    part = place - below
    gap = b - a
    return b - gap * (1 - part) if part >= 0.5 else a + gap * part


def central_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the central 95 % of values that are numbers; NaN of none."""
    kept = sorted(value for value in values if not math.isnan(value))
    if not kept:
        return math.nan, math.nan
    return quantile(kept, TAIL), quantile(kept, 1 - TAIL)


def bca_bounds(
    samples: Sequence[float], estimate: float, left_out: Sequence[float]
) -> tuple[float, float]:
    """Return the bias-corrected and accelerated 95 % interval (Efron 1987)."""
    normal, n = NormalDist(), len(samples)
    same = sum(value == estimate for value in samples)
    below = sum(value < estimate for value in samples) + 0.5 * same
    share = min(max(below / n, 0.5 / n), 1 - 0.5 / n)
    bias, pull = normal.inv_cdf(share), _acceleration(left_out)
    ordered = sorted(samples)
    bounds = []
    for tail in (TAIL, 1 - TAIL):
        z = bias + normal.inv_cdf(tail)
        level = normal.cdf(bias + z / (1 - pull * z))
        bounds.append(quantile(ordered, level))
    return bounds[0], bounds[1]


def _acceleration(left_out: Sequence[float]) -> float:
    mean = pairwise_sum(left_out) / len(left_out)
    gaps = [mean - value for value in left_out]
    squares = pairwise_sum([gap * gap for gap in gaps])
    cubes = pairwise_sum([gap * gap * gap for gap in gaps])
    spread = squares * math.sqrt(squares)
    return cubes / (6 * spread) if spread else 0.0
