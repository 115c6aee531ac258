"""Scores on an ordinal scale: their spread, and the differences of two readers.

Sources: Cohen 1968 (quadratic weights), ReXecution 3.4, 3.5 and Table 3. Undefined
values are NaN with the reason in their method.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt

import numpy as np
import numpy.typing as npt

from viewer.metrics.agreement import Ratings, contingency, places
from viewer.metrics.estimate import Estimate, percent
from viewer.metrics.intervals import Interval
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
    tables = _tables(first, second, labels, clusters)
    value = float(_kappas(tables.sum(axis=0)[None])[0])
    m, named = len(tables), f"quadratic κ, {len(labels)} labels"
    named = "Cohen's κ" if len(labels) == 2 else named
    if m < 2 or isnan(value):
        why = "not estimable from one patient" if m == 1 else "not estimable"
        return Estimate(
            value, Interval(nan, nan), f"{named}, {why}, {percent(confidence)}"
        )
    more = np.concatenate((tables, _at_the_ends(tables)))
    low, high = _jackknife(more, m, confidence)
    interval = Interval(max(min(low, value), -1.0), min(max(high, value), 1.0))
    method = f"{named}, jackknife by patient, {percent(confidence)}"
    return Estimate(value, interval, method)


def _at_the_ends(tables: _Floats) -> _Floats:
    """Return four tables, each with the mean table's total in one corner."""
    added = np.zeros((4, *tables.shape[1:]))
    for one, row, column in ((0, 0, 0), (1, -1, -1), (2, 0, -1), (3, -1, 0)):
        added[one, row, column] = tables.sum() / len(tables)
    return added


def _jackknife(tables: _Floats, m: int, confidence: float) -> tuple[float, float]:
    """Return κ minus and plus Student's quantile of ``m`` times its standard error."""
    from scipy.special import stdtrit

    whole = tables.sum(axis=0)
    left_out = _kappas(whole - tables)
    gaps, n = left_out - left_out.mean(), len(tables)
    error = sqrt((n - 1) / n * float((gaps * gaps).sum()))
    half = float(stdtrit(m - 1, 0.5 + confidence / 2)) * error
    middle = float(_kappas(whole[None])[0])
    return middle - half, middle + half


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
