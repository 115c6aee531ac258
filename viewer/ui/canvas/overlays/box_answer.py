"""Answered boxes."""

from functools import reduce

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QTransform

from viewer.domain.answer import BoxesAnswer
from viewer.domain.geometry import PointPx
from viewer.ui.canvas.overlays.answer_item import paint_cross
from viewer.ui.canvas.overlays.aside import nearest_point
from viewer.ui.canvas.overlays.cell_answer import paint_box
from viewer.ui.canvas.overlays.rects import path_of, rect_of


class BoxShape:
    """Every box of an answer, and a cross at the point that stands for them."""

    legend = None

    def __init__(self, answer: BoxesAnswer, point: PointPx | None) -> None:
        self._boxes, self._point = [rect_of(box) for box in answer.boxes], point
        self.extent = reduce(QRectF.united, self._boxes)

    def frames(self, native: QTransform) -> tuple[QRectF, ...]:
        """Return the boxes in the view, the largest first."""
        boxes = sorted(self._boxes, key=lambda b: -b.width() * b.height())
        return tuple(map(native.mapRect, boxes))

    def nearest(self, native: QTransform, label: QRectF) -> QPointF:
        """Return the boxes' point, in the view, that is nearest to a label."""
        return nearest_point(self.frames(native), label)

    def outline(self, native: QTransform) -> QPainterPath:  # noqa: ARG002 - any zoom
        """Return the boxes in native pixels."""
        return path_of(self._boxes)

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        """Draw each box's frame and fill, and the cross."""
        for box in self._boxes:
            paint_box(painter, native.mapRect(box), color)
        if self._point is not None:
            paint_cross(painter, native, self._point, color)
