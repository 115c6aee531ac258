"""Text with a dark halo, legible on bright lung and black air alike."""

from functools import lru_cache
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QImage,
    QPainter,
    QPainterPath,
    QPen,
)

HALO: Final = QColor(0, 0, 0, 215)
_HALO_PX: Final = 3.0
_MARGIN: Final = 2.0


def text_size(text: str, font: QFont) -> QSizeF:
    """Return the size of a haloed text in the view's pixels."""
    metrics = QFontMetricsF(font)
    return QSizeF(
        metrics.horizontalAdvance(text) + 2 * _MARGIN, metrics.height() + 2 * _MARGIN
    )


def draw_text(
    painter: QPainter, at: QPointF, text: str, font: QFont, color: str
) -> QRectF:
    """Draw a text with its top left corner ``at``; return the ground it covers."""
    ratio = painter.device().devicePixelRatioF()
    picture = _stamp(text, font.toString(), color, ratio)
    # On whole device pixels, or the stamp would be blurred.
    whole = QPointF(round(at.x() * ratio) / ratio, round(at.y() * ratio) / ratio)
    painter.drawImage(whole, picture)
    return QRectF(whole, text_size(text, font))


@lru_cache(maxsize=4096)
def _stamp(text: str, font_name: str, color: str, ratio: float) -> QImage:
    """Return the text as a picture: letters are stroked once, not once a frame."""
    font = QFont()
    font.fromString(font_name)
    size = text_size(text, font)
    picture = QImage(
        max(1, round(size.width() * ratio)),
        max(1, round(size.height() * ratio)),
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    path = QPainterPath()
    path.addText(QPointF(_MARGIN, _MARGIN + QFontMetricsF(font).ascent()), font, text)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(HALO, _HALO_PX)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.strokePath(path, pen)
    painter.fillPath(path, QColor(color))
    painter.end()
    return picture
