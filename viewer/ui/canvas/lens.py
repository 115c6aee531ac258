"""The magnifier: a lens over the image, while the button is held."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from viewer.domain.geometry import SizePx
from viewer.ui.canvas.display import Camera, Display
from viewer.ui.canvas.turning import TurnedScreen
from viewer.ui.widgets.theme import current

if TYPE_CHECKING:
    from viewer.ui.canvas.slide_tiles import SlideTiles

_SIDE: Final = 260
MAGNIFICATION: Final = 2.5
"""Magnification of the lens relative to the view."""


class Lens(QWidget):
    """Shows the image around a point larger, in the view's window."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.resize(QSize(_SIDE, _SIDE))
        self._display: Display | None = None
        self._tiles: SlideTiles | None = None
        self._orientation = 1
        self.camera: Camera | None = None
        self.setAccessibleName("Magnifier")

    def show_at(
        self,
        at: QPointF,
        display: Display,
        camera: Camera,
        turned: TurnedScreen,
        tiles: "SlideTiles | None" = None,
    ) -> None:
        """Show what lies under a point of the view, over that point."""
        ratio = self.devicePixelRatioF()
        x, y = turned.before(at.x() * ratio, at.y() * ratio)
        half = _SIDE * ratio / 2
        self._display, self._orientation = display, turned.orientation
        self._tiles = tiles
        self.camera = camera.zoomed(MAGNIFICATION, x, y).panned(half - x, half - y)
        self.move(round(at.x() - _SIDE / 2), round(at.y() - _SIDE / 2))
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's
        """Paint the image, and a frame around it."""
        if self._display is None or self.camera is None:
            return
        painter, ratio = QPainter(self), self.devicePixelRatioF()
        painter.fillRect(self.rect(), Qt.GlobalColor.black)
        size = SizePx(round(_SIDE * ratio), round(_SIDE * ratio))
        if self._tiles is not None:
            inverted = self._display.inverted
            self._tiles.paint(painter, self.camera, size, ratio, inverted=inverted)
        else:
            self._paint_image(painter, self._display, self.camera, size)
        painter.setPen(QPen(QColor(current().accent), 2))
        painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def _paint_image(
        self, painter: QPainter, display: Display, camera: Camera, size: SizePx
    ) -> None:
        turned, ratio = TurnedScreen(size, self._orientation), self.devicePixelRatioF()
        frame = display.detail(camera.viewport(turned.size), turned)
        if not frame.image.isNull():
            frame.image.setDevicePixelRatio(ratio)
            at = QPointF(frame.left / ratio, frame.top / ratio)
            painter.drawImage(at, frame.image)
