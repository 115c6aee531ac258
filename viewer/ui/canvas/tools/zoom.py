"""Zooming by dragging: down zooms in, up zooms out (IHE BIR 4.16.4.2.2.5.6)."""

from math import exp
from typing import Final

from PySide6.QtCore import QPointF

from viewer.ui.canvas.tools.drag import Canvas

_PIXELS_PER_E: Final = 180.0


class ZoomDrag:
    """Zooms about the point that was pressed."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas, self._centre, self._last = canvas, at, at

    def move(self, at: QPointF) -> None:
        """Zoom by what the mouse moved up or down."""
        factor = exp((at.y() - self._last.y()) / _PIXELS_PER_E)
        self._canvas.zoom_at(self._centre, factor)
        self._last = at

    def end(self, at: QPointF) -> None:
        """Leave the zoom as it is at the release."""
        self.move(at)
