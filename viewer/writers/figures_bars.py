"""What figures of bars share: per cent, whiskers that stay on the scale, and n."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]


def percent(values: Sequence[float | None]) -> Floats:
    """Return rates, 0 to 1, in per cent; NaN for a rate that nobody knows."""
    return np.array([np.nan if v is None else 100 * v for v in values])


def within_scale(heights: Floats, errors: Floats) -> Floats:
    """Return lower and upper whisker lengths, (2, n), that stay between 0 and 100 %."""
    return np.stack([np.minimum(errors, heights), np.minimum(errors, 100 - heights)])


def write_counts(
    axes: "Axes",
    x: npt.NDArray[np.floating],
    counts: Sequence[int],
    below: float,
    points: float,
    colour: str,
) -> None:
    """Write each bar's n upright, ``below`` the axis in parts of its height."""
    for position, count in zip(x, counts, strict=True):
        axes.text(
            float(position),
            -below,
            str(count),
            transform=axes.get_xaxis_transform(),
            rotation=90,
            ha="center",
            va="top",
            fontsize=points,
            color=colour,
        )
