"""Window and level by dragging: up brightens, right widens (IHE BIR 4.16.4.2.2.5.4)."""

from dataclasses import replace
from typing import Final

from PySide6.QtCore import QPointF

from viewer.domain.image import VoiFunction, Window
from viewer.ui.canvas.tools.drag import Canvas

_PIXELS_PER_WIDTH: Final = 300.0
"""A drag of so many pixels is the width that the image was first shown with."""


class WindowDrag:
    """Changes the window from the one at the press."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas, self._at = canvas, at
        self._window = canvas.window_shown

    def move(self, at: QPointF) -> None:
        """Show with the window that belongs to the distance from the press."""
        first = self._canvas.first_window
        if self._window is None or first is None:
            return
        moved = at - self._at
        gain = first.width / _PIXELS_PER_WIDTH
        up = -moved.y() if not self._canvas.shows_low_bright else moved.y()
        self._canvas.set_window(
            dragged(self._window, moved.x() * gain, -up * gain, gain)
        )

    def end(self, at: QPointF) -> None:
        """Leave the window as it is at the release."""
        self.move(at)


def dragged(window: Window, wider: float, higher: float, least: float) -> Window:
    """Return a window changed by so much, never narrower than ``least``.

    A LINEAR window is at least 1 wide (PS3.3 C.11.2.1.2.1).
    """
    floor = max(least, 1.0) if window.function is VoiFunction.LINEAR else least
    width = max(window.width + wider, floor)
    return replace(window, center=window.center + higher, width=width, explanation="")
