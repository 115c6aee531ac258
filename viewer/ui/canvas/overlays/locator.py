"""Reference lines of other images, and the cross-hair."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem

from viewer.domain.geometry import PointPx
from viewer.ui.canvas.overlays.screen_item import ScreenItem
from viewer.ui.widgets.theme import DARK

_GAP_PX, _ARM_PX = 5.0, 22.0
_WIDE = QRectF(-1e5, -1e5, 2e5, 2e5)
Line = tuple[PointPx, PointPx]


class Locator(ScreenItem):
    """Lines across the image, and a cross with a gap at the position it shows."""

    def __init__(
        self, lines: Sequence[Line], cross: PointPx | None, parent: QGraphicsItem
    ) -> None:
        super().__init__(parent)
        self.lines, self.cross = tuple(lines), cross

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the whole plane, of which lines may cross any part."""
        return _WIDE

    def draw(self, painter: QPainter, native: QTransform) -> None:
        """Draw both, dark under light, so that they show on any image."""
        strokes = [(_seen(a, native), _seen(b, native)) for a, b in self.lines]
        if self.cross is not None:
            strokes += _arms(_seen(self.cross, native))
        for color, width in (("#000000", 3.0), (DARK.accent, 1.0)):
            painter.setPen(QPen(QColor(color), width))
            for start, end in strokes:
                painter.drawLine(start, end)


def _seen(point: PointPx, native: QTransform) -> QPointF:
    return native.map(QPointF(point.x, point.y))


def _arms(at: QPointF) -> list[tuple[QPointF, QPointF]]:
    ways = (QPointF(1, 0), QPointF(-1, 0), QPointF(0, 1), QPointF(0, -1))
    return [(at + way * _GAP_PX, at + way * _ARM_PX) for way in ways]
