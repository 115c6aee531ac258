"""Boxes in native pixels as Qt draws them."""

from collections.abc import Iterable

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainterPath

from viewer.domain.geometry import BoxPx


def rect_of(box: BoxPx) -> QRectF:
    """Return a box as Qt's rectangle."""
    return QRectF(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0)


def path_of(rects: Iterable[QRectF]) -> QPainterPath:
    """Return rectangles as one path; what several cover is inside as well."""
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    for rect in rects:
        path.addRect(rect)
    return path
