"""Positions of grid labels: in a corner of their cell that nothing covers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from string import ascii_uppercase
from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QTransform

from viewer.domain.grid import Cell, Grid, LetterAxis
from viewer.domain.image_geometry import Turn
from viewer.ui.canvas.overlays.halo import Face, text_size

_PAD: Final = 2.0
_EDGE: Final = 2.0
"""By which the dark edges of two names may overlap."""
_STEPS_OFF: Final = 5
"""How many lines from its box a name may stand."""
_Floats = npt.NDArray[np.float64]
_Names = tuple[tuple[str, ...], ...]


class Label(NamedTuple):
    """A text and its top left corner, in the view's pixels; hundreds in a frame."""

    text: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class SeenGrid:
    """A grid as the view turns it: its rows and columns there, and their names."""

    grid: Grid
    turn: Turn

    @classmethod
    def under(cls, grid: Grid, native: QTransform) -> Self:
        """Return a grid as it looks where ``native`` maps it."""
        transpose = native.isRotating()
        across = native.m21() if transpose else native.m11()
        down = native.m12() if transpose else native.m22()
        return cls(grid, Turn(transpose, mirror=across < 0, flip=down < 0))

    @property
    def rows(self) -> int:
        """The rows in the view."""
        return self.grid.columns if self.turn.transpose else self.grid.rows

    @property
    def columns(self) -> int:
        """The columns in the view."""
        return self.grid.rows if self.turn.transpose else self.grid.columns

    def label(self, cell: Cell) -> str:
        """Return the name of a cell, given its row and column in the view."""
        row = self.rows - 1 - cell.row if self.turn.flip else cell.row
        column = self.columns - 1 - cell.column if self.turn.mirror else cell.column
        native = Cell(column, row) if self.turn.transpose else Cell(row, column)
        return self.grid.label(native)


@dataclass(frozen=True, eq=False)
class _Size:
    """The cells' names, their widths (rows, columns) and the height of a line."""

    names: _Names
    widths: _Floats
    height: float


def cells_hold_labels(grid: SeenGrid, box: QRectF, face: Face) -> bool:
    """Tell whether the widest name fits a cell of a grid that is drawn in ``box``."""
    widest = text_size(grid.label(Cell(grid.rows - 1, grid.columns - 1)), face)
    return (
        widest.width() <= box.width() / grid.columns
        and widest.height() <= box.height() / grid.rows
    )


def cell_labels(
    grid: SeenGrid, box: QRectF, area: QRectF, obstacles: Sequence[QRectF], face: Face
) -> Iterator[Label]:
    """Yield the names of the cells in sight.

    ``box`` is the grid, ``area`` the view, ``obstacles`` what is to be kept free, all
    in the view's pixels. A name stands at the first free corner of its cell, from the
    top left on, and at the top left where none is free.
    """
    rows = _in_sight(box.top(), box.height() / grid.rows, grid.rows, area.bottom())
    columns = _in_sight(
        box.left(), box.width() / grid.columns, grid.columns, area.right()
    )
    if not len(rows) or not len(columns):
        return
    size = _sizes(grid, face)
    widths = size.widths[rows.start : rows.stop, columns.start : columns.stop]
    x, y = _corners(grid, box, rows, columns, widths, size.height)
    best = _covered(x, y, widths, size.height, obstacles).argmin(axis=0)[None]
    lefts = np.take_along_axis(x, best, 0)[0].tolist()
    tops = np.take_along_axis(y, best, 0)[0].tolist()
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            yield Label(size.names[row][column], lefts[i][j], tops[i][j])


def margin_labels(
    grid: SeenGrid,
    box: QRectF,
    area: QRectF,
    face: Face,
    *,
    far: bool,
    texts: Sequence[QRectF] = (),
) -> Iterator[Label]:
    """Yield row and column names along the grid's edges, kept in the view.

    ``far`` puts them at the right and at the bottom; a name that would lie under one of
    the ``texts`` stands at the opposite edge, or else further inside. Where a name of a
    row and one of a column do not fit into a cell, one of them stands outside, where
    there is room. Of names that are wider or higher than a cell only every second, or
    third, is there.
    """
    letters, numbers = axis_names(grid)
    widest, longest = (
        max((text_size(name, face) for name in names), key=QSizeF.width)
        for names in (letters, numbers)
    )
    seen = _edge(grid, box, area, widest)
    down = _every(box.height() / grid.rows, widest.height() - 2 * _EDGE)
    across = _every(box.width() / grid.columns, longest.width() - 2 * _EDGE)
    taken = list(texts)
    for row, text in list(enumerate(letters))[::down]:
        size = text_size(text, face)
        y = box.top() + (row + 0.5) * box.height() / grid.rows - size.height() / 2
        ends = [seen.left() + _PAD, seen.right() - size.width() - _PAD]
        places = [QRectF(QPointF(x, y), size) for x in ends]
        if area.top() <= y <= area.bottom():
            taken.append(_uncovered(places[::-1] if far else places, taken))
            yield Label(text, taken[-1].left(), y)
    for column, text in list(enumerate(numbers))[::across]:
        size = text_size(text, face)
        x = box.left() + (column + 0.5) * box.width() / grid.columns - size.width() / 2
        ends = [seen.top() + _PAD, seen.bottom() - size.height() - _PAD]
        places = [QRectF(QPointF(x, y), size) for y in ends]
        if area.left() <= x <= area.right():
            place = _uncovered(places[::-1] if far else places, taken)
            yield Label(text, x, place.top())


def _uncovered(ends: Sequence[QRectF], texts: Sequence[QRectF]) -> QRectF:
    """Return a name's place at one of two ends, the first if free, or between them.

    It is under none of the texts, unless these reach from end to end.
    """
    first, way = ends[0], ends[1].topLeft() - ends[0].topLeft()
    count = max(1, round(way.manhattanLength() / first.height()))
    parts = (0.0, 1.0, *(n / count for n in range(1, count)))
    places = (first.translated(way * part) for part in parts)
    free = (p for p in places if not any(p.intersects(text) for text in texts))
    return next(free, first)


def _every(cell: float, name: float) -> int:
    """Return 1 where each of the names fits its cell, 2 where every second does."""
    return max(1, ceil(name / max(cell, 1.0)))


def _edge(grid: SeenGrid, box: QRectF, area: QRectF, name: QSizeF) -> QRectF:
    """Return the rectangle, in the view, along whose inside the names stand."""
    wide, high = name.width() + 2 * _PAD, name.height() + 2 * _PAD
    low = box.height() / grid.rows < 3 * high
    narrow = box.width() / grid.columns < 3 * wide
    if not (low and narrow):
        return box.intersected(area)
    outside = box.adjusted(0, -high, 0, high)
    if outside.top() < area.top() or outside.bottom() > area.bottom():
        outside = box.adjusted(-wide, 0, wide, 0)
    return outside.intersected(area)


def name_place(box: QRectF, size: QSizeF, obstacles: Sequence[QRectF]) -> QRectF:
    """Return the position of a box's name: outside a corner, clear of obstacles.

    Above it on the left if that is free, else below, on the right, or further off;
    where nothing is free, the place that is covered least.
    """
    places = tuple(_beside(box, size))
    # min() keeps the first of equals, and the better places come first.
    return min(places, key=lambda place: _overlap(place, obstacles))


def _beside(box: QRectF, size: QSizeF) -> Iterator[QRectF]:
    """Yield places for a name, the better first."""
    for step in range(_STEPS_OFF):
        above = box.top() - (step + 1) * size.height()
        below = box.bottom() + step * size.height()
        for left in (box.left(), box.right() - size.width()):
            for top in (above, below):
                yield QRectF(QPointF(left, top), size)


def _overlap(place: QRectF, obstacles: Sequence[QRectF]) -> float:
    shared = (place.intersected(other) for other in obstacles)
    return sum(each.width() * each.height() for each in shared)


def axis_names(seen: SeenGrid) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the rows and of the columns in the view."""
    letters = tuple(ascii_uppercase)
    numbers = tuple(str(n + 1) for n in range(max(seen.rows, seen.columns)))
    lettered = (seen.grid.letters is LetterAxis.ROW) is not seen.turn.transpose
    down, across = (letters, numbers) if lettered else (numbers, letters)
    down, across = down[: seen.rows], across[: seen.columns]
    return (
        down[::-1] if seen.turn.flip else down,
        across[::-1] if seen.turn.mirror else across,
    )


def _in_sight(start: float, pitch: float, count: int, end: float) -> range:
    """Return the rows or columns between 0 and ``end`` of the view."""
    first = int(np.clip(np.floor(-start / pitch), 0, count))
    last = int(np.clip(np.ceil((end - start) / pitch), 0, count))
    return range(first, last)


@lru_cache(maxsize=16)
def _sizes(grid: SeenGrid, face: Face) -> _Size:
    names = tuple(
        tuple(grid.label(Cell(row, column)) for column in range(grid.columns))
        for row in range(grid.rows)
    )
    widths = [[text_size(name, face).width() for name in row] for row in names]
    return _Size(names, np.array(widths), text_size(names[0][0], face).height())


def _corners(
    grid: SeenGrid,
    box: QRectF,
    rows: range,
    columns: range,
    widths: _Floats,
    height: float,
) -> tuple[_Floats, _Floats]:
    """Return left and top of each label in each corner: (4, rows, columns)."""
    wide, tall = box.width() / grid.columns, box.height() / grid.rows
    left = np.broadcast_to(box.left() + np.array(columns) * wide + _PAD, widths.shape)
    top = np.array(rows)[:, None] * tall + box.top() + _PAD
    top = np.broadcast_to(top, widths.shape)
    right, bottom = left + wide - 2 * _PAD - widths, top + tall - 2 * _PAD - height
    return np.stack((left, right, left, right)), np.stack((top, top, bottom, bottom))


def _covered(
    x: _Floats,
    y: _Floats,
    widths: _Floats,
    height: float,
    obstacles: Sequence[QRectF],
) -> npt.NDArray[np.bool_]:
    """Tell which places (4, rows, columns) meet an obstacle."""
    edges = [(r.left(), r.top(), r.right(), r.bottom()) for r in obstacles]
    left, top, right, bottom = np.array(edges).reshape(-1, 4).T
    x, y, ends = x[..., None], y[..., None], (x + widths)[..., None]
    meets = (x < right) & (left < ends) & (y < bottom) & (top < y + height)
    return np.asarray(meets.any(axis=-1))
