"""Viewports in windows of their own, for a second monitor, and back."""

from collections.abc import Mapping
from functools import partial
from typing import Final

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from viewer.ui.application.action_set import Actions
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.layout_memory import bytes_of, digits_of
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.viewport import Viewport
from viewer.ui.widgets.plain_text import Label

ACTION: Final = "hang.own_window"
_SIZE: Final = (900, 900)
_CENTRE: Final = Qt.AlignmentFlag.AlignCenter


class ViewportWindow(QWidget):
    """A window around one viewport; the main window's commands and keys work in it."""

    closed = Signal()

    def __init__(
        self, viewport: Viewport, number: int, lightbox: Lightbox, actions: Actions
    ) -> None:
        super().__init__(lightbox, Qt.WindowType.Window)
        # No name of a patient: the desktop lists the titles of windows.
        self.setWindowTitle(f"Overread, viewport {number}")
        self.resize(*_SIZE)
        self._main, self._actions = lightbox, actions
        self.addActions([action for _, action in actions])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(viewport)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        """Give the viewport back."""
        event.ignore()
        self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Ask on Return; let the main window handle what nothing here does."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self._actions["ask.ask"].trigger()
            return
        QCoreApplication.sendEvent(self._main, event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Let the main window hear that the key that hides overlays is let go."""
        QCoreApplication.sendEvent(self._main, event)


class OwnWindows(QObject):
    """Takes viewports out of the lightbox, each into a window, and brings them back.

    A window is seen while its viewport is in use and the lightbox is seen: beside a
    review it could tell the reader what the review hides.
    """

    def __init__(self, lightbox: Lightbox, context: AppContext) -> None:
        super().__init__(lightbox)
        self._lightbox, self._context = lightbox, context
        self._windows: dict[Viewport, ViewportWindow] = {}
        self._places: dict[int, str] = {}
        lightbox.installEventFilter(self)
        lightbox.arranged.connect(self._follow)
        lightbox.active_changed.connect(self._mark)

    def toggle(self) -> None:
        """Put the active viewport in a window of its own, or back."""
        viewport = self._lightbox.active
        if viewport in self._windows:
            self.bring_back(viewport)
        else:
            self._take_out(viewport)
        viewport.view.setFocus()

    def bring_back(self, viewport: Viewport) -> None:
        """Put a viewport back into its place."""
        window = self._windows.pop(viewport)
        self._places.pop(self._lightbox.place_of(viewport), None)
        self._lightbox.stand_in(viewport, None)
        window.hide()
        window.deleteLater()
        self._mark()

    @property
    def kept(self) -> Mapping[str, str]:
        """The geometry of each window, with its screen, by the viewport's place."""
        for viewport, window in self._windows.items():
            place = self._lightbox.place_of(viewport)
            self._places[place] = digits_of(window.saveGeometry())
        return {str(place): state for place, state in self._places.items()}

    def recall(self, kept: Mapping[str, str]) -> None:
        """Take out the viewports of the previous session, once they are in use."""
        self._places = {int(p): state for p, state in kept.items() if p.isdecimal()}
        self._follow()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Show and hide the windows with the lightbox, but not when it is minimized."""
        kinds = {QEvent.Type.Show, QEvent.Type.Hide}
        if event.type() in kinds and not event.spontaneous():
            self._follow(seen=event.type() == QEvent.Type.Show)
        return super().eventFilter(watched, event)

    def _take_out(self, viewport: Viewport) -> None:
        place, actions = self._lightbox.place_of(viewport), self._context.actions
        window = ViewportWindow(viewport, place + 1, self._lightbox, actions)
        window.closed.connect(partial(self.bring_back, viewport))
        # Qt moves a window of a screen that is gone to one that is there.
        window.restoreGeometry(bytes_of(self._places.setdefault(place, "")))
        self._windows[viewport] = window
        stand_in = _StandIn(self._lightbox)
        stand_in.back.clicked.connect(partial(self.bring_back, viewport))
        self._lightbox.stand_in(viewport, stand_in)

    def _follow(self, *, seen: bool | None = None) -> None:
        """Show the windows of the viewports in use, hide the others."""
        used = self._lightbox.viewports
        for place, viewport in enumerate(used):
            if place in self._places and viewport not in self._windows:
                self._take_out(viewport)
        is_seen = self._lightbox.isVisible() if seen is None else seen
        for viewport, window in self._windows.items():
            window.setVisible(is_seen and viewport in used)
            viewport.show()
        self._mark()

    def _mark(self, *_: object) -> None:
        own = self._lightbox.active in self._windows
        self._context.actions.set_checked(ACTION, own)


class _StandIn(QWidget):
    """Where a viewport was, the way to bring it back."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.back = QPushButton("Bring the viewport back", self)
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addWidget(
            Label("This viewport is in a window of its own.", alignment=_CENTRE)
        )
        column.addWidget(self.back, 0, _CENTRE)
        column.addStretch(1)
