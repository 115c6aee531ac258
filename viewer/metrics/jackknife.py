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
    disagreement: without them the interval has no width where all agree. They move its
    middle, by more than clusters of several independent units vary; so it reaches at
    least as far as the interval without them, where that is defined.
    """
    m, value = len(sums), float(coefficient(sums.sum(axis=0)[None])[0])
    if m < 2 or isnan(value):
        why = "not estimable from one patient" if m == 1 else "not estimable"
        return Interval(nan, nan), f"{why}, {percent(confidence)}"
    from scipy.special import stdtrit

    parts = np.concatenate((sums, added))
    quantile = float(stdtrit(m - 1, 0.5 + confidence / 2))
    half, alone = (quantile * _error(of, coefficient) for of in (parts, sums))
    middle = float(coefficient(parts.sum(axis=0)[None])[0])
    reach = 0.0 if isnan(alone) else alone
    low, high = min(middle - half, value - reach), max(middle + half, value + reach)
    interval = Interval(max(low, lowest), min(high, 1.0))
    return interval, f"jackknife by patient, {percent(confidence)}"


def _error(sums: _Floats, coefficient: Coefficient) -> float:
    """Return the standard error of a jackknife, NaN if a coefficient is undefined."""
    n = len(sums)
    # Rounded: of what is left out, nothing may stay that would make a 0 / 0 a number.
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = coefficient(np.round(sums.sum(axis=0) - sums, 11))
    if not np.isfinite(left_out).all():
        return nan
    gaps = left_out - left_out.mean()
    return sqrt((n - 1) / n * float((gaps * gaps).sum()))
