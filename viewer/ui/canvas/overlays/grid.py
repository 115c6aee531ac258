"""The grid over the image: lines on the image, labels of constant size."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import floor
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QTransform
from PySide6.QtWidgets import QGraphicsItem

from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Cell, Grid
from viewer.imaging.grid_overlay import LabelStyle, Rgb
from viewer.ui.canvas.overlays.halo import HALO, Face, stamp, text_size
from viewer.ui.canvas.overlays.label_places import (
    Label,
    SeenGrid,
    cell_labels,
    cells_hold_labels,
    margin_labels,
)
from viewer.ui.canvas.overlays.screen_item import ScreenItem

_HALO_ARGB: Final = HALO.alpha() << 24
_Argb = npt.NDArray[np.uint32]
"""(rows, columns) of device pixels, 0xAARRGGBB, premultiplied."""


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


class GridItem(ScreenItem):
    """A grid in native coordinates; its labels step aside for reference and texts."""

    def __init__(self, overlay: GridOverlay, face: Face, parent: QGraphicsItem) -> None:
        super().__init__(parent)
        self.overlay = overlay
        self._obstacles: tuple[QRectF, ...] = ()
        self._texts: tuple[QRectF, ...] = ()
        self._pixels: _Argb | None = None
        self._part = QRectF()
        self._face = face
        self._color = QColor(*overlay.colour)
        self.setOpacity(overlay.opacity)

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the field in native pixels."""
        area = self.overlay.field
        return QRectF(area.x0, area.y0, area.x1 - area.x0, area.y1 - area.y0)

    def lay_out(self, obstacles: tuple[QRectF, ...], texts: tuple[QRectF, ...]) -> None:
        """Draw anew at the next paint, with labels off the view's rectangles.

        Names of cells step off ``obstacles``, those of rows and columns off ``texts``,
        which have themselves stepped off the names where there was room.
        """
        self._obstacles, self._texts = obstacles, texts
        self._pixels = None

    def names(self, native: QTransform, area: QRectF) -> Iterator[QRectF]:
        """Yield the view's rectangles that the labels cover."""
        for text, x, y in self._labels(native, area, self._obstacles, self._texts):
            yield QRectF(QPointF(x, y), text_size(text, self._face))

    def corners(self, native: QTransform, area: QRectF) -> Iterator[QRectF]:
        """Yield the rectangles of the labels where nothing makes them step aside."""
        for text, x, y in self._labels(native, area, (), ()):
            yield QRectF(QPointF(x, y), text_size(text, self._face))

    def draw(self, painter: QPainter, native: QTransform) -> None:
        """Draw the grid as one picture, kept while only the window changes.

        Of a painter that is clipped to a band only that is drawn.
        """
        area, ratio = QRectF(painter.viewport()), painter.device().devicePixelRatioF()
        part = QRectF(area)
        if painter.hasClipping():
            part = area.intersected(painter.clipBoundingRect())
        if self._pixels is None or part != self._part:
            self._part, self._pixels = part, self._drawn(native, area, part, ratio)
        rows, columns = self._pixels.shape
        kind = QImage.Format.Format_ARGB32_Premultiplied
        picture = QImage(self._pixels.data, columns, rows, 4 * columns, kind)
        picture.setDevicePixelRatio(ratio)
        painter.drawImage(part.topLeft(), picture)

    def _drawn(
        self, native: QTransform, area: QRectF, part: QRectF, ratio: float
    ) -> _Argb:
        size, first = (part.size() * ratio).toSize(), (part.topLeft() * ratio).toPoint()
        pixels = np.zeros((size.height(), size.width()), np.uint32)
        box = native.mapRect(self.boundingRect()).translated(-part.topLeft())
        seen = SeenGrid.under(self.overlay.grid, native)
        _rule(pixels, seen, box, ratio, self._color.rgba())
        face, color = self._face, self._color.name()
        for text, x, y in self._labels(native, area, self._obstacles, self._texts):
            letters = _letters(text, face, color, ratio)
            left, top = round(x * ratio) - first.x(), round(y * ratio) - first.y()
            _press(pixels, letters, left, top)
        return pixels

    def _labels(
        self,
        native: QTransform,
        area: QRectF,
        obstacles: tuple[QRectF, ...],
        texts: tuple[QRectF, ...],
    ) -> list[Label]:
        box = native.mapRect(self.boundingRect())
        grid = SeenGrid.under(self.overlay.grid, native)
        face, style = self._face, self.overlay.labels
        if not cells_hold_labels(grid, box, face):
            style = LabelStyle.MARGIN
        labels: list[Label] = []
        if style is not LabelStyle.MARGIN:
            labels += cell_labels(grid, box, area, obstacles, face)
        if style is not LabelStyle.CELL:
            far = style is LabelStyle.BOTH
            labels += margin_labels(grid, box, area, face, far=far, texts=texts)
        return labels


def _rule(pixels: _Argb, grid: SeenGrid, box: QRectF, ratio: float, color: int) -> None:
    """Draw lines of one device pixel with a dark edge.

    A line is the device pixel that the cells' edge runs through, so its middle is
    never more than half a device pixel off.
    """
    rows = _edges(box.top(), box.height(), grid.rows, ratio)
    columns = _edges(box.left(), box.width(), grid.columns, ratio)
    for grown, shade in ((1, _HALO_ARGB), (0, color)):
        down = _span(rows[0] - grown, rows[-1] + 1 + grown)
        across = _span(columns[0] - grown, columns[-1] + 1 + grown)
        for row in rows:
            pixels[_span(row - grown, row + 1 + grown), across] = shade
        for column in columns:
            pixels[down, _span(column - grown, column + 1 + grown)] = shade


def _edges(start: float, length: float, count: int, ratio: float) -> list[int]:
    """Return the device pixels that the edges of ``count`` cells run through."""
    # What arithmetic leaves just below a whole number is that number.
    first, pitch = start * ratio + 1e-6, length * ratio / count
    return [floor(first + number * pitch) for number in range(count + 1)]


def _span(start: int, end: int) -> slice:
    return slice(max(start, 0), max(end, 0))


@lru_cache(maxsize=4096)
def _letters(text: str, face: Face, color: str, ratio: float) -> _Argb:
    """Return a label's own pixels."""
    picture = stamp(text, face, color, ratio)
    pixels = np.frombuffer(picture.constBits(), np.uint32)
    # constBits() is the picture's memory, and ends with it.
    return pixels.reshape(picture.height(), picture.width()).copy()


def _press(pixels: _Argb, letters: _Argb, x: int, y: int) -> None:
    """Put a label on the picture where it reaches into it, over what is there."""
    rows, columns = letters.shape
    if x >= 0 and y >= 0:
        under = pixels[y : y + rows, x : x + columns]
        if under.shape == letters.shape and not under.any():
            under[:] = letters
            return
    letters = letters[max(-y, 0) :, max(-x, 0) :]
    under = pixels[_span(y, y + rows), _span(x, x + columns)]
    letters = letters[: under.shape[0], : under.shape[1]]
    np.copyto(under, letters, where=letters != 0)
