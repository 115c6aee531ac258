"""Helpers for bar figures: percentages, clipped whiskers, and counts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from viewer.domain.report import BarSeries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

_GAP_PT, _DIGIT, _MARGIN_PT = 2.0, 0.64, 3.0
"""Between axis and n, the width of a digit of a point's letters, and below the n."""


def percent(values: Sequence[float | None]) -> Floats:
    """Return rates, 0 to 1, in percent; NaN for an unknown rate."""
    return np.array([np.nan if v is None else 100 * v for v in values])


def within_scale(heights: Floats, errors: Floats) -> Floats:
    """Return lower and upper whisker lengths, (2, n), that stay between 0 and 100 %."""
    return np.stack([np.minimum(errors, heights), np.minimum(errors, 100 - heights)])


def whiskers(series: BarSeries) -> Floats:
    """Return whisker lengths below and above the bars' ends, (2, n) in percent."""
    heights = percent(series.values)
    if not series.limits:
        return within_scale(heights, percent(series.errors))
    low, high = (percent([e and e[side] for e in series.limits]) for side in (0, 1))
    return np.maximum(np.stack([heights - low, high - heights]), 0.0)


def write_counts(
    axes: "Axes",
    x: npt.NDArray[np.floating],
    counts: Sequence[int],
    points: float,
    colour: str,
) -> None:
    """Write each bar's n vertically, at a font size in points, below the axis."""
    for position, count in zip(x, counts, strict=True):
        axes.annotate(
            str(count),
            (float(position), 0),
            (0, -_GAP_PT),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            rotation=90,
            ha="center",
            va="top",
            fontsize=points,
            color=colour,
        )


def room_for_counts(series: Sequence[BarSeries], points: float) -> float:
    """Return the points that n takes between the axis and the names of groups."""
    digits = len(str(max((n for one in series for n in one.counts), default=0)))
    return _GAP_PT + _DIGIT * points * digits + _MARGIN_PT
