"""How far raters agree beyond chance: percent agreement, Cohen's κ, Gwet's AC1, AC2.

A rating is one of the ordered labels, or None if missing. An undefined coefficient is
NaN with the reason, never an error.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import nan
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.metrics.intervals import Interval
from viewer.metrics.jackknife import jackknife, summed
from viewer.metrics.proportions import patient_interval

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
Ratings = Sequence[Hashable | None]
_NO_INTERVAL: Final = Interval(nan, nan)


class Weighting(StrEnum):
    """Partial credit for two unequal labels, by their distance."""

    UNWEIGHTED = "unweighted"
    LINEAR = "linear"
    QUADRATIC = "quadratic"

    def matrix(self, labels: int) -> _Floats:
        """Return (labels, labels) agreement weights: 1 if equal, 0 for the extremes."""
        places = np.arange(labels)
        # At least 1: a scale of one label has no length to divide by.
        apart = np.abs(places[:, None] - places) / max(labels - 1, 1)
        if self is Weighting.UNWEIGHTED:
            return np.eye(labels)
        return np.asarray(1 - (apart if self is Weighting.LINEAR else apart**2))


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient with observed and expected agreement, over ``units``.

    An undefined coefficient is NaN, and ``reason`` says why. ``interval`` is by
    cluster, NaN without clusters, and ``method`` ends with its own.
    """

    value: float
    observed: float
    expected: float
    units: int
    method: str
    reason: str = ""
    interval: Interval = _NO_INTERVAL


Clusters = Sequence[Hashable]
"""Names each unit's patient, whose units are not assumed independent; () for none."""


def percent_agreement(
    first: Ratings,
    second: Ratings,
    labels: Sequence[Hashable],
    clusters: Clusters = (),
) -> Agreement:
    """Return the share of units on which two raters agree, without missing ratings."""
    table = contingency(first, second, labels)
    n = int(table.sum())
    if n == 0:
        return _nothing("percent agreement", "no unit was rated by both")
    observed = float(np.trace(table) / n)
    found = Agreement(observed, observed, 0.0, n, "percent agreement")
    if not clusters:
        return found
    both = (places(first, labels) >= 0) & (places(second, labels) >= 0)
    units = [(float(a == b), 1.0) for a, b in zip(first, second, strict=True)]
    hits = summed(np.array(units)[both], _of(both, clusters))
    share = patient_interval(hits[:, 0], hits[:, 1], n)
    method = f"{found.method}, {share.method}"
    return replace(found, interval=share.interval, method=method)


def cohen_kappa(
    first: Ratings,
    second: Ratings,
    labels: Sequence[Hashable],
    weighting: Weighting = Weighting.UNWEIGHTED,
    clusters: Clusters = (),
) -> Agreement:
    """Return κ (Cohen 1960, 1968) of two raters, with fixed labels.

    Unused labels count in the weights. Units that either did not rate are left out. The
    interval is that of :func:`viewer.metrics.rubric.weighted_kappa`.
    """
    method = f"Cohen's κ, {weighting}, {len(labels)} labels"
    table = contingency(first, second, labels)
    n = int(table.sum())
    if n == 0:
        return _nothing(method, "no unit was rated by both")
    by_chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / n**2
    weights = weighting.matrix(len(labels))
    observed = float((weights * table).sum() / n)
    expected = float((weights * by_chance).sum())
    # Chance alone would agree entirely: κ is 0 / 0.
    if np.trace(by_chance) == 1:
        reason = "both raters used one label only"
        return Agreement(nan, observed, expected, n, method, reason)
    kappa = (observed - expected) / (1 - expected)
    found = Agreement(kappa, observed, expected, n, method)
    if not clusters:
        return found
    tables = tables_by_cluster(first, second, labels, clusters)
    return _with_interval(
        found,
        *jackknife(tables, at_the_ends(tables), lambda each: _kappas(each, weights)),
    )


def gwet_ac(
    raters: Sequence[Ratings],
    labels: Sequence[Hashable],
    weighting: Weighting = Weighting.UNWEIGHTED,
    clusters: Clusters = (),
) -> Agreement:
    """Return AC1, or AC2 with weights, of two or more raters (Gwet 2014).

    Observed agreement uses units with two ratings or more, label frequencies every unit
    with at least one. The interval is that of a jackknife over clusters with four
    pseudo-clusters, as that of κ.
    """
    name = "AC1" if weighting is Weighting.UNWEIGHTED else "AC2"
    method = f"Gwet's {name}, {weighting}, {len(labels)} labels"
    counts = label_counts(raters, labels)
    rated = counts.sum(axis=1)
    units = int(np.count_nonzero(rated > 1))
    if units == 0:
        return _nothing(method, "no unit was rated twice")
    if len(labels) < 2:
        return Agreement(nan, 1.0, 1.0, units, method, "there is one label only")
    weights = weighting.matrix(len(labels))
    parts = _ac_parts(counts, weights)
    observed, expected = (
        float(one[0]) for one in _ac(parts.sum(axis=0)[None], weights)
    )
    value = (observed - expected) / (1 - expected)
    found = Agreement(value, observed, expected, units, method)
    if not clusters:
        return found
    sums = summed(parts[rated > 0], _of(rated > 0, clusters))
    return _with_interval(
        found, *jackknife(sums, _ac_ends(sums), lambda each: _acs(each, weights))
    )


def _ac_parts(counts: _Ints, weights: _Floats) -> _Floats:
    """Return what AC needs of each unit: it is a function of their sum.

    These are its pairwise agreement, whether it was rated twice, whether at all, and
    the share of each label.
    """
    rated = counts.sum(axis=1)
    # Minus 1, because a rating is not paired with itself.
    pairs = (counts * (counts @ weights - 1)).sum(axis=1)
    agreed = np.divide(
        pairs, rated * (rated - 1), out=np.zeros(len(rated)), where=rated > 1
    )
    shares = counts / np.maximum(rated, 1)[:, None]
    return np.column_stack((agreed, rated > 1, rated > 0, shares))


def _ac(sums: _Floats, weights: _Floats) -> tuple[_Floats, _Floats]:
    """Return observed and expected agreement of each of (sums, 3 + labels)."""
    labels = len(weights)
    use = sums[:, 3:] / sums[:, 2:3]
    spread = (use * (1 - use)).sum(axis=1) / (labels * (labels - 1))
    return sums[:, 0] / sums[:, 1], weights.sum() * spread


def _acs(sums: _Floats, weights: _Floats) -> _Floats:
    observed, expected = _ac(sums, weights)
    return np.asarray((observed - expected) / (1 - expected))


def _ac_ends(sums: _Floats) -> _Floats:
    """Return four average clusters: two in full agreement, two in none."""
    _, twice, once, *_ = sums.mean(axis=0)
    added = np.zeros((4, sums.shape[1]))
    added[:, 1:3] = twice, once
    added[:2, 0] = twice
    added[0, 3] = added[1, -1] = once
    added[2:, 3] = added[2:, -1] = once / 2
    return added


def _kappas(tables: _Floats, weights: _Floats) -> _Floats:
    """Return κ of each (labels, labels) table."""
    n = tables.sum(axis=(1, 2))
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    observed = (tables * weights).sum(axis=(1, 2)) / n
    expected = np.einsum("ri,rj,ij->r", rows, columns, weights) / n**2
    return np.asarray((observed - expected) / (1 - expected))


def at_the_ends(tables: _Floats) -> _Floats:
    """Return four tables, each with the mean table's total in one corner.

    Both raters are at either end of the scale, and at opposite ends.
    """
    added = np.zeros((4, *tables.shape[1:]))
    for one, row, column in ((0, 0, 0), (1, -1, -1), (2, 0, -1), (3, -1, 0)):
        added[one, row, column] = tables.sum() / max(len(tables), 1)
    return added


def tables_by_cluster(
    first: Ratings,
    second: Ratings,
    labels: Sequence[Hashable],
    clusters: Clusters,
) -> _Floats:
    """Return the (clusters, labels, labels) counts of units that both rated."""
    a, b = places(first, labels), places(second, labels)
    both = (a >= 0) & (b >= 0)
    units = np.zeros((int(both.sum()), len(labels), len(labels)))
    units[np.arange(len(units)), a[both], b[both]] = 1
    return summed(units, _of(both, clusters))


def _of(kept: npt.NDArray[np.bool_], clusters: Clusters) -> Clusters:
    return [name for name, keep in zip(clusters, kept, strict=True) if keep]


def _with_interval(found: Agreement, interval: Interval, how: str) -> Agreement:
    return replace(found, interval=interval, method=f"{found.method}, {how}")


def contingency(first: Ratings, second: Ratings, labels: Sequence[Hashable]) -> _Floats:
    """Return the (labels, labels) counts of units that both raters rated."""
    a, b = places(first, labels), places(second, labels)
    table = np.zeros((len(labels), len(labels)))
    both = (a >= 0) & (b >= 0)
    np.add.at(table, (a[both], b[both]), 1)
    return table


def label_counts(raters: Sequence[Ratings], labels: Sequence[Hashable]) -> _Ints:
    """Return how many raters gave each unit each label, (units, labels)."""
    if not raters:
        return np.zeros((0, len(labels)), dtype=np.int64)
    by_rater = np.stack([places(ratings, labels) for ratings in raters])
    counts = [(by_rater == place).sum(axis=0) for place in range(len(labels))]
    return np.stack(counts, axis=1)


def places(ratings: Ratings, labels: Sequence[Hashable]) -> _Ints:
    """Return each rating's index among the labels, -1 if it is missing.

    Raises
    ------
    ValueError
        If a rating is not among the labels.
    """
    place = {label: i for i, label in enumerate(labels)} | {None: -1}
    unknown = {rating for rating in ratings if rating not in place}
    if unknown:
        raise ValueError(f"{unknown.pop()!r} is not one of the labels")
    return np.array([place[rating] for rating in ratings], dtype=np.int64)


def _nothing(method: str, reason: str) -> Agreement:
    return Agreement(nan, nan, nan, 0, method, reason)
