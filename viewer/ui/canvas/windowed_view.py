"""A view of an image with a window: what the window is, and how it is set."""

from abc import abstractmethod
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from viewer.domain.image import Window
from viewer.imaging.luts import is_inverted
from viewer.ui.canvas.events import SenseChanged, WindowChanged
from viewer.ui.canvas.still_view import StillView

if TYPE_CHECKING:
    from viewer.ui.canvas.display import Display


class WindowedView(StillView):
    """Has a window and a sense of the grey scale for the image that it shows."""

    window_changed = Signal(object)
    """WindowChanged"""
    sense_changed = Signal(object)
    """SenseChanged"""
    windowed = Signal()
    """The user set the window, or reset it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._display: Display | None = None

    @abstractmethod
    def redraw(self) -> None:
        """Paint again."""

    @property
    def window_shown(self) -> Window | None:
        """The window in use, None without a grey image."""
        grey = (
            self._display is not None and self._display.pyramid.image.values.ndim == 2
        )
        return self._display.shown_window if self._display and grey else None

    @property
    def inverted(self) -> bool:
        """Whether the user inverted the grey scale."""
        return self._display is not None and self._display.inverted

    @property
    def window_set(self) -> Window | None:
        """The window that the user set, None while the file's is shown."""
        return self._display.window if self._display else None

    @property
    def first_window(self) -> Window | None:
        """The window that the image was first shown with, None without a grey one."""
        return self._display.pyramid.window if self._display else None

    @property
    def shows_low_bright(self) -> bool:
        """Whether low values are the bright ones."""
        if self._display is None:
            return False
        return is_inverted(self._display.pyramid.image) != self._display.inverted

    def set_window(self, window: Window) -> None:
        """Set the window; the initial one counts as the file's own."""
        if self._display is None or self.window_shown is None:
            return
        self._display.set_window(window)
        self.redraw()
        self._tell_window()
        self.windowed.emit()

    @property
    def clamped(self) -> bool:
        """Whether the lower limit of the window stays at 0."""
        return self._display is not None and self._display.clamped

    def clamp(self, on: bool) -> None:
        """Keep the lower limit of the window at 0, or let it move."""
        window = self.window_shown
        if self._display is not None and window is not None:
            self._display.clamped = on
            self.set_window(window if on else self._display.pyramid.window)

    def invert(self) -> None:
        """Invert the grey scale."""
        if self._display is not None:
            self._display.inverted = not self._display.inverted
            self.redraw()
            self._tell_sense()

    def _tell_sense(self) -> None:
        self.sense_changed.emit(SenseChanged(self.inverted))

    def _tell_window(self) -> None:
        if (window := self.window_shown) is not None:
            self.window_changed.emit(WindowChanged(window))
