"""Divergence of two beliefs: Jensen-Shannon divergence with its uncertainty.

S = JSD(p(y | E) ‖ p(y | E without one evidence)) of MEDSYN, equation 1. With base-2
logarithms it lies from 0 to 1.
"""

from dataclasses import dataclass
from itertools import product
from math import comb, fsum, log
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.metrics.intervals import Interval
from viewer.metrics.posterior import JEFFREYS, Posterior
from viewer.metrics.seeding import generator

_Floats = npt.NDArray[np.float64]

MOST_OPTIONS: Final = 8
"""More corners than 8 options have are not tried one by one."""
DRAWS: Final = 2000
"""Pairs of beliefs drawn for the interval of a Monte-Carlo divergence."""
_STEPS: Final = 400
_GAP: Final = 1e-7
"""Nats by which the least divergence may be underestimated."""
_CLOSE: Final = 1e-12


@dataclass(frozen=True, slots=True)
class Divergence:
    """A divergence, in units of the base's logarithm.

    ``value`` is that of the point estimates. Sampled answers differ even if nothing
    changed: ``corrected`` is the divergence of their plain frequencies minus ``bias``,
    their expected divergence by chance, and may be negative; ``se`` is its standard
    error. With log-probabilities ``corrected`` is ``value``, ``bias`` and ``se`` are 0
    and the interval is a strict bound.
    """

    value: float
    corrected: float
    bias: float
    se: float
    interval: Interval
    method: str


def jsd(p: npt.ArrayLike, q: npt.ArrayLike, base: float = 2.0) -> float:
    """Return the Jensen-Shannon divergence of two distributions (Lin 1991).

    Each sums to 1; an option with probability 0 in both contributes nothing.
    """
    one, other = np.asarray(p, np.float64), np.asarray(q, np.float64)
    return float(_nats(one, other)) / log(base)


def divergence(
    full: Posterior, ablated: Posterior, base: float = 2.0, seed: int = 0
) -> Divergence:
    """Return the divergence of two posteriors over the same options.

    If both have counts, it is that of sampled answers, else that between the
    posteriors' bounds.

    Raises
    ------
    ValueError
        If the numbers of options differ, or only one posterior was sampled.
    """
    if len(full.p) != len(ablated.p) or bool(full.counts) != bool(ablated.counts):
        raise ValueError(
            "the posteriors are over different options or of different kinds"
        )
    if full.counts:
        return sampled_divergence(full.counts, ablated.counts, base, seed)
    return bounded_divergence(full, ablated, base)


def bounded_divergence(
    full: Posterior, ablated: Posterior, base: float = 2.0
) -> Divergence:
    """Return the divergence with the minimum and maximum that the bounds allow.

    The divergence is jointly convex in both distributions: the maximum lies at corners
    of the bounds; the minimum is found by the method of Frank and Wolfe (1956), whose
    duality gap makes it a strict lower bound.

    Raises
    ------
    ValueError
        If there are more than ``MOST_OPTIONS`` options.
    """
    value = jsd(full.p, ablated.p, base)
    low, high = value, value
    if not (full.is_exact and ablated.is_exact):
        low = min(value, _least(full, ablated) / log(base))
        high = max(value, _most(full, ablated) / log(base))
    return Divergence(value, value, 0.0, 0.0, Interval(low, high), "bounds")


def sampled_divergence(
    full: tuple[int, ...],
    ablated: tuple[int, ...],
    base: float = 2.0,
    seed: int = 0,
    confidence: float = 0.95,
) -> Divergence:
    """Return the divergence of two samples of answers, counted by option.

    The point estimates are smoothed by Dirichlet(1/2), the corrected divergence is not:
    among plug-in, Miller-Madow, Grassberger's, the jackknife and this one, it came
    closest to the truth on average for 5 to 50 draws. Its bias is that of
    :func:`chance_divergence`.

    The interval comes from ``DRAWS`` pairs of posterior draws given the counts. Its
    lower end is moved down by how much they exceed the estimate, its upper end up by
    how much the plain frequencies exceed them. It begins at 0 if Pearson's test of
    homogeneity (K - 1 degrees of freedom) does not reject, and ends at 1 bit if no
    option was drawn in both. The standard error is the spread of those pairs.

    Raises
    ------
    ValueError
        If one of them is empty.
    """
    n, m = np.asarray(full, np.float64), np.asarray(ablated, np.float64)
    if n.sum() < 1 or m.sum() < 1:
        raise ValueError("a divergence needs at least one answer on either side")
    p, q = _smoothed(n), _smoothed(m)
    value, plain = float(_nats(p, q)), float(_nats(n / n.sum(), m / m.sum()))
    bias = chance_divergence(full, ablated)
    rng = generator(seed, "divergence", repr(full), repr(ablated))
    drawn = _nats(
        rng.dirichlet(n + JEFFREYS, DRAWS), rng.dirichlet(m + JEFFREYS, DRAWS)
    )
    interval = _drawn_interval(drawn, (value, plain), n, m, confidence)
    unit = 1 / log(base)
    return Divergence(
        value * unit,
        (plain - bias) * unit,
        bias * unit,
        float(drawn.std(ddof=1)) * unit,
        Interval(interval.low * unit, interval.high * unit),
        f"Monte Carlo, {int(n.sum())} and {int(m.sum())} answers",
    )


def chance_divergence(first: tuple[int, ...], second: tuple[int, ...]) -> float:
    """Return the expected divergence in nats if both samples have the same source.

    The mean over all ways to divide the pooled answers into samples of these sizes,
    exact: nearly (K - 1) / 4R for K about equally likely options and R draws of either,
    less if one option is nearly certain, 0 if only one was ever drawn.
    """
    n, m = sum(first), sum(second)
    pooled = [a + b for a, b in zip(first, second, strict=True)]
    return fsum(_of_option(count, n, m) for count in pooled)


def _of_option(count: int, n: int, m: int) -> float:
    """Return the contribution of an option drawn ``count`` times in both samples."""
    ways = comb(n + m, n)
    parts = (
        comb(count, k)
        * comb(n + m - count, n - k)
        / ways
        * _part(k / n, (count - k) / m)
        for k in range(max(0, count - m), min(count, n) + 1)
    )
    return fsum(parts)


def _part(p: float, q: float) -> float:
    return fsum(one * log(2 * one / (p + q)) / 2 for one in (p, q) if one)


def _nats(p: _Floats, q: _Floats) -> _Floats:
    """Return the divergence along the last axis, in nats, never negative."""
    middle = (p + q) / 2
    found: _Floats = (_terms(p, middle) + _terms(q, middle)).sum(axis=-1) / 2
    return np.maximum(found, 0.0)


def _terms(p: _Floats, middle: _Floats) -> _Floats:
    ratio = np.divide(p, middle, out=np.ones_like(p), where=p > 0)
    return np.asarray(p * np.log(ratio))


def _ratio(above: _Floats, below: _Floats) -> _Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _smoothed(counts: _Floats) -> _Floats:
    weights = counts + JEFFREYS
    return np.asarray(weights / weights.sum())


def _drawn_interval(
    drawn: _Floats,
    values: tuple[float, float],
    n: _Floats,
    m: _Floats,
    confidence: float,
) -> Interval:
    """Return the interval of sampled divergences, smoothed and plain."""
    tail = (1 - confidence) / 2
    low, high = (float(x) for x in np.quantile(drawn, [tail, 1 - tail]))
    smoothed, plain = values
    low = max(0.0, low - (float(drawn.mean()) - smoothed))
    if _may_be_equal(n, m, confidence):
        low = 0.0
    high += max(0.0, plain - float(drawn.mean()))
    if not np.any((n > 0) & (m > 0)):
        high = log(2)
    return Interval(low, min(high, log(2)))


def _may_be_equal(n: _Floats, m: _Floats, confidence: float) -> bool:
    """Tell whether Pearson's test cannot reject a common source."""
    from scipy.special import chdtri

    pooled = (n + m) / (n.sum() + m.sum())
    expected = [counts.sum() * pooled for counts in (n, m)]
    squares = sum(
        float(_ratio((counts - of) ** 2, of).sum())
        for counts, of in zip((n, m), expected, strict=True)
    )
    return squares <= float(chdtri(n.size - 1, 1 - confidence))


def _most(full: Posterior, ablated: Posterior) -> float:
    one, other = corners(full), corners(ablated)
    return max(float(_nats(np.broadcast_to(p, other.shape), other).max()) for p in one)


def corners(posterior: Posterior) -> _Floats:
    """Return the corners of what a posterior's bounds allow, (corners, options).

    All options but one are at a bound, and that one takes the remainder.

    Raises
    ------
    ValueError
        If there are more than ``MOST_OPTIONS`` options.
    """
    if len(posterior.p) > MOST_OPTIONS:
        raise ValueError(f"bounds of more than {MOST_OPTIONS} options are not tried")
    low, high = np.asarray(posterior.low), np.asarray(posterior.high)
    found = [_with_remainder(low, high, free) for free in range(low.size)]
    return np.unique(np.concatenate([*found, [posterior.p]]), axis=0)


def _with_remainder(low: _Floats, high: _Floats, free: int) -> _Floats:
    """Return the corners at which the option ``free`` takes the remainder."""
    ends = list(product((False, True), repeat=low.size - 1))
    at_high = np.insert(np.asarray(ends, dtype=bool), free, False, axis=1)
    found = np.where(at_high, high, low)
    found[:, free] = 0.0
    left = 1 - found.sum(axis=1)
    found[:, free] = np.maximum(left, 0.0)
    within = (low[free] - _CLOSE <= left) & (left <= high[free] + _CLOSE)
    return np.asarray(found[within])


def _least(full: Posterior, ablated: Posterior) -> float:
    if _overlap(full, ablated):
        return 0.0
    p, q = _inner(full), _inner(ablated)
    best = 0.0
    for step in range(_STEPS):
        slope_p, slope_q = _slope(p, q), _slope(q, p)
        to_p, to_q = _lowest(slope_p, full), _lowest(slope_q, ablated)
        gap = float(slope_p @ (p - to_p) + slope_q @ (q - to_q))
        best = max(best, float(_nats(p, q)) - gap)
        if gap < _GAP:
            break
        share = 2 / (step + 3)
        p, q = p + share * (to_p - p), q + share * (to_q - q)
    return best


def _inner(posterior: Posterior) -> _Floats:
    """Return a distribution within the bounds, 0 only where the upper bound is 0."""
    low, high = np.asarray(posterior.low), np.asarray(posterior.high)
    room = high - low
    share = (1 - low.sum()) / room.sum() if room.sum() > 0 else 0.0
    return np.asarray(low + share * room)


def _overlap(full: Posterior, ablated: Posterior) -> bool:
    """Tell whether some distribution lies within both posteriors' bounds."""
    low = np.maximum(full.low, ablated.low)
    high = np.minimum(full.high, ablated.high)
    return bool(np.all(low <= high)) and low.sum() <= 1 <= high.sum()


def _slope(p: _Floats, q: _Floats) -> _Floats:
    """Return the derivative with respect to ``p``, 0 where it does not exist."""
    ratio = np.divide(2 * p, p + q, out=np.ones_like(p), where=p > 0)
    return np.asarray(np.log(ratio) / 2)


def _lowest(slope: _Floats, posterior: Posterior) -> _Floats:
    """Return the distribution within the bounds that decreases most."""
    low, high = np.asarray(posterior.low), np.asarray(posterior.high)
    found = low.copy()
    left = 1 - low.sum()
    for option in np.argsort(slope, kind="stable"):
        found[option] += min(left, high[option] - low[option])
        left = max(0.0, 1 - found.sum())
    return found
