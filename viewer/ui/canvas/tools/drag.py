"""The interface between a tool and the view."""

from typing import Protocol

from PySide6.QtCore import QPointF

from viewer.domain.image import Window


class Canvas(Protocol):
    """The view as needed by a tool; positions are in the view's pixels."""

    @property
    def window_shown(self) -> Window | None:
        """The window in use, None without a grey image."""

    @property
    def first_window(self) -> Window | None:
        """The window that the image was first shown with."""

    @property
    def shows_low_bright(self) -> bool:
        """Whether low values are the bright ones."""

    def set_window(self, window: Window) -> None:
        """Show with a window."""

    def pan_by(self, x: float, y: float) -> None:
        """Move the image."""

    def zoom_at(self, at: QPointF, factor: float) -> None:
        """Zoom and keep the point at a position."""

    def point_at(self, at: QPointF) -> None:
        """Show a position with the cross-hair."""

    def scroll_by(self, steps: int) -> None:
        """Go on by a number of images of a stack; negative is back."""

    def magnify(self, at: QPointF | None) -> None:
        """Show the image larger around a position; None ends it."""


class Drag(Protocol):
    """One drag of the mouse, from press to release."""

    def move(self, at: QPointF) -> None:
        """Follow the mouse."""

    def end(self, at: QPointF) -> None:
        """Finish where the button was let go."""
