"""The colours of a map from its least value to its greatest."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter

from viewer.ui.canvas.overlays.aside import GAP
from viewer.ui.canvas.overlays.color_map import picture_of
from viewer.ui.canvas.overlays.corner_text import COLOR
from viewer.ui.canvas.overlays.halo import Face, text_size

MIDDLE: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_STRIP: Final = QSizeF(90.0, 8.0)


@dataclass(frozen=True, slots=True)
class Legend:
    """Both ends of a scale of colours."""

    low: float
    high: float

    def size(self, face: Face) -> QSizeF:
        """Return the room it needs, in the view's pixels."""
        low, high = self._ends(face)
        width = low.width() + _STRIP.width() + high.width() + 2 * GAP
        return QSizeF(width, low.height())

    def paint(self, painter: QPainter, at: QPointF, face: Face) -> None:
        """Draw the least value, the colours and the greatest, from the top left."""
        low, high = self._ends(face)
        painter.setFont(face.font())
        painter.setPen(QColor(COLOR))
        painter.drawText(QRectF(at, low), MIDDLE, _number(self.low))
        strip = QRectF(at + QPointF(low.width() + GAP, 0), _STRIP)
        strip.moveTop(at.y() + (low.height() - _STRIP.height()) / 2)
        steps = np.linspace(0, 1, round(_STRIP.width()), dtype=np.float32)
        painter.drawImage(strip, picture_of(steps[None, :]))
        right = QPointF(strip.right() + GAP, at.y())
        painter.drawText(QRectF(right, high), MIDDLE, _number(self.high))

    def _ends(self, face: Face) -> tuple[QSizeF, QSizeF]:
        low, high = _number(self.low), _number(self.high)
        return text_size(low, face), text_size(high, face)


def _number(value: float) -> str:
    return f"{value:.3g}"
