"""Rasterise outlines by COCO's rule.

COCO's evaluation (pycocotools, ``frPyObjects``) draws an outline as a chain of points
on a grid five times as fine and records, for each column of pixels, the rows at which
the chain crosses the middle of that column. The inside lies between an odd and an even
crossing. This is neither "the centres inside" nor "every pixel touched", and results
are compared to the pixel, so the rule is reproduced with its roundings.
"""

from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import PolygonPx, SizePx

FINE: Final = 5
"""Steps of the fine grid in a pixel; the middle one of them crosses a column."""
_MIDDLE: Final = FINE // 2

_Ints = npt.NDArray[np.int64]


def covered(outline: PolygonPx, size: SizePx) -> npt.NDArray[np.bool_]:
    """Return the (rows, columns) pixels that an outline covers.

    Parameters
    ----------
    outline : PolygonPx
        Its corners in native pixels, from the upper left corner of the image; they may
        lie outside the image, and its sides may cross each other.
    size : SizePx
        The image's size.
    """
    fine = [(_rounded(FINE * p.x), _rounded(FINE * p.y)) for p in outline.points]
    flips = np.zeros(size.columns * size.rows + 1, dtype=np.int64)
    for (x0, y0), (x1, y1) in pairwise((*fine, fine[0])):
        columns, heights = _crossings(x0, y0, x1, y1)
        inside = (columns >= 0) & (columns < size.columns)
        rows = np.ceil(np.clip(_pixels(heights[inside]), 0, size.rows))
        np.add.at(flips, columns[inside] * size.rows + rows.astype(np.int64), 1)
    down_columns = np.cumsum(flips[:-1]).reshape(size.columns, size.rows)
    return np.asarray(down_columns.T % 2 == 1)


def _rounded(value: float) -> int:
    return int(value + 0.5)


def _pixels(fine: _Ints) -> npt.NDArray[np.float64]:
    """Convert steps of the fine grid to pixels, counted between centres."""
    return (fine + 0.5) / FINE - 0.5


def _crossings(x0: int, y0: int, x1: int, y1: int) -> tuple[_Ints, _Ints]:
    """Return the columns that a side crosses, and the upper of both steps' heights."""
    across, down = _chain(x0, y0, x1, y1)
    left = np.minimum(across[1:], across[:-1])
    crosses = (across[1:] != across[:-1]) & (left % FINE == _MIDDLE)
    return left[crosses] // FINE, np.minimum(down[1:], down[:-1])[crosses]


def _chain(x0: int, y0: int, x1: int, y1: int) -> tuple[_Ints, _Ints]:
    """Return the steps of a side: one for each along its longer direction.

    They are counted from its left or upper end, because the rounding depends on it.
    """
    wide, high = abs(x1 - x0), abs(y1 - y0)
    if wide >= high:
        if x0 > x1:
            x0, y0, x1, y1 = x1, y1, x0, y0
        steps = np.arange(wide + 1)
        slope = (y1 - y0) / wide if wide else 0.0
        return x0 + steps, np.trunc(y0 + slope * steps + 0.5).astype(np.int64)
    if y0 > y1:
        x0, y0, x1, y1 = x1, y1, x0, y0
    steps = np.arange(high + 1)
    slope = (x1 - x0) / high
    return np.trunc(x0 + slope * steps + 0.5).astype(np.int64), y0 + steps
