"""The pixels that a round brush covers on its way."""

from itertools import pairwise
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.reference import Patch


def brushed(
    line: tuple[PointPx, ...], width: float, size: SizePx, aspect: float = 1.0
) -> Patch | None:
    """Return the pixels that a round brush covers along a line.

    A pixel is covered if its centre is at most half the brush's width away from the
    line, or if a point of the line lies in it.

    Parameters
    ----------
    line : tuple of PointPx
        The way of the brush's centre in native pixels; one point is a dot.
    width : float
        The diameter of the brush, in widths of a native pixel.
    size : SizePx
        The image; what the brush covers beside it is left out.
    aspect : float
        The height of a pixel over its width.

    Returns
    -------
    Patch or None
        None if the brush stays beside the image.
    """
    radius = width / 2
    columns = _reach([p.x for p in line], radius, size.columns)
    rows = _reach([p.y for p in line], radius / aspect, size.rows)
    covered = np.zeros((len(rows), len(columns)), bool)
    for start, end in pairwise(line if len(line) > 1 else line * 2):
        across = _reach([start.x, end.x], radius, size.columns)
        down = _reach([start.y, end.y], radius / aspect, size.rows)
        part = covered[
            down.start - rows.start : down.stop - rows.start,
            across.start - columns.start : across.stop - columns.start,
        ]
        part |= _distances(start, end, across, down, aspect) <= radius**2
    for point in line:
        x, y = floor(point.x), floor(point.y)
        if x in columns and y in rows:
            covered[y - rows.start, x - columns.start] = True
    return Patch.of_array(covered, columns.start, rows.start)


def _reach(ends: list[float], radius: float, count: int) -> range:
    """Return the range of pixels along one axis that a brush stroke can cover."""
    first = min(max(floor(min(ends) - radius), 0), count)
    return range(first, min(max(ceil(max(ends) + radius) + 1, first), count))


def _distances(
    start: PointPx, end: PointPx, across: range, down: range, aspect: float
) -> npt.NDArray[np.float64]:
    """Return the squared distances of pixels' centres from a line, (rows, columns).

    In widths of a pixel.
    """
    x = np.array(across, float) + 0.5 - start.x
    y = ((np.array(down, float) + 0.5 - start.y) * aspect)[:, None]
    right, below = end.x - start.x, (end.y - start.y) * aspect
    # A line without length is a point, wherever along it one looks.
    length = max(right**2 + below**2, np.finfo(float).tiny)
    along = np.clip((x * right + y * below) / length, 0.0, 1.0)
    return np.asarray((x - along * right) ** 2 + (y - along * below) ** 2)
