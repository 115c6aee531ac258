"""Flags with which the user stops long work, from the moment it is requested."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from viewer.domain.errors import WrongUseError


class Cancellations:
    """The flags of one kind of work, by the name of its subject.

    A stop may arrive before the working thread has begun: `expect` is called where the
    command arrives, `doing` in that thread.
    """

    def __init__(self, already: str) -> None:
        self._already = already
        self._flags: dict[str, threading.Event] = {}
        self._going: set[str] = set()
        self._lock = threading.Lock()
        self._ended = False

    def expect(self, name: str) -> None:
        """Record that work is about to begin."""
        with self._lock:
            self._flag(name)

    @contextmanager
    def doing(self, name: str) -> Iterator[threading.Event]:
        """Yield the flag of the work in progress.

        Raises
        ------
        WrongUseError
            If the same work is already in progress.
        """
        with self._lock:
            if name in self._going:
                raise WrongUseError(
                    f"The model '{name}' is already being {self._already}.",
                    "Wait until that is done.",
                )
            self._going.add(name)
            flag = self._flag(name)
        try:
            yield flag
        finally:
            with self._lock:
                self._going.discard(name)
                self._flags.pop(name, None)

    def stop(self, name: str) -> bool:
        """Set the flag of some work; return whether there was any."""
        with self._lock:
            flag = self._flags.get(name)
        if flag is not None:
            flag.set()
        return flag is not None

    def end(self) -> None:
        """Set every flag, also those of later work."""
        with self._lock:
            self._ended = True
            for flag in self._flags.values():
                flag.set()

    def _flag(self, name: str) -> threading.Event:
        flag = self._flags.setdefault(name, threading.Event())
        # Work that was expected but began after the end stops at once.
        if self._ended:
            flag.set()
        return flag
