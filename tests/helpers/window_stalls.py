"""Measures from a thread of its own how long the window did not come round."""

import sys
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from PySide6.QtCore import QObject, Qt, Signal

LIMIT_S = 0.25
"""A person takes a window that stands still for longer to be stuck."""
_BEAT_S = 0.02
_NS = 1e-9


@dataclass(frozen=True)
class Stall:
    """The window did not come round for ``seconds``.

    ``starved_s`` of them the machine gave its processors to others, as Linux counts
    it for the thread (``/proc/…/schedstat``); elsewhere 0. ``stack`` is where the
    thread was when the limit was passed.
    """

    seconds: float
    starved_s: float
    stack: str

    @property
    def own_s(self) -> float:
        """The seconds that are the program's own doing."""
        return self.seconds - self.starved_s

    def __str__(self) -> str:
        times = f"{self.seconds * 1000:.0f} ms, {self.own_s * 1000:.0f} ms its own"
        return f"{times}\n{self.stack}"


@dataclass
class _Beat:
    """Sent to the window, which answers it when it comes round."""

    sent_s: float
    waited_s: float
    answered: threading.Event = field(default_factory=threading.Event)
    seconds: float = 0.0
    starved_s: float = 0.0


class StallWatch(QObject):
    """Asks the window again and again to answer, and notes when it was late.

    Used as a context, in the window's thread.
    """

    _asked = Signal(object)
    """_Beat"""

    def __init__(self, limit_s: float = LIMIT_S) -> None:
        super().__init__()
        self.stalls: list[Stall] = []
        self.worst_s = 0.0
        self.beats = 0
        self._limit_s = limit_s
        self._over = threading.Event()
        self._window = threading.get_ident()
        self._accounts = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._asked.connect(self._answer, Qt.ConnectionType.QueuedConnection)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def report(self) -> str:
        """Return how often and how long the window stood still, and where."""
        head = f"{len(self.stalls)} stalls over {self._limit_s * 1000:.0f} ms"
        lines = f"{head}, the worst of {self.beats} beats {self.worst_s * 1000:.0f} ms"
        worst_first = sorted(self.stalls, key=lambda stall: -stall.own_s)
        return "\n".join([lines, *map(str, worst_first)])

    def _watch(self) -> None:
        while not self._over.wait(_BEAT_S):
            beat = _Beat(time.perf_counter(), self._starved_s())
            self._asked.emit(beat)
            if not beat.answered.wait(self._limit_s):
                self._note(beat)
            self.worst_s = max(self.worst_s, beat.seconds)
            self.beats += 1

    def _note(self, beat: _Beat) -> None:
        stack = self._stack()
        while not beat.answered.wait(_BEAT_S) and not self._over.is_set():
            pass
        if beat.answered.is_set():
            self.stalls.append(Stall(beat.seconds, beat.starved_s, stack))

    def _answer(self, beat: _Beat) -> None:
        beat.seconds = time.perf_counter() - beat.sent_s
        beat.starved_s = self._starved_s() - beat.waited_s
        beat.answered.set()

    def _stack(self) -> str:
        frame = sys._current_frames().get(self._window)
        return "".join(traceback.format_stack(frame)) if frame else ""

    def _starved_s(self) -> float:
        """Return how long the window's thread waited for a processor so far."""
        try:
            return int(self._accounts.read_text().split()[1]) * _NS
        except OSError:
            return 0.0
