"""Reading time of a case: keys and mouse, while the window is active."""

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QPoint, QTimer, Signal
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QWidget

from viewer.domain.reading import Interval
from viewer.domain.reading_time import intervals_of

STEP_MS: Final = 250
"""So often it is looked whether the mouse moved, and the window is active."""


def now_ms() -> int:
    """Return a monotonic clock in milliseconds."""
    return time.monotonic_ns() // 1_000_000


class ReviewClock(QObject):
    """Records a reader's activity while one widget is on the screen.

    A pause counts as reading up to the limit of
    :mod:`viewer.domain.reading_time`; what passes while another window is active does
    not count at all. The mouse is looked at now and then: a filter of every event of
    the program would see widgets that are only half made.

    Parameters
    ----------
    owner : QWidget
        The widget on the screen.
    now : callable, optional
        Returns a clock in milliseconds.
    cursor : callable, optional
        Returns where the mouse is.
    """

    noted = Signal(object)
    """int: when the reader did something, by the clock."""
    left = Signal(object)
    """int: when the window was found left."""

    def __init__(
        self,
        owner: QWidget,
        now: Callable[[], int] = now_ms,
        cursor: Callable[[], QPoint] = QCursor.pos,
    ) -> None:
        super().__init__(owner)
        self._owner, self.now, self._cursor = owner, now, cursor
        self._stretches: list[list[int]] = []
        self._not_stored: tuple[Interval, ...] = ()
        self._at = QPoint()
        self._timer = QTimer(self, interval=STEP_MS)
        self._timer.timeout.connect(self.look)

    def start(self) -> None:
        """Start with a case."""
        self._at = self._cursor()
        self._stretches, self._not_stored = [[self.now()]], ()
        self._timer.start()

    def stop(self) -> None:
        """Record nothing more until a case is started."""
        self._timer.stop()
        self._stretches, self._not_stored = [], ()

    def note(self) -> None:
        """Record that the reader did something just now."""
        if self._stretches and self._stretches[-1]:
            self._add()

    def _add(self) -> None:
        now = self.now()
        self._stretches[-1].append(now)
        self.noted.emit(now)

    def look(self) -> None:
        """Record a moved mouse, and a window that was left or entered."""
        if not self._stretches:
            return
        moments, active = self._stretches[-1], self._is_active()
        if moments and not active:
            self._add()
            self.left.emit(moments[-1])
            self._stretches.append([])
        elif active and not moments:
            self._add()
        elif self._cursor() != self._at:
            self.note()
        self._at = self._cursor()

    def take(self) -> tuple[Interval, ...]:
        """Return the reader's active times since the last call, up to now."""
        if not self._stretches:
            return ()
        self.note()
        taken = tuple(i for moments in self._stretches for i in intervals_of(moments))
        away = not self._stretches[-1]
        self._stretches = [[] if away else [self.now()]]
        taken, self._not_stored = (*self._not_stored, *taken), ()
        return taken

    def give_back(self, taken: tuple[Interval, ...]) -> None:
        """Have what was taken taken again: it could not be stored."""
        self._not_stored = taken

    def _is_active(self) -> bool:
        return self._owner.isVisible() and self._owner.window().isActiveWindow()
