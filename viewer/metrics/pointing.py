"""The point that represents any answer, and its cell (X-03).

A cell is represented by its centre, a point by itself, boxes by the centre of the
largest, a mask by its deepest interior point, a heat map by the centre of its maximum:
of the part that was sent, if any was. Everything is in native pixels.
"""

import math

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    PointAnswer,
)
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell, Grid
from viewer.metrics.boxes import cut_to

_Floats = npt.NDArray[np.float64]


def pointing_point(
    answer: Answer, grid: Grid, field: BoxPx, pixel_aspect: float
) -> PointPx:
    """Return the point that represents an answer.

    ``field`` is the native rectangle that was sent, under the grid. Boxes, masks and
    maps are cropped to it like the reference, unless they lie wholly outside.
    ``pixel_aspect`` is the height of a native pixel over its width.
    """
    if isinstance(answer, CellAnswer):
        return centre(cell_box(answer.cell, grid, field))
    if isinstance(answer, PointAnswer):
        return answer.point
    if isinstance(answer, BoxesAnswer):
        sent = [cut for box in answer.boxes if (cut := cut_to(box, field))]
        return centre(max(sent or answer.boxes, key=box_area))
    if isinstance(answer, HeatMapAnswer):
        return most_salient_point(answer, field)
    mask = answer.mask.array()
    within = mask & _centres_within(field, mask.shape)
    return deepest_point(within if within.any() else mask, pixel_aspect)


def containing_cell(point: PointPx, grid: Grid, field: BoxPx) -> Cell | None:
    """Return the cell that contains a point, None outside the grid.

    A point on the far edge belongs to the last cell.
    """
    column = _index(point.x, field.x0, field.x1, grid.columns)
    row = _index(point.y, field.y0, field.y1, grid.rows)
    return None if row is None or column is None else Cell(row, column)


def cell_box(cell: Cell, grid: Grid, field: BoxPx) -> BoxPx:
    """Return a cell's rectangle in native pixels."""
    width = (field.x1 - field.x0) / grid.columns
    height = (field.y1 - field.y0) / grid.rows
    return BoxPx(
        field.x0 + cell.column * width,
        field.y0 + cell.row * height,
        field.x0 + (cell.column + 1) * width,
        field.y0 + (cell.row + 1) * height,
    )


def centre(box: BoxPx) -> PointPx:
    """Return the middle of a box."""
    return PointPx((box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2)


def box_area(box: BoxPx) -> float:
    """Return the area of a box in square pixels."""
    return (box.x1 - box.x0) * (box.y1 - box.y0)


def deepest_point(mask: npt.NDArray[np.bool_], pixel_aspect: float) -> PointPx:
    """Return the centre of the pixel farthest from everything outside the mask.

    Distances are Euclidean, between pixel centres, with pixels ``pixel_aspect`` times
    taller than wide; everything beyond the image is outside. Among equally deep pixels
    the first in row-major order is taken. The (rows, columns) mask has at least one
    pixel.
    """
    from scipy.ndimage import distance_transform_edt

    ys, xs = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    y0, x0 = int(ys[0]), int(xs[0])
    # A rim of outside, which the transform measures from at the image's edge too.
    part = np.pad(mask[y0 : ys[-1] + 1, x0 : xs[-1] + 1], 1)
    depth = distance_transform_edt(part, sampling=(pixel_aspect, 1.0))
    y, x = np.unravel_index(int(np.argmax(depth)), part.shape)
    # Minus 1 for the rim, plus 1/2 for the centre of the pixel.
    return PointPx(x0 + int(x) - 0.5, y0 + int(y) - 0.5)


def most_salient_point(answer: HeatMapAnswer, sent: BoxPx) -> PointPx:
    """Return the centre of a heat map's maximum, the first in row-major order.

    Only elements whose centres were ``sent`` count, if there are any.
    """
    heat = answer.heat_map
    x, y = _element_centres(answer)
    within = np.outer(_between(y, sent.y0, sent.y1), _between(x, sent.x0, sent.x1))
    values = heat.values
    if within.any():
        values = np.where(within, values, -np.inf)
    row, column = divmod(int(np.argmax(values)), heat.columns)
    return PointPx(float(x[column]), float(y[row]))


def _element_centres(answer: HeatMapAnswer) -> tuple[_Floats, _Floats]:
    """Return x of each column of a map and y of each row, in native pixels."""
    heat, field = answer.heat_map, answer.field
    across, down = np.arange(heat.columns) + 0.5, np.arange(heat.rows) + 0.5
    return (
        field.x0 + across * (field.x1 - field.x0) / heat.columns,
        field.y0 + down * (field.y1 - field.y0) / heat.rows,
    )


def _centres_within(field: BoxPx, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    """Return which of (rows, columns) pixels have their centres in a rectangle."""
    rows, columns = (np.arange(n, dtype=np.float64) + 0.5 for n in shape)
    inside = _between(rows, field.y0, field.y1), _between(columns, field.x0, field.x1)
    return np.asarray(np.outer(*inside))


def _between(values: _Floats, low: float, high: float) -> npt.NDArray[np.bool_]:
    return (low <= values) & (values < high)


def _index(value: float, start: float, stop: float, cells: int) -> int | None:
    """Return the index of the cell, between two edges, that contains a value."""
    if not start <= value <= stop:
        return None
    # The far edge belongs to the last cell.
    return min(math.floor((value - start) / (stop - start) * cells), cells - 1)
