"""An image on which boxes can be drawn, moved and removed."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QPixmap,
    QTransform,
)
from PySide6.QtGui import QResizeEvent as _Resized
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsItem,
    QGraphicsRectItem,
    QGraphicsScene,
    QGraphicsView,
    QStyle,
    QStyleOptionGraphicsItem,
    QWidget,
)

from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.ui.widgets.theme import current

_LEAST_PX: Final = 3.0
_VEIL: Final = 80
"""So dark that a box is seen, so light that the words below it are read."""
_KEYS: Final = (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)


class PixelBoxes(QGraphicsView):
    """Shows an image whole; a drag draws a box, Delete takes the chosen one away."""

    changed = Signal()

    def __init__(self, raster: Raster, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setBackgroundBrush(QColor("black"))
        self.setMinimumSize(320, 240)
        self.setAccessibleName("Image with the boxes to black out")
        self._scene = QGraphicsScene(self)
        self.setScene(self._scene)
        size = raster.size
        self._whole = QRectF(0, 0, size.columns, size.rows)
        self._aspect = raster.pixel_aspect
        self._scene.setSceneRect(self._whole)
        self._scene.addPixmap(_pixmap(raster))
        self._opaque = False
        self._boxes: list[QGraphicsRectItem] = []
        self._drawn: QGraphicsRectItem | None = None
        self._start = QPointF()
        self._scene.selectionChanged.connect(self._paint)

    @property
    def boxes(self) -> tuple[BoxPx, ...]:
        """The boxes in native pixels, in the order drawn."""
        return tuple(_box(item.rect()) for item in self._boxes)

    def outline(self, places: Sequence[BoxPx]) -> None:
        """Outline places that are not boxes: what was found but names nobody."""
        pen = QPen(QColor(current().reader), 0, Qt.PenStyle.DashLine)
        for place in places:
            self._scene.addRect(_rect(place), pen)

    def add(self, box: BoxPx) -> None:
        """Add a box."""
        self._add(_rect(box))
        self.changed.emit()

    def choose(self, index: int) -> None:
        """Choose one box; another than there are chooses none."""
        self._scene.clearSelection()
        if 0 <= index < len(self._boxes):
            self._boxes[index].setSelected(True)

    def remove_chosen(self) -> None:
        """Take the chosen boxes away."""
        for item in [item for item in self._boxes if item.isSelected()]:
            self._boxes.remove(item)
            self._scene.removeItem(item)
        self.changed.emit()

    def show_as_sent(self, opaque: bool) -> None:
        """Show boxes as black as they are sent, or let what is below shine through."""
        self._opaque = opaque
        self._paint()

    def _add(self, rect: QRectF) -> QGraphicsRectItem:
        item = _BoxItem(rect)
        self._scene.addItem(item)
        item.setFlag(QGraphicsItem.GraphicsItemFlag.ItemIsSelectable)
        item.setCursor(Qt.CursorShape.PointingHandCursor)
        self._boxes.append(item)
        self._paint()
        return item

    def _paint(self) -> None:
        palette = current()
        veil = QColor(0, 0, 0, 255 if self._opaque else _VEIL)
        for item in self._boxes:
            chosen = item.isSelected()
            colour = QColor(palette.warning if chosen else palette.reference)
            pen = QPen(colour, 2 * self.devicePixelRatioF())
            # As wide on the screen at any scale of the image.
            pen.setCosmetic(True)
            item.setPen(pen)
            item.setBrush(veil)

    def resizeEvent(self, event: _Resized) -> None:  # noqa: N802 - Qt's name
        """Keep the whole image in sight."""
        super().resizeEvent(event)
        room, whole = self.viewport().size(), self._whole
        tall = whole.height() * self._aspect
        scale = min(room.width() / whole.width(), room.height() / tall)
        self.setTransform(QTransform.fromScale(scale, scale * self._aspect))

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Begin a box, or choose the one that is pressed."""
        item = self.itemAt(event.position().toPoint())
        if event.button() is not Qt.MouseButton.LeftButton or item in self._boxes:
            super().mousePressEvent(event)
            return
        self._start = self._inside(event)
        self._scene.clearSelection()
        self._drawn = self._add(QRectF(self._start, self._start))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the box up to the pointer."""
        if self._drawn is None:
            super().mouseMoveEvent(event)
        else:
            self._drawn.setRect(QRectF(self._start, self._inside(event)).normalized())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the box, unless it was only a click."""
        drawn, self._drawn = self._drawn, None
        if drawn is None:
            super().mouseReleaseEvent(event)
            return
        if min(drawn.rect().width(), drawn.rect().height()) < _LEAST_PX:
            self._boxes.remove(drawn)
            self._scene.removeItem(drawn)
        self.changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Take the chosen box away with Delete."""
        if event.key() in _KEYS:
            self.remove_chosen()
        else:
            super().keyPressEvent(event)

    def _inside(self, event: QMouseEvent) -> QPointF:
        at, whole = self.mapToScene(event.position().toPoint()), self._whole
        return QPointF(
            min(max(at.x(), whole.left()), whole.right()),
            min(max(at.y(), whole.top()), whole.bottom()),
        )


class _BoxItem(QGraphicsRectItem):
    """A box; its colour alone, without Qt's dashes over it, says that it is chosen."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,
        widget: QWidget | None = None,
    ) -> None:
        """Paint outline and veil."""
        plain = QStyleOptionGraphicsItem(option)
        plain.state &= ~QStyle.StateFlag.State_Selected
        super().paint(painter, plain, widget)


def _pixmap(raster: Raster) -> QPixmap:
    pixels = np.ascontiguousarray(raster.pixels)
    colour = pixels.ndim == 3
    kind = QImage.Format.Format_RGB888 if colour else QImage.Format.Format_Grayscale8
    size = raster.size
    line = size.columns * (3 if colour else 1)
    return QPixmap.fromImage(
        QImage(pixels.tobytes(), size.columns, size.rows, line, kind)
    )


def _rect(box: BoxPx) -> QRectF:
    return QRectF(QPointF(box.x0, box.y0), QPointF(box.x1, box.y1))


def _box(rect: QRectF) -> BoxPx:
    return BoxPx(rect.left(), rect.top(), rect.right(), rect.bottom())
