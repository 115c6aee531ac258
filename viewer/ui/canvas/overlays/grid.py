"""The grid over the image: lines on the image, labels of constant size."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QFont, QPainter, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Cell, Grid, LetterAxis
from viewer.imaging.grid_overlay import LabelStyle, Rgb
from viewer.ui.canvas.overlays.halo import HALO, draw_text, text_size

_PAD: Final = 2.0


@dataclass(frozen=True, slots=True)
class GridOverlay:
    """A grid and its look; ``field`` is the native rectangle that it divides.

    ``colour`` is RGB 0-255, ``opacity`` 0-1 of lines and labels.
    """

    grid: Grid
    field: BoxPx
    labels: LabelStyle = LabelStyle.CELL
    colour: Rgb = (255, 230, 0)
    opacity: float = 0.6


def cell_rect(grid: Grid, area: BoxPx, cell: Cell) -> QRectF:
    """Return a cell's rectangle in native pixels."""
    width, height = (area.x1 - area.x0), (area.y1 - area.y0)
    return QRectF(
        area.x0 + cell.column * width / grid.columns,
        area.y0 + cell.row * height / grid.rows,
        width / grid.columns,
        height / grid.rows,
    )


@dataclass(frozen=True, slots=True)
class _Label:
    """A text and the places that it may stand on, best first."""

    text: str
    places: tuple[QPointF, ...]
    size: QSizeF = field(default_factory=QSizeF)

    def free_place(self, taken: Iterable[QRectF]) -> QPointF:
        """Return the first place that nothing else covers, else the best."""
        for place in self.places:
            ground = QRectF(place, self.size)
            if not any(ground.intersects(other) for other in taken):
                return place
        return self.places[0]


class GridItem(QGraphicsItem):
    """A grid in native coordinates; its labels step aside from ``obstacles``."""

    def __init__(
        self, overlay: GridOverlay, font: QFont, parent: QGraphicsItem
    ) -> None:
        super().__init__(parent)
        self.overlay = overlay
        self.obstacles: tuple[QRectF, ...] = ()
        self._font = font
        self._color = QColor(*overlay.colour)
        self.setOpacity(overlay.opacity)

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the field in native pixels."""
        area = self.overlay.field
        return QRectF(area.x0, area.y0, area.x1 - area.x0, area.y1 - area.y0)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Draw lines of one device pixel with a dark edge, then the labels."""
        native = painter.worldTransform()
        painter.save()
        painter.setWorldTransform(QTransform())
        ratio = painter.device().devicePixelRatioF()
        for grown, color in ((1 / ratio, HALO), (0.0, self._color)):
            for line in self._lines(native, ratio):
                painter.fillRect(line.adjusted(-grown, -grown, grown, grown), color)
        area = QRectF(painter.viewport())
        for label in self._labels(native, area):
            at = label.free_place(self.obstacles)
            draw_text(painter, at, label.text, self._font, self._color.name())
        painter.restore()

    def _lines(self, native: QTransform, ratio: float) -> Iterator[QRectF]:
        """Yield each line as a rectangle on whole device pixels of the view."""
        grid, box = self.overlay.grid, native.mapRect(self.boundingRect())
        thick = 1 / ratio
        for row in range(grid.rows + 1):
            y = round((box.top() + row * box.height() / grid.rows) * ratio) / ratio
            yield QRectF(box.left(), y, box.width(), thick)
        for column in range(grid.columns + 1):
            x = box.left() + column * box.width() / grid.columns
            yield QRectF(round(x * ratio) / ratio, box.top(), thick, box.height())

    def _labels(self, native: QTransform, area: QRectF) -> Iterator[_Label]:
        grid = self.overlay.grid
        box = native.mapRect(self.boundingRect())
        widest = text_size(
            grid.label(Cell(grid.rows - 1, grid.columns - 1)), self._font
        )
        cell = QSizeF(box.width() / grid.columns, box.height() / grid.rows)
        fits = widest.width() <= cell.width() and widest.height() <= cell.height()
        style = self.overlay.labels if fits else LabelStyle.MARGIN
        if style is not LabelStyle.MARGIN:
            yield from self._cell_labels(native, area)
        if style is not LabelStyle.CELL:
            far = style is LabelStyle.BOTH
            yield from self._margin_labels(box, area, cell, far=far)

    def _cell_labels(self, native: QTransform, area: QRectF) -> Iterator[_Label]:
        """Yield the visible cells' names, at the top left corner if it is free."""
        grid = self.overlay.grid
        for cell in grid.cells():
            box = native.mapRect(cell_rect(grid, self.overlay.field, cell))
            if box.intersects(area):
                text = grid.label(cell)
                size = text_size(text, self._font)
                yield _Label(text, _corners(box, size), size)

    def _margin_labels(
        self, box: QRectF, area: QRectF, cell: QSizeF, *, far: bool
    ) -> Iterator[_Label]:
        """Yield row and column names along the field's edges, kept on the screen."""
        grid, seen = self.overlay.grid, box.intersected(area)
        letters, numbers = axis_names(grid)
        for row, text in enumerate(letters):
            size = text_size(text, self._font)
            x = seen.right() - size.width() - _PAD if far else seen.left() + _PAD
            y = box.top() + (row + 0.5) * cell.height() - size.height() / 2
            if area.top() <= y <= area.bottom():
                yield _Label(text, (QPointF(x, y),), size)
        for column, text in enumerate(numbers):
            size = text_size(text, self._font)
            y = seen.bottom() - size.height() - _PAD if far else seen.top() + _PAD
            x = box.left() + (column + 0.5) * cell.width() - size.width() / 2
            if area.left() <= x <= area.right():
                yield _Label(text, (QPointF(x, y),), size)


def axis_names(grid: Grid) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the rows and of the columns."""
    letters = tuple(ascii_uppercase)
    numbers = tuple(str(n + 1) for n in range(max(grid.rows, grid.columns)))
    if grid.letters is LetterAxis.ROW:
        return letters[: grid.rows], numbers[: grid.columns]
    return numbers[: grid.rows], letters[: grid.columns]


def _corners(box: QRectF, size: QSizeF) -> tuple[QPointF, ...]:
    """Return the places of a label in its cell: top left first."""
    left, top = box.left() + _PAD, box.top() + _PAD
    right = box.right() - _PAD - size.width()
    bottom = box.bottom() - _PAD - size.height()
    return (
        QPointF(left, top),
        QPointF(right, top),
        QPointF(left, bottom),
        QPointF(right, bottom),
    )
