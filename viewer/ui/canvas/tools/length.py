"""Measuring a length; what it is worth is said beside the number."""

from math import hypot
from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from viewer.domain.geometry import PointPx
from viewer.domain.image import Spacing
from viewer.ui.canvas.overlays.halo import HALO, Face, draw_text
from viewer.ui.canvas.overlays.scale_bar import SUFFIX
from viewer.ui.canvas.tools.drag import Canvas

_COLOR: Final = "#F0E442"
"""The reader's colour."""
_LEAST_PX: Final = 3.0
_END: Final = 4.0


class LengthDrag:
    """Draws a line from the press; a mere click measures nothing."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas, self._at = canvas, at
        self._start = canvas.native_at(at)

    def move(self, at: QPointF) -> None:
        """Draw the line to the mouse."""
        self._canvas.set_length(self._start, self._canvas.native_at(at), done=False)

    def end(self, at: QPointF) -> None:
        """Keep the line if it was dragged at all."""
        if QLineF(self._at, at).length() >= _LEAST_PX:
            self._canvas.set_length(self._start, self._canvas.native_at(at), done=True)


def length_text(start: PointPx, end: PointPx, spacing: Spacing | None) -> str:
    """Return a length with its unit and where it holds.

    Pixels where the file has no spacing; a radiograph's spacing is that of the
    detector, where the patient appears magnified (PS3.3 10.7.1.3).
    """
    x, y = end.x - start.x, end.y - start.y
    if spacing is None:
        return f"{hypot(x, y):.1f} px, uncalibrated"
    length = hypot(x * spacing.column_mm, y * spacing.row_mm)
    if length < 1:
        return f"{length * 1000:.1f} µm{SUFFIX[spacing.meaning]}"
    return f"{length:.1f} mm{SUFFIX[spacing.meaning]}"


class LengthItem(QGraphicsItem):
    """A measured line in native coordinates with its length."""

    def __init__(
        self,
        start: PointPx,
        end: PointPx,
        text: str,
        face: Face,
        parent: QGraphicsItem,
    ) -> None:
        super().__init__(parent)
        self._line = QLineF(start.x, start.y, end.x, end.y)
        self.text = text
        self._face = face

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the line's rectangle, wide enough for pen and text at any zoom."""
        ends = QRectF(self._line.p1(), self._line.p2()).normalized()
        return ends.adjusted(-64, -64, 64, 64)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Draw the line with a dark edge, its ends and its text."""
        line = painter.worldTransform().map(self._line)
        painter.save()
        painter.setWorldTransform(QTransform())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for color, width in ((HALO, 4.0), (QColor(_COLOR), 1.5)):
            painter.setPen(
                QPen(color, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap)
            )
            painter.drawLine(line)
            for end in (line.p1(), line.p2()):
                painter.drawEllipse(end, _END, _END)
        at = line.p2() + QPointF(2 * _END, -2 * _END)
        draw_text(painter, at, self.text, self._face, _COLOR)
        painter.restore()
