"""A view of an image with a window: what the window is, and how it is set."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Signal
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
    _due = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._display: Display | None = None
        self._holds, self._is_due = 0, False
        self._due.connect(self._redraw_if_due, Qt.ConnectionType.QueuedConnection)

    @abstractmethod
    def lay_out(self) -> None:
        """Lay out what lies over the image."""

    def redraw(self) -> None:
        """Lay out the overlays, and paint again."""
        self._is_due = self._holds > 0
        if not self._is_due:
            self.lay_out()
        self.viewport().update()

    @contextmanager
    def redrawn_once(self) -> Iterator[None]:
        """Redraw at the end, however often something asks for it meanwhile."""
        with self._redrawn_later():
            yield
        self._redraw_if_due()

    @contextmanager
    def _redrawn_later(self) -> Iterator[None]:
        """Redraw before the next picture, as a window that opens has several sizes."""
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
        if self._is_due:
            self._due.emit()

    def _redraw_if_due(self) -> None:
        if self._is_due:
            self.redraw()

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Lay out first what is to be painted."""
        if event.type() is QEvent.Type.Paint:
            self._redraw_if_due()
        return super().viewportEvent(event)

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
