"""How far raters agree beyond chance: percent agreement, Cohen's κ, Gwet's AC1, AC2.

A rating is one of the ordered labels, or None if missing. An undefined coefficient is
NaN with the reason, never an error.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import nan

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
Ratings = Sequence[Hashable | None]


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

    An undefined coefficient is NaN, and ``reason`` says why.
    """

    value: float
    observed: float
    expected: float
    units: int
    method: str
    reason: str = ""


def percent_agreement(
    first: Ratings, second: Ratings, labels: Sequence[Hashable]
) -> Agreement:
    """Return the share of units on which two raters agree, without missing ratings."""
    table = contingency(first, second, labels)
    n = int(table.sum())
    if n == 0:
        return _nothing("percent agreement", "no unit was rated by both")
    observed = float(np.trace(table) / n)
    return Agreement(observed, observed, 0.0, n, "percent agreement")


def cohen_kappa(
    first: Ratings,
    second: Ratings,
    labels: Sequence[Hashable],
    weighting: Weighting = Weighting.UNWEIGHTED,
) -> Agreement:
    """Return κ (Cohen 1960, 1968) of two raters, with fixed labels.

    Unused labels count in the weights. Units that either did not rate are left out.
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
    return Agreement(kappa, observed, expected, n, method)


def gwet_ac(
    raters: Sequence[Ratings],
    labels: Sequence[Hashable],
    weighting: Weighting = Weighting.UNWEIGHTED,
) -> Agreement:
    """Return AC1, or AC2 with weights, of two or more raters (Gwet 2014).

    Observed agreement uses units with two ratings or more, label frequencies every unit
    with at least one.
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
    observed = _weighted_pairs(counts[rated > 1], weights)
    use = (counts[rated > 0] / rated[rated > 0, None]).mean(axis=0)
    spread = float((use * (1 - use)).sum()) / (len(labels) * (len(labels) - 1))
    expected = float(weights.sum()) * spread
    value = (observed - expected) / (1 - expected)
    return Agreement(value, observed, expected, units, method)


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


def _weighted_pairs(counts: _Ints, weights: _Floats) -> float:
    """Return the mean over units of their pairwise agreement."""
    rated = counts.sum(axis=1)
    # Minus 1, because a rating is not paired with itself.
    pairs = (counts * (counts @ weights - 1)).sum(axis=1)
    return float((pairs / (rated * (rated - 1))).mean())


def _nothing(method: str, reason: str) -> Agreement:
    return Agreement(nan, nan, nan, 0, method, reason)
