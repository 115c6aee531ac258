"""Caching of expensive overlays as a picture while they only move."""

from collections.abc import Callable
from dataclasses import dataclass
from math import floor
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QImage, QPainter, QTransform

_LARGEST: Final = 1.5
"""A picture is at most so many times as large as the view."""


@dataclass(frozen=True, slots=True)
class Sight:
    """The mapping of native pixels to a painted area, and the visible part.

    ``native`` maps native pixels to those of ``area``, each of which is ``ratio``
    device pixels wide.
    """

    native: QTransform
    area: QRectF
    ratio: float


Draw = Callable[[QPainter, Sight], None]
"""Draws in the pixels of what is in sight."""


class KeptPicture:
    """The picture of one overlay at one zoom."""

    def __init__(self) -> None:
        self._picture, self._look = QImage(), tuple[float, ...]()

    def paint(
        self, painter: QPainter, native: QTransform, box: QRectF, draw: Draw
    ) -> None:
        """Draw the picture, or the visible part if it is far larger than the view.

        ``box`` is the view's rectangle to draw on, ``painter`` is in the view's pixels.
        """
        ratio = painter.device().devicePixelRatioF()
        # On whole device pixels, as the image moves.
        at = QPointF(floor(box.left() * ratio), floor(box.top() * ratio)) / ratio
        look = native.m11(), native.m12(), native.m21(), native.m22(), ratio
        small = _area(box) <= _LARGEST * _area(QRectF(painter.viewport()))
        if small and not painter.hasClipping() and look == self._look:
            if self._picture.isNull():
                self._picture = _pictured(native, box.size(), at, ratio, draw)
            painter.drawImage(at, self._picture)
        else:
            # While it is zoomed, or part of a large picture that is painted in bands,
            # each picture would be drawn but once.
            self._picture, self._look = QImage(), look
            # A hatch begins at the view's origin, and would stand still in a pan.
            painter.setBrushOrigin(at)
            draw(painter, Sight(native, QRectF(painter.viewport()), ratio))


def _pictured(
    native: QTransform, size: QSizeF, at: QPointF, ratio: float, draw: Draw
) -> QImage:
    """Return what is drawn as a picture with its top left corner ``at``."""
    pixels = size * ratio
    picture = QImage(
        # One for what floor() moved the corner, one for a part of a pixel at the end.
        int(pixels.width()) + 2,
        int(pixels.height()) + 2,
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    moved = native * QTransform.fromTranslate(-at.x(), -at.y())
    draw(
        painter, Sight(moved, QRectF(QPointF(), picture.deviceIndependentSize()), ratio)
    )
    painter.end()
    return picture


def _area(rect: QRectF) -> float:
    return rect.width() * rect.height()
