"""A shape whose outline costs much to draw: its picture is kept while it only moves."""

from abc import ABC, abstractmethod
from functools import partial

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QTransform

from viewer.domain.geometry import PointPx
from viewer.ui.canvas.overlays.answer_item import LINE_PX, paint_cross
from viewer.ui.canvas.overlays.kept_picture import KeptPicture, Sight
from viewer.ui.canvas.overlays.outline import Outline


class KeptShape(ABC):
    """An outline within ``extent``, and a cross at the point that stands for it."""

    def __init__(self, outline: Outline, extent: QRectF, point: PointPx | None) -> None:
        self._outline, self.extent, self._point = outline, extent, point
        self._picture = KeptPicture()

    def anchor(self, native: QTransform) -> QRectF:
        """Return the view's rectangle around what is outlined."""
        return native.mapRect(self._outline.extent)

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
