"""Notes when the window does not answer: how long, and what it was doing."""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal

from viewer.services.inspecting.blocks import LIMIT_S, Block
from viewer.services.starting.crash_report import name_of_code

_BEAT_S: Final = 0.025
_PLACES: Final = 12
_LINE_BYTES: Final = 128
"""More than a line of three numbers has."""
_IMPORT: Final = "<frozen importlib"
"""How the files of Python's own import begin."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """What the clocks of a thread and its process tell, in seconds.

    ``passed`` on the wall; computed by the ``thread`` and by the whole ``process``;
    ``queued``, for how long the thread was ready but had no processor.
    """

    passed: float
    thread: float
    process: float
    queued: float = 0.0

    def since(self, start: "Clocks") -> tuple[float, float]:
        """Return how many seconds passed, and how many the program itself took.

        The program took what the thread computed. While the thread neither computed
        nor was ready to, it may have waited for the interpreter's lock: so what the
        program's other threads computed then counts too, and no more than that.
        """
        seconds = self.passed - start.passed
        computed = self.thread - start.thread
        others = self.process - start.process - computed
        stood = seconds - computed - (self.queued - start.queued)
        return seconds, computed + max(0.0, min(others, stood))


class Watchdog(QObject):
    """Asks the window's thread to answer, again and again, from a thread of its own.

    Made in the window's thread. An answer costs that thread some 10 µs, 40 times a
    second; a block is measured from the question on, so up to a beat short.

    Parameters
    ----------
    tell : callable
        Gets each Block once it is over, in the watching thread.
    """

    _asked = Signal()

    def __init__(self, tell: Callable[[Block], object]) -> None:
        super().__init__()
        self._tell = tell
        self._over, self._answered = threading.Event(), threading.Event()
        self._watched = threading.get_ident()
        self._clocks = _Thread(self._watched, threading.get_native_id())
        self._answer_at = self._clocks.read()
        self._asked.connect(self._answer, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(
            target=self._watch, name="watchdog", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Watch no more; a block that lasts is not told."""
        self._over.set()
        self._thread.join()
        self._clocks.close()

    def _answer(self) -> None:
        self._answer_at = self._clocks.read()
        self._answered.set()

    def _watch(self) -> None:
        while not self._over.wait(_BEAT_S):
            asked_at = self._clocks.read()
            self._answered.clear()
            self._asked.emit()
            if self._answered.wait(LIMIT_S):
                continue
            frames = sys._current_frames()  # noqa: SLF001 - what Python offers for it
            places = _places(frames.get(self._watched))
            del frames  # or what they hold would outlive its calls
            while not self._answered.wait(_BEAT_S):
                if self._over.is_set():
                    return
            seconds, own_s = self._answer_at.since(asked_at)
            if seconds > LIMIT_S:  # less if this thread itself came late
                self._tell(Block(seconds, own_s, places))


class _Thread:
    """Reads the clocks of a thread, named as Python and the system do.

    Windows does not tell of another thread; there every block counts as computing.
    Only Linux tells how long a thread was without a processor.
    """

    def __init__(self, thread: int, native: int) -> None:
        self._schedule: int | None = None
        if sys.platform == "win32":
            return
        self._clock = time.pthread_getcpuclockid(thread)
        with contextlib.suppress(OSError):
            # Kept open: each call of the system lets other threads run Python first.
            self._schedule = os.open(
                f"/proc/self/task/{native}/schedstat", os.O_RDONLY | os.O_CLOEXEC
            )

    def read(self) -> Clocks:
        """Return what they tell now."""
        now = time.perf_counter()
        if sys.platform == "win32":
            return Clocks(now, now, 0.0)
        computed = time.clock_gettime(self._clock)
        return Clocks(now, computed, time.process_time(), self._queued())

    def _queued(self) -> float:
        if self._schedule is None:
            return 0.0
        return 1e-9 * int(os.pread(self._schedule, _LINE_BYTES, 0).split()[1])

    def close(self) -> None:
        """Read no more how long the thread was without a processor."""
        schedule, self._schedule = self._schedule, None
        if schedule is not None:
            os.close(schedule)


def _places(frame: FrameType | None) -> tuple[str, ...]:
    """Return where a thread is, the innermost call first, without any value."""
    places: list[str] = []
    while frame is not None and len(places) < _PLACES:
        code = frame.f_code
        if not code.co_filename.startswith(_IMPORT):
            name = name_of_code(code.co_filename)
            places.append(f"{name}:{frame.f_lineno} {code.co_name}")
        frame = frame.f_back
    return tuple(places)
