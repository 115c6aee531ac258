"""A round brush: its size, and a line that is painted or erased with it."""

from dataclasses import replace
from typing import Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from viewer.domain.geometry import PointPx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Patch
from viewer.imaging.brush import brushed
from viewer.ui.application import preferences

_PART: Final = 40
"""The brush is at first so many times narrower than the image."""
_STEP: Final = 1.25
_ALPHA: Final = 110


def first_brush(geometry: ImageGeometry) -> float:
    """Return the initial width, in widths of a native pixel."""
    return max(1.0, _shorter(geometry) / _PART)


def brush_width(geometry: ImageGeometry) -> float:
    """Return the width that the reader has set, in widths of a native pixel."""
    width = first_brush(geometry) * _STEP ** preferences.current().brush_steps
    return min(max(width, 1.0), max(1.0, _shorter(geometry)))


def widen_brush(steps: int, geometry: ImageGeometry) -> None:
    """Make the brush wider or, with negative steps, narrower, for every image."""
    before, used = brush_width(geometry), preferences.current()
    preferences.use(replace(used, brush_steps=used.brush_steps + steps))
    if brush_width(geometry) == before:
        # Else steps beyond the end would have to be taken back one by one.
        preferences.use(used)


def _shorter(geometry: ImageGeometry) -> float:
    return min(geometry.size.rows * geometry.pixel_aspect, geometry.size.columns)


class BrushLine:
    """The way of a brush from press to release, in native pixels.

    Its path has square pixels, so that the brush is as round as the image is shown.
    """

    def __init__(
        self, at: PointPx, width: float, geometry: ImageGeometry, *, erases: bool
    ) -> None:
        self.erases = erases
        self._width, self._geometry = width, geometry
        self._aspect, self._points = geometry.pixel_aspect, [at]
        self._path = QPainterPath(QPointF(at.x, at.y * self._aspect))
        self._path.lineTo(at.x, at.y * self._aspect)

    def to(self, at: PointPx) -> None:
        """Extend the line to a position."""
        if at != self._points[-1]:
            self._points.append(at)
            self._path.lineTo(at.x, at.y * self._aspect)

    def patch(self) -> Patch | None:
        """Return the pixels that it covers, None beside the image."""
        size = self._geometry.size
        return brushed(tuple(self._points), self._width, size, self._aspect)

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        """Draw the line as wide as the brush; what is erased is drawn dark."""
        shade = QColor(Qt.GlobalColor.black if self.erases else color)
        shade.setAlpha(_ALPHA)
        pen = QPen(shade, self._width)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setWorldTransform(native, combine=True)
        painter.scale(1.0, 1 / self._aspect)
        painter.strokePath(self._path, pen)
        painter.restore()
