"""Krippendorff's α: agreement of any number of raters, with missing ratings.

Source: Krippendorff, Computing Krippendorff's alpha-reliability, 2011.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from math import nan

import numpy as np
import numpy.typing as npt

from viewer.metrics.agreement import (
    Agreement,
    Clusters,
    Ratings,
    at_the_ends,
    label_counts,
)
from viewer.metrics.jackknife import jackknife, summed

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


class Scale(StrEnum):
    """What the difference of two labels means."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


def krippendorff_alpha(
    raters: Sequence[Ratings],
    labels: Sequence[float | str],
    scale: Scale,
    clusters: Clusters = (),
) -> Agreement:
    """Return α over the units that were rated twice or more.

    ``observed`` and ``expected`` are disagreements here. NaN, with the reason, if there
    is no such unit, or all have the same label.

    Parameters
    ----------
    raters : sequence of sequences
        Each rater's label of each unit, None where missing.
    labels : sequence
        The ordered labels; numbers on an interval scale.
    scale : Scale
        How differences between labels are weighted.
    clusters : sequence, optional
        Each unit's patient, for an interval as that of κ.
    """
    method = f"Krippendorff's α, {scale}"
    counts = label_counts(raters, labels)
    rated = counts.sum(axis=1)
    pairable = counts[rated > 1]
    if not pairable.size:
        return Agreement(nan, nan, nan, 0, method, "no unit was rated twice")
    together = _together(pairable)
    whole = _disagreement(together.sum(axis=0)[None], labels, scale)
    observed, expected = float(whole[0][0]), float(whole[1][0])
    # No disagreement is possible by chance either: α is 1 - 0 / 0.
    if np.count_nonzero(pairable.sum(axis=0)) == 1:
        reason = "every unit got the same label"
        return Agreement(nan, observed, expected, len(pairable), method, reason)
    value = 1 - observed / expected
    found = Agreement(value, observed, expected, len(pairable), method)
    if not clusters:
        return found
    of = [name for name, n in zip(clusters, rated, strict=True) if n > 1]
    sums = summed(together, of)

    def alphas(each: _Floats) -> _Floats:
        over, by_chance = _disagreement(each, labels, scale)
        return np.asarray(1 - over / by_chance)

    interval, how = jackknife(sums, at_the_ends(sums), alphas)
    return replace(found, interval=interval, method=f"{method}, {how}")


def _together(counts: _Ints) -> _Floats:
    """Return how often two labels met in each unit, (units, labels, labels)."""
    pairs = counts[:, :, None] * counts[:, None, :].astype(np.float64)
    place = np.arange(counts.shape[1])
    pairs[:, place, place] -= counts
    return np.asarray(pairs / (counts.sum(axis=1) - 1)[:, None, None])


def _disagreement(
    together: _Floats, labels: Sequence[float | str], scale: Scale
) -> tuple[_Floats, _Floats]:
    """Return observed and expected disagreement of each (labels, labels) table."""
    used = (together.sum(axis=1) + together.sum(axis=2)) / 2
    n = used.sum(axis=1)
    difference = _squared_differences(used, labels, scale)
    observed = (together * difference).sum(axis=(1, 2)) / n
    expected = np.einsum("ri,rij,rj->r", used, difference, used) / (n * (n - 1))
    return observed, expected


def _squared_differences(
    used: _Floats, labels: Sequence[float | str], scale: Scale
) -> _Floats:
    """Return the squared differences of labels, (tables, labels, labels)."""
    if scale is Scale.NOMINAL:
        return np.tile(1 - np.eye(len(labels)), (len(used), 1, 1))
    if scale is Scale.ORDINAL:
        # The ordinal metric: ratings between the middles of two labels' ratings.
        place = np.cumsum(used, axis=1) - used / 2
    else:
        place = np.broadcast_to(np.asarray(labels, dtype=np.float64), used.shape)
    return np.asarray((place[:, :, None] - place[:, None, :]) ** 2)
