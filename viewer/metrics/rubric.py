"""Scores on an ordinal scale: their spread, and the differences of two readers.

Sources: Cohen 1968 (quadratic weights), ReXecution 3.4, 3.5 and Table 3. Undefined
values are NaN with the reason in their method.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
import numpy.typing as npt

from viewer.metrics.agreement import (
    Ratings,
    at_the_ends,
    contingency,
    tables_by_cluster,
)
from viewer.metrics.estimate import Estimate
from viewer.metrics.jackknife import jackknife
from viewer.metrics.pairing import bounded_mean

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and standard deviation with n - 1; NaN if there are too few scores."""

    mean: float
    deviation: float
    n: int


def spread(scores: Sequence[float]) -> Spread:
    """Return mean and SD of scores; one score has no SD, no scores have no mean."""
    n = len(scores)
    if n == 0:
        return Spread(nan, nan, 0)
    mean = sum(scores) / n
    squares = sum((score - mean) ** 2 for score in scores)
    return Spread(mean, sqrt(squares / (n - 1)) if n > 1 else nan, n)


def category_agreement(
    first: Ratings, second: Ratings, labels: Sequence[Hashable]
) -> tuple[float, ...]:
    """Return for each label 2·both / (first + second), NaN if nobody chose it.

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
    most: float,
) -> Estimate:
    """Return the mean of |first - second| over what both rated, with its interval.

    ``clusters`` names each unit's patient, whose units are not assumed independent;
    ``most`` is the greatest difference on the scale.
    """
    by: dict[str, list[float]] = defaultdict(list)
    for cluster, a, b in zip(clusters, first, second, strict=True):
        if a is not None and b is not None:
            by[cluster].append(abs(a - b))
    return bounded_mean(by.values(), (0.0, most))


def weighted_kappa(
    first: Ratings,
    second: Ratings,
    labels: Sequence[Hashable],
    clusters: Sequence[str],
    confidence: float = 0.95,
) -> Estimate:
    """Return quadratic-weighted κ with fixed labels, and its interval by cluster.

    κ = 1 - Σ wᵢⱼ·Oᵢⱼ / Σ wᵢⱼ·Eᵢⱼ with wᵢⱼ = (i - j)² / (K - 1)²; unused labels count
    among the K. NaN if both raters used only one and the same label. Of two labels it
    is Cohen's unweighted κ.

    The interval is that of a jackknife over clusters with Student's quantile, four
    pseudo-clusters added: both raters at either end of the scale, and at opposite ends.
    Without them it has no width if raters agree, and a coverage of 9 % for rare labels.
    """
    tables = tables_by_cluster(first, second, labels, clusters)
    named = f"quadratic κ, {len(labels)} labels"
    named = "Cohen's κ" if len(labels) == 2 else named
    interval, how = jackknife(
        tables, at_the_ends(tables), _kappas, confidence=confidence
    )
    value = float(_kappas(tables.sum(axis=0)[None])[0])
    return Estimate(value, interval, f"{named}, {how}")


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
