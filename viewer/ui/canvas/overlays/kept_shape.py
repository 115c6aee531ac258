"""A shape that is expensive to draw: its picture is cached while it only moves."""

from abc import ABC, abstractmethod
from functools import partial

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QTransform

from viewer.domain.geometry import PointPx
from viewer.ui.canvas.overlays.answer_item import LINE_PX, paint_cross
from viewer.ui.canvas.overlays.aside import nearest_point
from viewer.ui.canvas.overlays.kept_picture import KeptPicture, Sight
from viewer.ui.canvas.overlays.outline import Outline


class KeptShape(ABC):
    """An outline within ``extent``, and a cross at the point that stands for it."""

    def __init__(self, outline: Outline, extent: QRectF, point: PointPx | None) -> None:
        self._outline, self.extent, self._point = outline, extent, point
        self._picture = KeptPicture()

    def frames(self, native: QTransform) -> tuple[QRectF, ...]:
        """Return the view's rectangle around what is outlined."""
        outlined = self._outline.extent
        return (native.mapRect(self.extent if outlined.isNull() else outlined),)

    def nearest(self, native: QTransform, label: QRectF) -> QPointF:
        """Return the outline's point, in the view, that is nearest to a label."""
        if self._outline.extent.isNull():
            return nearest_point(self.frames(native), label)
        return self._outline.nearest(native, label)

    def outline(self, native: QTransform) -> QPainterPath:  # noqa: ARG002 - any zoom
        """Return the outline in native pixels."""
        return self._outline.path

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        """Draw the kept picture, and the cross."""
        edge = 2 * LINE_PX
        box = native.mapRect(self.extent).adjusted(-edge, -edge, edge, edge)
        self._picture.paint(painter, native, box, partial(self._draw, color))
        if self._point is not None:
            paint_cross(painter, native, self._point, color)

    @abstractmethod
    def _draw(self, color: QColor, painter: QPainter, sight: Sight) -> None:
        """Draw what of it is in sight, in the pixels of the sight."""
