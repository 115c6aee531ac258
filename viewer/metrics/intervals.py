"""Intervals and standard errors of rates, with clusters where items share a patient."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A lower and an upper bound."""

    low: float
    high: float


def wilson(k: int, n: int, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval of ``k`` of ``n`` (Wilson 1927).

    Raises
    ------
    ValueError
        If ``n`` is not positive or ``k`` not from 0 to ``n``.
    """
    if n <= 0 or not 0 <= k <= n:
        raise ValueError(f"there is no rate of {k} out of {n}")
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    p, z2 = k / n, z * z
    middle = p + z2 / (2 * n)
    half = z * sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    # Exactly 0 and 1, which rounding would miss by a last digit.
    low = 0.0 if k == 0 else (middle - half) / (1 + z2 / n)
    high = 1.0 if k == n else (middle + half) / (1 + z2 / n)
    return Interval(low, high)


def cluster_standard_error(clusters: Sequence[Sequence[float]]) -> float:
    """Return √Σ_c(Σ_i(x_ic − x̄))² / n (Miller 2024, arXiv 2411.00640)."""
    n = sum(len(cluster) for cluster in clusters)
    mean = sum(sum(cluster) for cluster in clusters) / n
    return sqrt(sum(sum(x - mean for x in cluster) ** 2 for cluster in clusters)) / n


def resampling_weights(n: int, replicates: int, rng: np.random.Generator) -> _Ints:
    """Return how often each of ``n`` units is drawn in n draws with replacement.

    Shape (replicates, n), each row summing to n.
    """
    drawn = rng.integers(0, n, size=(replicates, n))
    # Each replicate gets numbers of its own, so that one bincount serves all.
    drawn += np.arange(replicates)[:, None] * n
    counts = np.bincount(drawn.ravel(), minlength=replicates * n)
    return counts.reshape(replicates, n)


def percentile_interval(samples: _Floats, confidence: float = 0.95) -> Interval:
    """Return the central quantiles of bootstrap replicates, ignoring NaN.

    Without replicates the bounds are NaN.
    """
    defined = samples[~np.isnan(samples)]
    if defined.size == 0:
        return Interval(float("nan"), float("nan"))
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(float(low), float(high))


def bca_interval(
    samples: _Floats, estimate: float, jackknife: _Floats, confidence: float = 0.95
) -> Interval:
    """Return the bias-corrected and accelerated interval (Efron 1987).

    Parameters
    ----------
    samples : (replicates,) float
        Bootstrap replicates of the estimate.
    estimate : float
        The estimate on the data themselves.
    jackknife : (clusters,) float
        The estimate with each cluster left out in turn.
    """
    normal = NormalDist()
    # A rate has few values: resamples that equal it count half to either side.
    below = np.count_nonzero(samples < estimate) + 0.5 * np.count_nonzero(
        samples == estimate
    )
    # Kept off 0 and 1, which have no normal quantile.
    share = min(max(below / samples.size, 0.5 / samples.size), 1 - 0.5 / samples.size)
    bias, acceleration = normal.inv_cdf(share), _acceleration(jackknife)
    tail = (1 - confidence) / 2
    bounds = [
        _bca_level(normal, bias, acceleration, level) for level in (tail, 1 - tail)
    ]
    low, high = np.quantile(samples, bounds)
    return Interval(float(low), float(high))


def _acceleration(jackknife: _Floats) -> float:
    gap = jackknife.mean() - jackknife
    # products and a root, which every machine rounds alike, where powers are not
    squares = float((gap * gap).sum())
    spread = squares * sqrt(squares)
    return float((gap * gap * gap).sum()) / (6 * spread) if spread else 0.0


def _bca_level(
    normal: NormalDist, bias: float, acceleration: float, level: float
) -> float:
    z = bias + normal.inv_cdf(level)
    return normal.cdf(bias + z / (1 - acceleration * z))
