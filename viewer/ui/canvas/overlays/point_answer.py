"""An answered point."""

from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from viewer.domain.answer import PointAnswer
from viewer.ui.canvas.overlays.answer_item import LINE_PX, line_pen, paint_cross
from viewer.ui.canvas.overlays.aside import gap_between
from viewer.ui.canvas.overlays.halo import HALO

_RADIUS_PX: Final = 9.0
_HALO_PX: Final = 2.0
_SIDE: Final = 1e-6
"""Native side of the rectangle around a point, which must not be null."""


class PointShape:
    """A ring around a cross, as large at any zoom."""

    legend = None

    def __init__(self, answer: PointAnswer) -> None:
        self._point = answer.point
        self.extent = QRectF(answer.point.x, answer.point.y, _SIDE, _SIDE)

    def frames(self, native: QTransform) -> tuple[QRectF, ...]:
        """Return the view's rectangle around the ring."""
        square = QRectF(0, 0, 2 * _RADIUS_PX, 2 * _RADIUS_PX)
        square.moveCenter(self._on_view(native))
        return (square,)

    def nearest(self, native: QTransform, label: QRectF) -> QPointF:
        """Return the ring's point, in the view, that is nearest to a label."""
        towards = gap_between(QRectF(self._on_view(native), QSizeF()), label)
        if towards.length() > _RADIUS_PX:
            towards.setLength(_RADIUS_PX)
        return towards.p2()

    def outline(self, native: QTransform) -> QPainterPath:
        """Return the ring's disc in native pixels."""
        path = QPainterPath()
        path.addEllipse(self._on_view(native), _RADIUS_PX, _RADIUS_PX)
        return native.inverted()[0].map(path)

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        """Draw the ring with a dark halo, and the cross."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for pen in (QPen(HALO, LINE_PX + _HALO_PX), line_pen(color)):
            painter.setPen(pen)
            painter.drawEllipse(self._on_view(native), _RADIUS_PX, _RADIUS_PX)
        paint_cross(painter, native, self._point, color)

    def _on_view(self, native: QTransform) -> QPointF:
        return native.map(QPointF(self._point.x, self._point.y))
