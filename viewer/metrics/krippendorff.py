"""Krippendorff's α: agreement of any number of raters, with missing ratings.

Source: Krippendorff, Computing Krippendorff's alpha-reliability, 2011.
"""

from collections.abc import Sequence
from enum import StrEnum
from math import nan

import numpy as np
import numpy.typing as npt

from viewer.metrics.agreement import Agreement, Ratings, label_counts

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


class Scale(StrEnum):
    """What the difference of two labels means."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


def krippendorff_alpha(
    raters: Sequence[Ratings], labels: Sequence[float | str], scale: Scale
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
    """
    method = f"Krippendorff's α, {scale}"
    counts = label_counts(raters, labels)
    rated = counts.sum(axis=1)
    pairable = counts[rated > 1]
    if not pairable.size:
        return Agreement(nan, nan, nan, 0, method, "no unit was rated twice")
    used = pairable.sum(axis=0)
    difference = _squared_differences(used, labels, scale)
    together = (pairable / (rated[rated > 1, None] - 1)).T @ pairable
    n = used.sum()
    observed = float((together * difference).sum() / n)
    expected = float(used @ difference @ used / (n * (n - 1)))
    # No disagreement is possible by chance either: α is 1 - 0 / 0.
    if np.count_nonzero(used) == 1:
        reason = "every unit got the same label"
        return Agreement(nan, observed, expected, len(pairable), method, reason)
    value = 1 - observed / expected
    return Agreement(value, observed, expected, len(pairable), method)


def _squared_differences(
    used: _Ints, labels: Sequence[float | str], scale: Scale
) -> _Floats:
    """Return the (labels, labels) squared differences; equal labels differ by 0."""
    if scale is Scale.NOMINAL:
        return 1 - np.eye(len(labels))
    if scale is Scale.ORDINAL:
        # The ordinal metric: ratings between the middles of two labels' ratings.
        place = np.cumsum(used) - used / 2
    else:
        place = np.asarray(labels, dtype=np.float64)
    return np.asarray((place[:, None] - place) ** 2)
