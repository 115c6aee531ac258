"""Scores on an ordinal scale: their spread, and how two readers differ.

Sources: Cohen 1968 (quadratic weights), ReXecution 3.4, 3.5 and Table 3. What cannot be
had is NaN with the reason in its method.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
import numpy.typing as npt

from viewer.metrics.agreement import Ratings, contingency, places
from viewer.metrics.cluster_bootstrap import (
    ClusterEstimate,
    Resampling,
    cluster_bootstrap,
    summary,
)
from viewer.metrics.intervals import resampling_weights
from viewer.metrics.seeding import generator

_Floats = npt.NDArray[np.float64]
_LARGEST_BLOCK = 4_000_000
"""Of weights held at once."""


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation with n - 1; NaN where too few scores are there."""

    mean: float
    deviation: float
    n: int


def spread(scores: Sequence[float]) -> Spread:
    """Return mean and SD of scores; one score has no SD, none has no mean."""
    n = len(scores)
    if n == 0:
        return Spread(nan, nan, 0)
    mean = sum(scores) / n
    squares = sum((score - mean) ** 2 for score in scores)
    return Spread(mean, sqrt(squares / (n - 1)) if n > 1 else nan, n)


def category_agreement(
    first: Ratings, second: Ratings, labels: Sequence[Hashable]
) -> tuple[float, ...]:
    """Return for each label 2·both / (first + second), NaN where nobody gave it.

    It is the specific agreement of Cicchetti and Feinstein 1990: given that one reader
    chose the label, how likely the other did.
    """
    table = contingency(first, second, labels)
    chosen = table.sum(axis=0) + table.sum(axis=1)
    return tuple(
        float(2 * table[i, i] / chosen[i]) if chosen[i] else nan
        for i in range(len(labels))
    )


def mean_absolute_difference(
    first: Sequence[float | None],
    second: Sequence[float | None],
    clusters: Sequence[str],
    resampling: Resampling | None = None,
) -> ClusterEstimate:
    """Return the mean of |first - second| over what both rated, with intervals.

    ``clusters`` names each unit's task; units of one task are drawn together.
    """
    pairs = [
        (cluster, abs(a - b))
        for cluster, a, b in zip(clusters, first, second, strict=True)
        if a is not None and b is not None
    ]
    present, of = np.unique([cluster for cluster, _ in pairs], return_inverse=True)
    totals, units = np.zeros((2, present.size, 1))
    np.add.at(totals[:, 0], of, [gap for _, gap in pairs])
    np.add.at(units[:, 0], of, 1)
    return cluster_bootstrap(totals, units, resampling).micro


def weighted_kappa(
    first: Ratings,
    second: Ratings,
    labels: Sequence[Hashable],
    clusters: Sequence[str],
    resampling: Resampling | None = None,
) -> ClusterEstimate:
    """Return quadratic-weighted κ with fixed labels, bootstrapped over clusters.

    κ = 1 - Σ wᵢⱼ·Oᵢⱼ / Σ wᵢⱼ·Eᵢⱼ with wᵢⱼ = (i - j)² / (K - 1)²; labels that nobody
    used count among the K. NaN where both raters gave one and the same label only;
    resamples in which that is so are left out.
    """
    resampling = resampling or Resampling()
    tables = _tables(first, second, labels, clusters)
    whole = tables.sum(axis=0)
    samples = _samples(tables, resampling)
    left_out = _kappas(whole - tables)
    value = float(_kappas(whole[None])[0])
    kind = f"quadratic κ, {len(labels)} labels, bootstrap over tasks"
    return summary(value, samples, left_out, resampling, kind)


def _tables(
    first: Ratings,
    second: Ratings,
    labels: Sequence[Hashable],
    clusters: Sequence[str],
) -> _Floats:
    """Return the (clusters, labels, labels) counts of units that both rated."""
    a, b = places(first, labels), places(second, labels)
    both = (a >= 0) & (b >= 0)
    present, of = np.unique(np.asarray(list(clusters))[both], return_inverse=True)
    tables = np.zeros((present.size, len(labels), len(labels)))
    np.add.at(tables, (of, a[both], b[both]), 1)
    return tables


def _samples(tables: _Floats, resampling: Resampling) -> _Floats:
    rng = generator(resampling.seed, "tasks")
    tasks = len(tables)
    if not tasks:
        return np.empty(0)
    flat = tables.reshape(tasks, -1)
    block = max(1, _LARGEST_BLOCK // tasks)
    parts = []
    for start in range(0, resampling.replicates, block):
        rows = min(block, resampling.replicates - start)
        weights = resampling_weights(tasks, rows, rng).astype(np.float64)
        parts.append(_kappas((weights @ flat).reshape(rows, *tables.shape[1:])))
    return np.concatenate(parts)


def _kappas(tables: _Floats) -> _Floats:
    """Return the quadratic κ of each (labels, labels) table, NaN where undefined."""
    labels = tables.shape[-1]
    place = np.arange(labels)
    weight = ((place[:, None] - place) / max(labels - 1, 1)) ** 2
    n = tables.sum(axis=(1, 2))
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    observed = (tables * weight).sum(axis=(1, 2)) * n
    expected = np.einsum("ri,rj,ij->r", rows, columns, weight)
    ratio = np.divide(
        observed, expected, out=np.full_like(n, np.nan), where=expected > 0
    )
    return np.asarray(1 - ratio)
