"""The graphics and texts of a presentation state, as its author placed them."""

from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem

from viewer.domain.geometry import PointPx
from viewer.domain.presentation import Note, Outline, PresentationState
from viewer.ui.canvas.overlays.halo import HALO, Face, draw_text, text_size
from viewer.ui.canvas.overlays.screen_item import ScreenItem

_COLOR: Final = "#FFFFFF"
_LINE_PX: Final = 1.5
_POINT_PX: Final = 4.0


class PresentedItem(ScreenItem):
    """Lines and texts, as wide and as large at any zoom."""

    def __init__(
        self, state: PresentationState, face: Face, parent: QGraphicsItem
    ) -> None:
        super().__init__(parent)
        self._outlines, self._notes, self._face = state.outlines, state.notes, face

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return more than any image: texts reach beyond what they belong to."""
        return QRectF(-1e5, -1e5, 2e5, 2e5)

    def draw(self, painter: QPainter, native: QTransform) -> None:
        """Draw lines with a halo, then the texts."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for outline in self._outlines:
            path = _path(outline, native)
            for color, width in ((HALO, 3 * _LINE_PX), (QColor(_COLOR), _LINE_PX)):
                painter.strokePath(path, QPen(color, width))
            if outline.filled:
                painter.fillPath(path, QColor(_COLOR))
        for note in self._notes:
            self._write(painter, note, native)

    def _write(self, painter: QPainter, note: Note, native: QTransform) -> None:
        at, line = native.map(_point(note.at)), text_size("Hg", self._face).height()
        if note.anchor is not None and note.anchor != note.at:
            painter.setPen(QPen(QColor(_COLOR), 1.0, Qt.PenStyle.DashLine))
            painter.drawLine(at, native.map(_point(note.anchor)))
        for number, text in enumerate(note.text.split("\n")):
            below = at + QPointF(0, number * (line - 2))
            draw_text(painter, below, text, self._face, _COLOR)


def _path(outline: Outline, native: QTransform) -> QPainterPath:
    points = [native.map(_point(point)) for point in outline.points]
    path = QPainterPath(points[0])
    if len(points) == 1:
        path.addEllipse(points[0], _POINT_PX, _POINT_PX)
    for point in points[1:]:
        path.lineTo(point)
    return path


def _point(point: PointPx) -> QPointF:
    return QPointF(point.x, point.y)
