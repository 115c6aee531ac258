"""Text with a dark halo, legible on bright lung and black air alike."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from PySide6.QtCore import QPointF, QSizeF, Qt
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
_FINEST: Final = 3.0
"""Device pixels of the finest screens to one of the view."""


@dataclass(frozen=True, slots=True)
class Face:
    """The application's font in one size and weight."""

    pixels: int = 12
    bold: bool = False

    def font(self) -> QFont:
        """Return it as Qt's."""
        font = QFont()
        # Not in points, whose size in pixels depends on the screen's resolution.
        font.setPixelSize(self.pixels)
        font.setBold(self.bold)
        return font


TEXT: Final = Face()
LETTER: Final = Face(16, bold=True)


@lru_cache(maxsize=4096)
def text_size(text: str, face: Face) -> QSizeF:
    """Return the size of a haloed text in the view's pixels."""
    metrics = QFontMetricsF(face.font())
    return QSizeF(
        metrics.horizontalAdvance(text) + 2 * _MARGIN, metrics.height() + 2 * _MARGIN
    )


def draw_text(
    painter: QPainter, at: QPointF, text: str, face: Face, color: str
) -> None:
    """Draw a text with its top left corner ``at``."""
    ratio = painter.device().devicePixelRatioF()
    picture = stamp(text, face, color, ratio)
    # On whole device pixels, or the stamp would be blurred.
    x, y = round(at.x() * ratio) / ratio, round(at.y() * ratio) / ratio
    painter.drawImage(QPointF(x, y), picture)


def stamp(text: str, face: Face, color: str, ratio: float) -> QImage:
    """Return the text as a picture: letters are stroked once, not once a frame.

    ARGB32, premultiplied, with ``ratio`` device pixels to one of the view.
    """
    return (_large if ratio > _FINEST else _kept)(text, face, color, ratio)


def forget_large() -> None:
    """Forget the texts of saved pictures, which have more pixels than any screen's."""
    _large.cache_clear()


def _stamped(text: str, face: Face, color: str, ratio: float) -> QImage:
    font, size = face.font(), text_size(text, face)
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


_kept, _large = lru_cache(maxsize=4096)(_stamped), lru_cache(maxsize=4096)(_stamped)
