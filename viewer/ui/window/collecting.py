"""Garbage collection of Python cycles in the GUI thread, and nowhere else.

Python collects in whichever thread happens to allocate. A cycle may hold the Python
side of a widget, and to take that down in a background thread while Qt deletes the
widget in the GUI thread ends the process.
"""

import gc
from typing import Final

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer
from PySide6.QtGui import QGuiApplication

_EVERY_MS: Final = 100
"""A tenth of a second brings fewer new objects to look through than a longer time."""
_LIMITS: Final = (700, 10, 50)
"""Python's own, but for the oldest generation: it is due once a minute at most."""
_OLDEST: Final = 2


class GuiCollector(QObject):
    """Collects periodically in the thread of its event loop.

    While it lives, Python's own collector is off. The oldest generation, which takes
    longest, waits for a moment in which no mouse button is held.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        gc.set_threshold(*_LIMITS)
        self._timer = QTimer(self, interval=_EVERY_MS)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> None:
        """Collect the oldest generation that is due, with all younger ones."""
        due = due_generation()
        if due == _OLDEST and _dragging():
            due -= 1
        if due is not None:
            gc.collect(due)


def collect_all() -> None:
    """Collect the remaining Qt objects while the application still exists.

    For the end of the program, when no window is left: windows are full of cycles, and
    the interpreter's very last collection comes when the application is gone.
    """
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.unfreeze()
    gc.collect()


def due_generation() -> int | None:
    """Return the oldest generation whose count is over its threshold, 0 to 2."""
    ages = zip(gc.get_count(), gc.get_threshold(), strict=True)
    due = [age for age, (count, limit) in enumerate(ages) if 0 < limit < count]
    return due[-1] if due else None


def _dragging() -> bool:
    return bool(QGuiApplication.mouseButtons().value)
