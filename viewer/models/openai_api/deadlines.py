"""The deadlines of many requests, watched by one thread."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Final

_LINGER_S: Final = 1.0
"""Idle time after which the thread ends."""


class Deadline:
    """Calls a function at a time, unless it is cancelled before."""

    def __init__(self, at: float, expire: Callable[[], None]) -> None:
        self.at = at
        self._expire: Callable[[], None] | None = expire

    @property
    def is_over(self) -> bool:
        """Whether nothing will be called any more."""
        return self._expire is None

    def cancel(self) -> None:
        """Call nothing."""
        self._expire = None

    def expire(self) -> None:
        """Call the function, once."""
        expire, self._expire = self._expire, None
        if expire is not None:
            expire()


class Deadlines:
    """Deadlines after the same time each; a thread runs as long as there are any.

    A timer for each of many short requests would be a thread for each.
    """

    def __init__(self, after_s: float) -> None:
        self._after_s = after_s
        self._changed = threading.Condition()
        # The oldest is due first, as all wait for the same time.
        self._waiting: deque[Deadline] = deque()
        self._is_watched = self._lingers = False

    def add(self, expire: Callable[[], None]) -> Deadline:
        """Call a function in another thread when the time is up."""
        deadline = Deadline(time.monotonic() + self._after_s, expire)
        with self._changed:
            self._drop_ended()
            self._waiting.append(deadline)
            if not self._is_watched:
                # Else the application could not exit before the deadline.
                threading.Thread(target=self._watch, daemon=True).start()
                self._is_watched = True
            elif self._lingers:
                self._changed.notify()
        return deadline

    def _drop_ended(self) -> None:
        while self._waiting and self._waiting[0].is_over:
            self._waiting.popleft()

    def _watch(self) -> None:
        while (due := self._next_due()) is not None:
            due.expire()

    def _next_due(self) -> Deadline | None:
        """Wait until one is due and return it; None once there are no more."""
        with self._changed:
            while self._has_more():
                left_s = self._waiting[0].at - time.monotonic()
                if left_s <= 0:
                    return self._waiting.popleft()
                self._changed.wait(left_s)
            self._is_watched = False
            return None

    def _has_more(self) -> bool:
        self._drop_ended()
        if not self._waiting:
            self._lingers = True
            self._changed.wait(_LINGER_S)
            self._lingers = False
            self._drop_ended()
        return bool(self._waiting)
