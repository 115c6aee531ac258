"""Dwell maps: for how long each pixel of an image was in sight."""

from collections.abc import Iterable
from math import ceil

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import BoxPx, SizePx


def dwell_ms(looks: Iterable[tuple[BoxPx, int]], size: SizePx) -> npt.NDArray[np.int64]:
    """Return for how long the centre of each pixel was in sight.

    A rectangle adds its time at four corners, and sums along both axes spread it, so
    that the work grows with looks and pixels and not with their product.

    Parameters
    ----------
    looks : iterable of (BoxPx, int)
        The rectangle in sight in native pixels, half-open, which may reach beyond the
        image, and its milliseconds. A rectangle without area adds nothing.
    size : SizePx
        That of the image.

    Returns
    -------
    ndarray of int64, (rows, columns)
        Milliseconds, exact.
    """
    corners = np.zeros((size.rows + 1, size.columns + 1), np.int64)
    for seen, duration_ms in looks:
        row0, row1 = (_first(edge, size.rows) for edge in (seen.y0, seen.y1))
        column0, column1 = (_first(edge, size.columns) for edge in (seen.x0, seen.x1))
        if row0 < row1 and column0 < column1:
            corners[row0, column0] += duration_ms
            corners[row1, column1] += duration_ms
            corners[row0, column1] -= duration_ms
            corners[row1, column0] -= duration_ms
    return corners.cumsum(0).cumsum(1)[:-1, :-1]


def _first(edge: float, length: int) -> int:
    """Return the first pixel whose centre is not before an edge, within an axis."""
    return min(max(ceil(edge - 0.5), 0), length)
