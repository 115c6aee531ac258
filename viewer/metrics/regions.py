"""The native pixels that any answer covers (X-03), and Otsu's threshold."""

import math

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    MaskAnswer,
    PointAnswer,
)
from viewer.domain.geometry import BoxPx, PolygonPx, SizePx
from viewer.domain.grid import Grid
from viewer.metrics.pointing import cell_box

_LEVELS = 256


def region(
    answer: Answer, grid: Grid, field: BoxPx, size: SizePx
) -> npt.NDArray[np.bool_] | None:
    """Return the (rows, columns) mask that an answer covers, None for a point.

    A cell or box covers the pixels whose centres it contains, a heat map those above
    its own Otsu threshold.
    """
    if isinstance(answer, CellAnswer):
        return mask_of_boxes((cell_box(answer.cell, grid, field),), size)
    if isinstance(answer, BoxesAnswer):
        return mask_of_boxes(answer.boxes, size)
    if isinstance(answer, MaskAnswer):
        return answer.mask.array()
    if isinstance(answer, PointAnswer):
        return None
    return stretched(above_otsu(answer.heat_map.values), answer.field, size)


def mask_of_boxes(boxes: tuple[BoxPx, ...], size: SizePx) -> npt.NDArray[np.bool_]:
    """Return the (rows, columns) pixels whose centres lie in at least one box."""
    mask = np.zeros((size.rows, size.columns), dtype=np.bool_)
    for box in boxes:
        rows = _centres(box.y0, box.y1, size.rows)
        mask[rows, _centres(box.x0, box.x1, size.columns)] = True
    return mask


def mask_of_polygon(outline: PolygonPx, size: SizePx) -> npt.NDArray[np.bool_]:
    """Return the (rows, columns) pixels whose centres an outline encloses (even-odd).

    Every edge toggles, in the rows it crosses, the pixels to the right of it.
    """
    # One column more, for edges to the right of the image.
    toggles = np.zeros((size.rows, size.columns + 1), dtype=np.int64)
    ahead = (*outline.points[1:], outline.points[0])
    for a, b in zip(outline.points, ahead, strict=True):
        # A level edge crosses no row of centres, and has no x for one.
        if a.y == b.y:
            continue
        rows = _centres(min(a.y, b.y), max(a.y, b.y), size.rows)
        y = np.arange(rows.start, rows.stop)
        x = a.x + (y + 0.5 - a.y) * (b.x - a.x) / (b.y - a.y)
        first = np.clip(np.ceil(x - 0.5), 0, size.columns).astype(np.int64)
        np.add.at(toggles, (y, first), 1)
    return np.asarray(np.cumsum(toggles, axis=1)[:, :-1] % 2 == 1)


def stretched(
    small: npt.NDArray[np.bool_], field: BoxPx, size: SizePx
) -> npt.NDArray[np.bool_]:
    """Return a (rows, columns) mask stretched over a native rectangle.

    Each pixel takes the element that contains its centre; outside ``field`` none is
    set.
    """
    mask = np.zeros((size.rows, size.columns), dtype=np.bool_)
    rows = _centres(field.y0, field.y1, size.rows)
    columns = _centres(field.x0, field.x1, size.columns)
    down = _elements(rows, field.y0, field.y1, small.shape[0])
    across = _elements(columns, field.x0, field.x1, small.shape[1])
    mask[rows, columns] = small[np.ix_(down, across)]
    return mask


def above_otsu(values: npt.NDArray[np.float32]) -> npt.NDArray[np.bool_]:
    """Return which elements of a map lie above Otsu's threshold.

    The map is scaled to the levels 0 to 255 of its own range, rounded down, as
    CheXlocalize does (Saporta 2022); the threshold is the level with the greatest
    variance between the classes at or below and above it (Otsu 1979), the lowest of
    ties. In a constant map nothing is above it.
    """
    wide = values.astype(np.float64)
    low, high = float(wide.min()), float(wide.max())
    if low == high:
        return np.zeros(values.shape, dtype=np.bool_)
    levels = ((wide - low) / (high - low) * (_LEVELS - 1)).astype(np.int64)
    return np.asarray(levels > _otsu_level(levels))


def _otsu_level(levels: npt.NDArray[np.int64]) -> int:
    """Return Otsu's threshold of integers from 0 to 255, both of which occur.

    With n, s the count and sum at or below a level and N, S those of all, the variance
    between classes is (n·S − N·s)² / (N²·n·(N − n)).
    """
    counts = np.bincount(levels.ravel(), minlength=_LEVELS)
    below = np.cumsum(counts)
    sums = np.cumsum(counts * np.arange(_LEVELS))
    n_all, sum_all = int(below[-1]), int(sums[-1])
    best, level = -1.0, 0
    for i in range(_LEVELS - 1):
        # Python's integers: the squared difference exceeds 64 bits.
        n, s = int(below[i]), int(sums[i])
        between = (n * sum_all - n_all * s) ** 2 / (n * (n_all - n))
        # max keeps the first of equals, the lower level.
        best, level = max((best, level), (between, i), key=lambda pair: pair[0])
    return level


def _centres(low: float, high: float, count: int) -> slice:
    """Return the pixels of an axis whose centres lie in [low, high)."""
    first = min(max(math.ceil(low - 0.5), 0), count)
    return slice(first, min(max(math.ceil(high - 0.5), first), count))


def _elements(
    pixels: slice, start: float, stop: float, count: int
) -> npt.NDArray[np.int64]:
    """Return which of ``count`` elements between two edges contains each centre."""
    centres = np.arange(pixels.start, pixels.stop) + 0.5
    at = np.floor((centres - start) / (stop - start) * count).astype(np.int64)
    return np.clip(at, 0, count - 1)


def box_around(covered: npt.NDArray[np.bool_]) -> BoxPx:
    """Return the box around the pixels of a (rows, columns) mask that has some."""
    rows, columns = (np.flatnonzero(covered.any(axis=1 - axis)) for axis in (0, 1))
    return BoxPx(float(columns[0]), float(rows[0]), columns[-1] + 1.0, rows[-1] + 1.0)
