"""Notes when the window does not answer: how long, and what it was doing."""

import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

from PySide6.QtCore import QObject, Qt, Signal

from viewer.services.inspecting.blocks import LIMIT_S, Block
from viewer.services.starting.crash_report import name_of_code

_BEAT_S: Final = 0.025
_PLACES: Final = 12
_IMPORT: Final = "<frozen importlib"
"""How the files of Python's own import begin."""


class Watchdog(QObject):
    """Asks the window's thread to answer, again and again, from a thread of its own.

    Made in the window's thread. An answer costs that thread some 60 µs, 40 times a
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
        self._clock = _cpu_clock(self._watched)
        self._answer_s = self._answer_cpu_s = 0.0
        self._asked.connect(self._answer, Qt.ConnectionType.QueuedConnection)
        self._thread = threading.Thread(
            target=self._watch, name="watchdog", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Watch no more; a block that lasts is not told."""
        self._over.set()
        self._thread.join()

    def _answer(self) -> None:
        self._answer_s, self._answer_cpu_s = time.perf_counter(), self._clock()
        self._answered.set()

    def _watch(self) -> None:
        while not self._over.wait(_BEAT_S):
            asked_s, cpu_s = time.perf_counter(), self._clock()
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
            seconds = self._answer_s - asked_s
            if seconds > LIMIT_S:  # less if this thread itself came late
                self._tell(Block(seconds, self._answer_cpu_s - cpu_s, places))


def _cpu_clock(thread: int) -> Callable[[], float]:
    """Return what tells how long a thread has computed so far, in seconds.

    Windows does not tell it of another thread; there every block counts as computing.
    """
    if sys.platform == "win32":
        return time.perf_counter
    clock = time.pthread_getcpuclockid(thread)
    return lambda: time.clock_gettime(clock)


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
