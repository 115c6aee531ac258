"""From any answer to the one point that stands for it, and its cell (X-03).

A cell stands for its centre, a point for itself, boxes for the centre of the largest,
a mask for its deepest interior point, a heat map for the centre of its greatest
element. Everything is in native pixels.
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


def pointing_point(answer: Answer, grid: Grid, field: BoxPx) -> PointPx:
    """Return the point that stands for an answer.

    ``field`` is the native rectangle that the grid lies on.
    """
    if isinstance(answer, CellAnswer):
        return centre(cell_box(answer.cell, grid, field))
    if isinstance(answer, PointAnswer):
        return answer.point
    if isinstance(answer, BoxesAnswer):
        return centre(max(answer.boxes, key=box_area))
    if isinstance(answer, HeatMapAnswer):
        return most_salient_point(answer)
    return deepest_point(answer.mask.array())


def containing_cell(point: PointPx, grid: Grid, field: BoxPx) -> Cell | None:
    """Return the cell that holds a point, None outside the grid.

    A point on the last edge belongs to the last cell.
    """
    column = _index(point.x, field.x0, field.x1, grid.columns)
    row = _index(point.y, field.y0, field.y1, grid.rows)
    return None if row is None or column is None else Cell(row, column)


def cell_box(cell: Cell, grid: Grid, field: BoxPx) -> BoxPx:
    """Return a cell's native rectangle."""
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


def deepest_point(mask: npt.NDArray[np.bool_]) -> PointPx:
    """Return the centre of the pixel farthest from everything outside the mask.

    Distances are Euclidean, between pixel centres; what lies beyond the image is
    outside. Of equally deep pixels the first in row-major order is taken. The
    (rows, columns) mask has at least one pixel.
    """
    from scipy.ndimage import distance_transform_edt

    ys, xs = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    y0, x0 = int(ys[0]), int(xs[0])
    part = np.pad(mask[y0 : ys[-1] + 1, x0 : xs[-1] + 1], 1)
    depth = distance_transform_edt(part)
    y, x = np.unravel_index(int(np.argmax(depth)), part.shape)
    return PointPx(x0 + int(x) - 0.5, y0 + int(y) - 0.5)


def most_salient_point(answer: HeatMapAnswer) -> PointPx:
    """Return the centre of a heat map's greatest element, the first in row-major."""
    heat, field = answer.heat_map, answer.field
    row, column = divmod(int(np.argmax(heat.values)), heat.columns)
    return PointPx(
        field.x0 + (column + 0.5) * (field.x1 - field.x0) / heat.columns,
        field.y0 + (row + 0.5) * (field.y1 - field.y0) / heat.rows,
    )


def _index(value: float, start: float, stop: float, cells: int) -> int | None:
    """Return which of the cells between two edges a value lies in."""
    if not start <= value <= stop:
        return None
    return min(math.floor((value - start) / (stop - start) * cells), cells - 1)
