"""The interval of a coefficient of sums, left out patient by patient."""

from collections.abc import Callable, Hashable, Sequence
from math import isnan, nan, sqrt

import numpy as np
import numpy.typing as npt

from viewer.metrics.estimate import percent
from viewer.metrics.intervals import Interval

_Floats = npt.NDArray[np.float64]
Coefficient = Callable[[_Floats], _Floats]
"""Computes the coefficient of each of many sums, (sums, ...), NaN where undefined."""


def summed(parts: _Floats, clusters: Sequence[Hashable]) -> _Floats:
    """Return the sums of (units, ...) parts by cluster, (clusters, ...)."""
    names = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    sums = np.zeros((len(names), *parts.shape[1:]))
    np.add.at(sums, [names[name] for name in clusters], parts)
    return sums


def jackknife(
    sums: _Floats,
    added: _Floats,
    coefficient: Coefficient,
    lowest: float = -1.0,
    confidence: float = 0.95,
) -> tuple[Interval, str]:
    """Return the interval of a coefficient of agreement, and its method in words.

    The standard error is that of a jackknife over clusters with Student's quantile of
    one less than their number. ``added`` are pseudo-clusters of agreement and of
    disagreement: without them the interval has no width where all agree.
    """
    m, value = len(sums), float(coefficient(sums.sum(axis=0)[None])[0])
    if m < 2 or isnan(value):
        why = "not estimable from one patient" if m == 1 else "not estimable"
        return Interval(nan, nan), f"{why}, {percent(confidence)}"
    from scipy.special import stdtrit

    parts = np.concatenate((sums, added))
    whole, n = parts.sum(axis=0), len(parts)
    left_out = coefficient(whole - parts)
    gaps = left_out - left_out.mean()
    error = sqrt((n - 1) / n * float((gaps * gaps).sum()))
    half = float(stdtrit(m - 1, 0.5 + confidence / 2)) * error
    middle = float(coefficient(whole[None])[0])
    low, high = min(middle - half, value), max(middle + half, value)
    interval = Interval(max(low, lowest), min(high, 1.0))
    return interval, f"jackknife by patient, {percent(confidence)}"
