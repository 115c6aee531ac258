"""Answers drawn by hand on the image: one stroke from press to release."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen, QTransform

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    MaskAnswer,
    PointAnswer,
)
from viewer.domain.form import PlaceKind
from viewer.domain.form_values import Canvas
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell
from viewer.domain.reference import Mask
from viewer.ui.canvas.marks.brush import BrushLine

LEAST_BOX_PX: Final = 2.0
"""A box narrower or flatter than this, in native pixels, was a click."""


def clipped(canvas: Canvas, at: PointPx) -> PointPx:
    """Return a position clamped to the image."""
    # An image is half-open: its right and lower edges are outside.
    edge = float(np.nextafter(1.0, 0.0))
    return PointPx(
        min(max(at.x, 0.0), canvas.size.columns * edge),
        min(max(at.y, 0.0), canvas.size.rows * edge),
    )


def cell_at(canvas: Canvas, at: PointPx) -> Cell | None:
    """Return the cell under a native position, None outside the grid."""
    field, grid = canvas.field, canvas.grid
    row = floor((at.y - field.y0) / (field.y1 - field.y0) * grid.rows)
    column = floor((at.x - field.x0) / (field.x1 - field.x0) * grid.columns)
    inside = 0 <= row < grid.rows and 0 <= column < grid.columns
    return Cell(row, column) if inside else None


@dataclass(frozen=True, slots=True)
class Hand:
    """The modifiers of a stroke.

    ``add`` keeps what was placed before, ``erase`` takes away from it, ``fill`` takes
    the inside of the line instead of its width; ``brush`` is its width in widths of a
    native pixel.
    """

    add: bool = False
    erase: bool = False
    fill: bool = False
    brush: float = 1.0


class Stroke(Protocol):
    """One press, its moves and its release, in native pixels."""

    def to(self, at: PointPx) -> None:
        """Extend the stroke to a position."""

    def answer(self) -> Answer | None:
        """Return the answer if the stroke ends here."""

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> bool:
        """Draw a stroke that is not an answer yet; False if its answer is drawn."""


@dataclass(eq=False)
class CellStroke:
    """Chooses the cell under the cursor; outside the grid the choice stays."""

    canvas: Canvas
    before: Answer | None
    at: PointPx

    def to(self, at: PointPx) -> None:
        """Extend the stroke to a position."""
        self.at = at

    def answer(self) -> Answer | None:
        """Return the cell."""
        cell = cell_at(self.canvas, self.at)
        return self.before if cell is None else CellAnswer(cell, "reader")

    def paint(self, *_: object) -> bool:
        """Draw nothing; the answer itself is drawn."""
        return False


@dataclass(eq=False)
class PointStroke:
    """Puts a point under the cursor, on the image."""

    canvas: Canvas
    at: PointPx

    def to(self, at: PointPx) -> None:
        """Extend the stroke to a position."""
        self.at = at

    def answer(self) -> Answer | None:
        """Return the point."""
        return PointAnswer(clipped(self.canvas, self.at))

    def paint(self, *_: object) -> bool:
        """Draw nothing; the answer itself is drawn."""
        return False


@dataclass(eq=False)
class BoxStroke:
    """Spans a box between press and release; a click alone changes nothing."""

    canvas: Canvas
    before: Answer | None
    hand: Hand
    start: PointPx

    def __post_init__(self) -> None:
        self.start = self.end = clipped(self.canvas, self.start)

    def to(self, at: PointPx) -> None:
        """Extend the stroke to a position."""
        self.end = clipped(self.canvas, at)

    def answer(self) -> Answer | None:
        """Return the box, after the previous ones if adding."""
        (x0, x1) = sorted((self.start.x, self.end.x))
        (y0, y1) = sorted((self.start.y, self.end.y))
        if min(x1 - x0, y1 - y0) < LEAST_BOX_PX:
            return self.before
        boxes: tuple[BoxPx, ...] = ()
        if self.hand.add and isinstance(self.before, BoxesAnswer):
            boxes = self.before.boxes
        return BoxesAnswer((*boxes, BoxPx(x0, y0, x1, y1)))

    def paint(self, *_: object) -> bool:
        """Draw nothing; the answer itself is drawn."""
        return False


class MaskStroke:
    """A line as wide as the brush, or the inside of a closed one."""

    def __init__(
        self, canvas: Canvas, before: Answer | None, hand: Hand, at: PointPx
    ) -> None:
        self._canvas, self._before, self._hand = canvas, before, hand
        self._line = BrushLine(at, hand.brush, canvas.geometry, erases=hand.erase)
        self._ring = QPainterPath(QPointF(at.x, at.y))

    def to(self, at: PointPx) -> None:
        """Extend the stroke to a position."""
        self._line.to(at)
        self._ring.lineTo(at.x, at.y)

    def answer(self) -> Answer | None:
        """Return the mask with the stroke added or erased."""
        before = self._mask_before()
        drawn = self._inside() if self._hand.fill else self._brushed()
        mask = before & ~drawn if self._hand.erase else before | drawn
        return MaskAnswer(Mask.of_array(mask)) if mask.any() else None

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> bool:
        """Draw the line at its final width, or the inside of the ring."""
        if not self._hand.fill:
            self._line.paint(painter, native, color)
            return True
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setWorldTransform(native, combine=True)
        shade = QColor(Qt.GlobalColor.black if self._hand.erase else color)
        shade.setAlpha(110)
        painter.fillPath(self._ring, shade)
        # A pen of width 0 is one pixel wide at any zoom.
        painter.setPen(QPen(color, 0))
        painter.drawPath(self._ring)
        painter.restore()
        return True

    def _mask_before(self) -> npt.NDArray[np.bool_]:
        if isinstance(self._before, MaskAnswer):
            return self._before.mask.array()
        return self._nothing()

    def _nothing(self) -> npt.NDArray[np.bool_]:
        return np.zeros((self._canvas.size.rows, self._canvas.size.columns), bool)

    def _brushed(self) -> npt.NDArray[np.bool_]:
        """Return the native pixels that the brush covers."""
        patch = self._line.patch()
        return self._nothing() if patch is None else patch.on(self._canvas.size)

    def _inside(self) -> npt.NDArray[np.bool_]:
        """Return the native pixels inside the ring."""
        size = self._canvas.size
        picture = QImage(size.columns, size.rows, QImage.Format.Format_Grayscale8)
        picture.fill(0)
        painter = QPainter(picture)
        painter.fillPath(self._ring, QColor(Qt.GlobalColor.white))
        painter.end()
        rows = np.frombuffer(picture.constBits(), np.uint8)
        # Qt pads rows to whole multiples of 32 bits.
        rows = rows.reshape(size.rows, picture.bytesPerLine())
        return np.asarray(rows[:, : size.columns] > 0)


Begin = Callable[[Canvas, Answer | None, Hand, PointPx], Stroke]
BEGINS: Final[Mapping[PlaceKind, Begin]] = {
    PlaceKind.CELL: lambda canvas, before, _, at: CellStroke(canvas, before, at),
    PlaceKind.POINT: lambda canvas, _, __, at: PointStroke(canvas, at),
    PlaceKind.BOXES: BoxStroke,
    PlaceKind.MASK: MaskStroke,
}
"""The stroke that places each kind of answer."""


def stepped(
    kind: PlaceKind, canvas: Canvas, before: Answer | None, right: int, down: int
) -> Answer | None:
    """Return a cell or a point moved by keys; the first key centres it.

    A point moves by a hundredth of the image. What is drawn cannot be moved.
    """
    size = canvas.size
    if kind is PlaceKind.CELL:
        grid = canvas.grid
        if not isinstance(before, CellAnswer):
            return CellAnswer(Cell(grid.rows // 2, grid.columns // 2), "reader")
        row = min(max(before.cell.row + down, 0), grid.rows - 1)
        column = min(max(before.cell.column + right, 0), grid.columns - 1)
        return CellAnswer(Cell(row, column), "reader")
    if kind is PlaceKind.POINT:
        if not isinstance(before, PointAnswer):
            return PointAnswer(PointPx(size.columns / 2, size.rows / 2))
        x = before.point.x + right * size.columns / 100
        y = before.point.y + down * size.rows / 100
        return PointAnswer(clipped(canvas, PointPx(x, y)))
    return before
