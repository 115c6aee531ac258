"""Whatever is pressed, clicked and dragged: nothing raises, warns or stands still."""

import gc
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self

import pytest
from PySide6.QtCore import QObject, Qt, QtMsgType, Signal
from pytestqt.logging import Record
from pytestqt.qtbot import QtBot

from tests.helpers.window_monkey import Monkey
from tests.helpers.window_story import Story, open_demo, open_story
from viewer.services.starting.head_start import begin
from viewer.settings import Settings

_PLATFORM = "This plugin does not support"
"""How the platform without a screen begins what it says of itself."""
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

    def __exit__(self, *_: object) -> None:
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


class QtLog(Protocol):
    """What pytest-qt's fixture qtlog offers."""

    @property
    def records(self) -> list[Record]:
        """What Qt said so far."""


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, tmp_path: Path) -> Iterator[Story]:
    """The window over two patients."""
    made = open_story(qtbot, settings, tmp_path / "phantom")
    made.open_collection()
    _keep_open(made)
    yield made
    made.window.close()


@pytest.fixture
def demo(qtbot: QtBot, settings: Settings) -> Iterator[Story]:
    """The window over the demo collection."""
    begun = begin((), settings, demo=True)
    made = open_demo(qtbot, settings, begun)
    _keep_open(made)
    yield made
    made.window.close()
    begun.end()


def _keep_open(story: Story) -> None:
    """Let the command that leaves the window open the collection once more instead."""
    story.window.context.actions.handle({"file.quit": story.open_collection_again})


def test_that_a_hundred_random_actions_raise_and_warn_of_nothing(
    story: Story, qtlog: QtLog
) -> None:
    monkey = Monkey(story, seed=3)
    monkey.act(100)
    assert monkey.waits == []
    assert _warnings(qtlog) == []


@pytest.mark.proof
@pytest.mark.timed
def test_that_ten_thousand_random_actions_never_hold_the_window_up(
    demo: Story, qtlog: QtLog
) -> None:
    """No time the machine kept from the window counts; what is left is its own."""
    monkey = Monkey(demo, seed=11)
    gc.collect()
    gc.freeze()  # the tests' own objects are no part of the window, which does the same
    with StallWatch() as watch:
        monkey.act(10_000)
    print(monkey.done, watch.report(), sep="\n")  # noqa: T201 - a proof tells it
    assert monkey.waits == []
    assert _warnings(qtlog) == []
    assert [stall for stall in watch.stalls if stall.own_s > LIMIT_S] == []


def _warnings(log: QtLog) -> list[str]:
    graver = {QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg}
    return [
        record.message
        for record in log.records
        if record.type in graver and not record.message.startswith(_PLATFORM)
    ]
