"""Scrolling a stack by dragging up and down (IHE BIR 4.16.4.2.2.5.5)."""

from typing import Final

from PySide6.QtCore import QPointF

from viewer.ui.canvas.tools.drag import Canvas

_PIXELS_PER_IMAGE: Final = 6.0


class ScrollDrag:
    """Goes one image on for every few pixels down, back for those up."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas, self._from = canvas, at.y()

    def move(self, at: QPointF) -> None:
        """Go on by what the mouse moved."""
        steps = int((at.y() - self._from) / _PIXELS_PER_IMAGE)
        if steps:
            self._from += steps * _PIXELS_PER_IMAGE
            self._canvas.scroll_by(steps)

    def end(self, at: QPointF) -> None:
        """Stay at the image shown at the release."""
        self.move(at)
