"""Outcome signs as icons: the shape is the outcome, the colour the model."""

from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from viewer.domain.result import Score
from viewer.ui.canvas.overlays.outcome_glyph import glyph_of, paint_glyph

SIGN_PX: Final = 18
_RATIO: Final = 2.0


def sign(score: Score, colour: str) -> QIcon:
    """Return an outcome's sign as an icon, sharp on any screen."""
    pixmap = QPixmap(round(SIGN_PX * _RATIO), round(SIGN_PX * _RATIO))
    pixmap.setDevicePixelRatio(_RATIO)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    box = QRectF(1, 1, SIGN_PX - 2, SIGN_PX - 2)
    paint_glyph(painter, glyph_of(score), box, QColor(colour))
    painter.end()
    icon = QIcon(pixmap)
    # Else Qt tints it in a selected row, where it would be another model's colour.
    icon.addPixmap(pixmap, QIcon.Mode.Selected)
    return icon
