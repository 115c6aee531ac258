"""Notifies the pages when another process has written."""

from typing import Final

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QApplication, QWidget

from viewer.services.inspecting.changes import Watch
from viewer.settings import Settings

LOOK_MS: Final = 1000


class Changes(QObject):
    """Checks once a second, while a window is visible, whether anything was written.

    Writes by the window and its worker are reported as well.
    """

    store_written = Signal()
    """The store has been written to."""
    models_written = Signal()
    """The models file has been written to."""
    deleted = Signal(object)
    """frozenset[Path]: files and folders of which the window deleted all it kept.

    Each part drops what it holds of them in memory.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._watch = Watch(settings)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def look(self) -> None:
        """Check now, unless no window is visible."""
        if not any(map(_is_seen, QApplication.topLevelWidgets())):
            return
        changed = self._watch.look()
        if changed.store:
            self.store_written.emit()
        if changed.models:
            self.models_written.emit()

    def stop(self) -> None:
        """Stop checking, and close the store."""
        self._timer.stop()
        self._watch.close()


def _is_seen(widget: QWidget) -> bool:
    return widget.isVisible() and not widget.isMinimized()
