"""Rates of items that share patients: whole patients are resampled.

Cells (findings × models, say) are resampled together, so that their macro mean has an
interval too. The sums may be hits, or the hits of one run minus those of another on the
same trials: the rate is then the paired difference.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.metrics.estimate import Estimate, percent
from viewer.metrics.intervals import (
    Interval,
    bca_interval,
    percentile_interval,
    resampling_weights,
)
from viewer.metrics.seeding import generator

_Floats = npt.NDArray[np.float64]
_Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]
_LARGEST_BLOCK = 4_000_000
"""Of weights held at once."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """Number of draws, seed, and confidence level of the intervals."""

    replicates: int = 10_000
    seed: int = 0
    confidence: float = 0.95

    def describe(self, kind: str) -> str:
        """Return the name of a ``kind`` of interval from these draws."""
        return (
            f"{kind}, {percent(self.confidence)}, {self.replicates:,} resamples, "
            f"seed {self.seed}"
        )


@dataclass(frozen=True, slots=True)
class ClusterEstimate:
    """A rate, the SD of its resamples, and its intervals; NaN without any trial.

    With one patient there is no variation between patients to estimate: SD and
    intervals are NaN, and their method says so. With several patients whose resamples
    are all equal (all hits, say) the intervals have no width, and their method says
    that.
    """

    value: float
    standard_deviation: float
    percentile: Estimate
    bca: Estimate


@dataclass(frozen=True, slots=True)
class ClusterRates:
    """Each cell's rate, the unweighted mean over cells, and the pooled rate."""

    cells: tuple[ClusterEstimate, ...]
    macro: ClusterEstimate
    micro: ClusterEstimate


def cluster_bootstrap(
    totals: _Numbers, trials: _Numbers, resampling: Resampling | None = None
) -> ClusterRates:
    """Return rates with patient-cluster intervals, percentile and BCa.

    Parameters
    ----------
    totals, trials : (patients, cells)
        Sums per patient and cell; the result of a seed depends on the order of the
        patients. A mean leaves out a cell that has no trial in a resample.
    resampling : Resampling, optional
        10,000 draws of seed 0 at 95 % if not given.
    """
    resampling = resampling or Resampling()
    samples = _samples(totals, trials, resampling)
    left_out = rates(totals.sum(axis=0) - totals, trials.sum(axis=0) - trials)
    whole = rates(totals.sum(axis=0)[None], trials.sum(axis=0)[None])[0]
    columns = [
        summary(float(whole[i]), samples[:, i], left_out[:, i], resampling)
        for i in range(whole.size)
    ]
    return ClusterRates(tuple(columns[:-2]), columns[-2], columns[-1])


def rates(totals: _Numbers, trials: _Numbers) -> _Floats:
    """Return (rows, cells + 2) rates: each cell's, their mean, and the pooled rate.

    NaN for a row without trials; the mean is over the cells that have any.
    """
    cells = _ratio(totals, trials)
    there = trials > 0
    mean = _ratio(np.where(there, cells, 0.0).sum(axis=1), there.sum(axis=1))
    pooled = _ratio(totals.sum(axis=1), trials.sum(axis=1))
    return np.column_stack((cells, mean, pooled))


def summary(
    value: float,
    samples: _Floats,
    left_out: _Floats,
    resampling: Resampling,
    kind: str = "patient-cluster bootstrap",
) -> ClusterEstimate:
    """Return an estimate from its resamples and from its leave-one-patient-out values.

    The two have the shapes (replicates,) and (patients,). Resamples without any trial
    (NaN) are left out. A leave-one-out value is NaN only if no other patient has a
    trial.
    """
    defined = samples[~np.isnan(samples)]
    spread, percentile, bca = math.nan, _NOTHING, _NOTHING
    if not defined.size:
        kind = f"{kind}, no trial"
    elif np.isnan(left_out).any():
        kind = f"{kind}, not estimable from one patient"
    else:
        # Rounding could leave equal resamples a standard deviation that is not quite 0.
        same = not np.ptp(defined)
        spread = 0.0 if same else float(defined.std(ddof=1))
        percentile = percentile_interval(defined, resampling.confidence)
        bca = bca_interval(defined, value, left_out, resampling.confidence)
        kind = f"{kind}, every resample the same" if same else kind
    return ClusterEstimate(
        value,
        spread,
        Estimate(value, percentile, resampling.describe(f"{kind}, percentile")),
        Estimate(value, bca, resampling.describe(f"{kind}, BCa")),
    )


_NOTHING = Interval(math.nan, math.nan)


def _samples(totals: _Numbers, trials: _Numbers, resampling: Resampling) -> _Floats:
    """Return the (replicates, cells + 2) rates of resampled patients."""
    rng = generator(resampling.seed, "patients")
    patients = totals.shape[0]
    if not patients:
        return rates(totals.sum(axis=0)[None], trials.sum(axis=0)[None])
    block = max(1, _LARGEST_BLOCK // patients)
    parts = []
    for start in range(0, resampling.replicates, block):
        rows = min(block, resampling.replicates - start)
        # As floats: numpy multiplies matrices of integers without BLAS.
        weights = resampling_weights(patients, rows, rng).astype(np.float64)
        parts.append(rates(weights @ totals, weights @ trials))
    return np.concatenate(parts)


def _ratio(above: _Numbers, below: _Numbers) -> _Floats:
    ratio = np.full(below.shape, np.nan)
    np.divide(above, below, out=ratio, where=below > 0)
    return ratio
