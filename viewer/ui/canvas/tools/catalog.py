"""The tools: what a drag does with each, and its cursor."""

from collections.abc import Callable
from dataclasses import replace
from math import exp
from typing import Final

from PySide6.QtCore import QPointF, Qt

from viewer.domain.image import VoiFunction, Window
from viewer.domain.mark import MarkKind
from viewer.ui.application.preferences import current
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.tools.drag import Canvas, Drag

_PIXELS_PER_E: Final = 180.0


class ZoomDrag:
    """Zooms about the point that was pressed."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas, self._centre, self._last = canvas, at, at

    def move(self, at: QPointF) -> None:
        """Zoom by what the mouse moved up or down."""
        # Exponential: equal ways zoom by equal factors, and back is back.
        factor = exp((at.y() - self._last.y()) / _PIXELS_PER_E)
        self._canvas.zoom_at(self._centre, factor)
        self._last = at

    def end(self, at: QPointF) -> None:
        """Leave the zoom as it is at the release."""
        self.move(at)


_PIXELS_PER_WIDTH: Final = 300.0
"""A drag of so many pixels is the width that the image was first shown with."""


class WindowDrag:
    """Changes the window from the one at the press."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas, self._at = canvas, at
        self._window = canvas.window_shown

    def move(self, at: QPointF) -> None:
        """Set the window for the distance from the press."""
        first = self._canvas.first_window
        if self._window is None or first is None:
            return
        moved = at - self._at
        gain = first.width / _PIXELS_PER_WIDTH
        raises = current().up_darkens != self._canvas.shows_low_bright
        higher = -moved.y() if raises else moved.y()
        self._canvas.set_window(
            dragged(self._window, moved.x() * gain, higher * gain, gain)
        )

    def end(self, at: QPointF) -> None:
        """Leave the window as it is at the release."""
        self.move(at)


def dragged(window: Window, wider: float, higher: float, least: float) -> Window:
    """Return a window changed by a drag, never narrower than ``least``.

    A LINEAR window is at least 1 wide (PS3.3 C.11.2.1.2.1).
    """
    floor = max(least, 1.0) if window.function is VoiFunction.LINEAR else least
    width = max(window.width + wider, floor)
    return replace(window, center=window.center + higher, width=width, explanation="")


_PIXELS_PER_IMAGE: Final = 6.0


class ScrollDrag:
    """Scrolls one image forward for every few pixels down, back for up."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas, self._from = canvas, at.y()

    def move(self, at: QPointF) -> None:
        """Go on by what the mouse moved."""
        steps = int((at.y() - self._from) / _PIXELS_PER_IMAGE)
        if steps:
            # Not to where the mouse is: the rest of a step counts for the next.
            self._from += steps * _PIXELS_PER_IMAGE
            self._canvas.scroll_by(steps)

    def end(self, at: QPointF) -> None:
        """Stay at the image shown at the release."""
        self.move(at)


class SelectDrag:
    """Changes nothing: a click selects the viewport, and a mark or an answer in it."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        pass

    def move(self, at: QPointF) -> None:
        """Change nothing."""

    def end(self, at: QPointF) -> None:
        """Change nothing."""


class CrosshairDrag:
    """The cross-hair shows the position under the mouse in every viewport."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas = canvas
        canvas.point_at(at)

    def move(self, at: QPointF) -> None:
        """Show the position under the mouse."""
        self._canvas.point_at(at)

    def end(self, at: QPointF) -> None:
        """Keep showing the position at the release."""
        self.move(at)


class PanDrag:
    """The image follows the mouse."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas, self._at = canvas, at

    def move(self, at: QPointF) -> None:
        """Move the image by what the mouse moved."""
        moved = at - self._at
        self._canvas.pan_by(moved.x(), moved.y())
        self._at = at

    def end(self, at: QPointF) -> None:
        """Leave the image where it is at the release."""
        self.move(at)


class MagnifierDrag:
    """A lens follows the mouse."""

    def __init__(self, canvas: Canvas, at: QPointF) -> None:
        self._canvas = canvas
        canvas.magnify(at)

    def move(self, at: QPointF) -> None:
        """Move the lens."""
        self._canvas.magnify(at)

    def end(self, at: QPointF) -> None:  # noqa: ARG002 - wherever it was let go
        """Put the lens away."""
        self._canvas.magnify(None)


DRAGS: Final[dict[Tool, Callable[[Canvas, QPointF], Drag]]] = {
    Tool.SELECT: SelectDrag,
    Tool.WINDOW: WindowDrag,
    Tool.PAN: PanDrag,
    Tool.ZOOM: ZoomDrag,
    Tool.SCROLL: ScrollDrag,
    Tool.CROSSHAIR: CrosshairDrag,
    Tool.MAGNIFIER: MagnifierDrag,
}
PAINTS: Final = frozenset({Tool.BRUSH, Tool.ERASER})
"""The tools of a mask."""
DRAWN: Final = {
    Tool(kind.value): kind
    for kind in MarkKind
    if kind not in {MarkKind.KEY, MarkKind.MASK}
}
"""The kind of mark that each other tool draws, point by point."""
CURSORS: Final = {
    Tool.SELECT: Qt.CursorShape.PointingHandCursor,
    Tool.WINDOW: Qt.CursorShape.ArrowCursor,
    Tool.PAN: Qt.CursorShape.OpenHandCursor,
    Tool.ZOOM: Qt.CursorShape.SizeVerCursor,
    Tool.SCROLL: Qt.CursorShape.SplitVCursor,
    Tool.CROSSHAIR: Qt.CursorShape.CrossCursor,
    Tool.MAGNIFIER: Qt.CursorShape.WhatsThisCursor,
    **dict.fromkeys((*DRAWN, *PAINTS), Qt.CursorShape.CrossCursor),
}
