"""The grid over the image: lines on the image, labels of constant size."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Cell, Grid, LetterAxis
from viewer.imaging.grid_overlay import LabelStyle, Rgb
from viewer.ui.canvas.overlays.halo import HALO, Face, draw_text, text_size

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


_Rect = tuple[float, float, float, float]
"""Left, top, right and bottom: a frame has hundreds of labels, too many for QRectF."""


@dataclass(frozen=True, slots=True)
class _Label:
    """A text and the rectangles that it may stand in, best first."""

    text: str
    places: tuple[_Rect, ...]

    def free_place(self, taken: Sequence[_Rect]) -> QPointF:
        """Return the top left of the first place that nothing covers, else the best."""
        for place in self.places:
            if not any(_meet(place, other) for other in taken):
                return QPointF(*place[:2])
        return QPointF(*self.places[0][:2])


def _meet(a: _Rect, b: _Rect) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _edges(rect: QRectF) -> _Rect:
    return rect.left(), rect.top(), rect.right(), rect.bottom()


class GridItem(QGraphicsItem):
    """A grid in native coordinates; its labels step aside from ``obstacles``."""

    def __init__(self, overlay: GridOverlay, face: Face, parent: QGraphicsItem) -> None:
        super().__init__(parent)
        self.overlay = overlay
        self._obstacles: tuple[_Rect, ...] = ()
        self._picture: QImage | None = None
        self._face = face
        self._color = QColor(*overlay.colour)
        self.setOpacity(overlay.opacity)

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the field in native pixels."""
        area = self.overlay.field
        return QRectF(area.x0, area.y0, area.x1 - area.x0, area.y1 - area.y0)

    def lay_out(self, obstacles: tuple[QRectF, ...]) -> None:
        """Draw anew at the next paint, with labels off the view's rectangles."""
        self._obstacles = tuple(_edges(rect) for rect in obstacles)
        self._picture = None

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Draw the grid as one picture, kept while only the window changes."""
        native, area = painter.worldTransform(), QRectF(painter.viewport())
        ratio = painter.device().devicePixelRatioF()
        if self._picture is None:
            self._picture = self._drawn(native, area, ratio)
        painter.save()
        painter.setWorldTransform(QTransform())
        painter.drawImage(area.topLeft(), self._picture)
        painter.restore()

    def _drawn(self, native: QTransform, area: QRectF, ratio: float) -> QImage:
        """Return lines of one device pixel with a dark edge, and the labels."""
        size = (area.size() * ratio).toSize()
        picture = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
        picture.fill(Qt.GlobalColor.transparent)
        picture.setDevicePixelRatio(ratio)
        painter = QPainter(picture)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        for grown, color in ((1 / ratio, HALO), (0.0, self._color)):
            for line in self._lines(native, ratio):
                painter.fillRect(line.adjusted(-grown, -grown, grown, grown), color)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        for label in self._labels(native, area):
            at = label.free_place(self._obstacles)
            draw_text(painter, at, label.text, self._face, self._color.name())
        painter.end()
        return picture

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
            grid.label(Cell(grid.rows - 1, grid.columns - 1)), self._face
        )
        cell = QSizeF(box.width() / grid.columns, box.height() / grid.rows)
        fits = widest.width() <= cell.width() and widest.height() <= cell.height()
        style = self.overlay.labels if fits else LabelStyle.MARGIN
        if style is not LabelStyle.MARGIN:
            yield from self._cell_labels(box, area, cell)
        if style is not LabelStyle.CELL:
            far = style is LabelStyle.BOTH
            yield from self._margin_labels(box, area, cell, far=far)

    def _cell_labels(self, box: QRectF, area: QRectF, cell: QSizeF) -> Iterator[_Label]:
        """Yield the visible cells' names, at the top left corner if it is free."""
        grid, seen = self.overlay.grid, _edges(area)
        left, top, width, height = box.left(), box.top(), cell.width(), cell.height()
        for here in grid.cells():
            x, y = left + here.column * width, top + here.row * height
            if _meet((x, y, x + width, y + height), seen):
                text = grid.label(here)
                size = text_size(text, self._face)
                yield _Label(text, _corners(x, y, cell, size))

    def _margin_labels(
        self, box: QRectF, area: QRectF, cell: QSizeF, *, far: bool
    ) -> Iterator[_Label]:
        """Yield row and column names along the field's edges, kept on the screen."""
        grid, seen = self.overlay.grid, box.intersected(area)
        letters, numbers = axis_names(grid)
        for row, text in enumerate(letters):
            size = text_size(text, self._face)
            x = seen.right() - size.width() - _PAD if far else seen.left() + _PAD
            y = box.top() + (row + 0.5) * cell.height() - size.height() / 2
            if area.top() <= y <= area.bottom():
                yield _Label(text, ((x, y, x + size.width(), y + size.height()),))
        for column, text in enumerate(numbers):
            size = text_size(text, self._face)
            y = seen.bottom() - size.height() - _PAD if far else seen.top() + _PAD
            x = box.left() + (column + 0.5) * cell.width() - size.width() / 2
            if area.left() <= x <= area.right():
                yield _Label(text, ((x, y, x + size.width(), y + size.height()),))


def axis_names(grid: Grid) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the rows and of the columns."""
    letters = tuple(ascii_uppercase)
    numbers = tuple(str(n + 1) for n in range(max(grid.rows, grid.columns)))
    if grid.letters is LetterAxis.ROW:
        return letters[: grid.rows], numbers[: grid.columns]
    return numbers[: grid.rows], letters[: grid.columns]


def _corners(x: float, y: float, cell: QSizeF, size: QSizeF) -> tuple[_Rect, ...]:
    """Return the places of a label in the cell at (x, y): top left first."""
    w, h = size.width(), size.height()
    left, top = x + _PAD, y + _PAD
    right, bottom = x + cell.width() - _PAD - w, y + cell.height() - _PAD - h
    return tuple(
        (a, b, a + w, b + h)
        for a, b in ((left, top), (right, top), (left, bottom), (right, bottom))
    )
