"""No mark is lost when a window is killed while a reader draws.

A real window in a process of its own is drawn in, with the mouse and by Undo, and is
killed at a random moment; the next window undoes and redoes everything, and goes on.
"""

import os
import random
import signal
import subprocess
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from tests.helpers.make_dicom import make_dicom
from tests.helpers.window_process import digest, start_window
from viewer.domain.mark import EditStep, Mark, MarkEdit
from viewer.services.viewing.marks import kept_edits, kept_marks

_PATIENCE_S = 600
KILLS_PER_STORE = 10
LONGEST_S = 1.5
NOTHING = digest(())
Marks = tuple[Mark, ...]


@dataclass
class Said:
    """What a window said, line by line."""

    lines: list[tuple[str, str]] = field(default_factory=list)

    def listen(self, window: "subprocess.Popen[str]") -> None:
        """Take in every line until the window is gone."""
        assert window.stdout is not None
        with window.stdout as said:
            for line in said:
                # The last line may be cut off by the kill, and says nothing then.
                if line.endswith("\n"):
                    word, _, rest = line.strip().partition(" ")
                    self.lines.append((word, rest))

    @property
    def states(self) -> list[str]:
        """The digests of the marks that were on the screen, in order."""
        return [rest for word, rest in self.lines if word == "marks"]


@dataclass
class Tally:
    """What came of all kills."""

    kills: int = 0
    edits: int = 0
    further: int = 0
    """Kills after which the store had an edit that was not yet said to be shown."""


def stored(store: Path) -> tuple[Marks, tuple[MarkEdit, ...]]:
    """Return the marks of the one image, and its edits."""
    marks = kept_marks(store)
    assert len(marks) <= 1
    return next(iter(marks.values()), ()), kept_edits(store)


def undone(marks: Marks, edits: tuple[MarkEdit, ...]) -> list[Marks]:
    """Return the marks before each edit that is done, the newest first.

    Each edit must find in its place exactly what it added.
    """
    before = []
    for edit in reversed([e for e in edits if e.step is EditStep.DONE]):
        assert marks[edit.at : edit.at + len(edit.added)] == edit.added
        marks = replace(edit, step=EditStep.UNDONE).applied(marks)
        before.append(marks)
    return before


def redone(marks: Marks, edits: tuple[MarkEdit, ...]) -> list[Marks]:
    """Return the marks after each edit that waits to be redone."""
    after = []
    for edit in (e for e in edits if e.step is EditStep.UNDONE):
        assert marks[edit.at : edit.at + len(edit.removed)] == edit.removed
        marks = replace(edit, step=EditStep.REDONE).applied(marks)
        after.append(marks)
    return after


def check(store: Path, said: Said, tally: Tally) -> None:
    """Compare the store with what was on the screen before the kill: all of it.

    An edit is stored first and shown then, so there may be one more in the store.
    """
    marks, edits = stored(store)
    back, forth = undone(marks, edits), redone(marks, edits)
    assert not back or digest(back[-1]) == NOTHING
    shown, now = said.states[-1], digest(marks)
    assert shown in {now, *(digest(each) for each in (*back[:1], *forth[:1]))}
    tally.further += shown != now
    tally.edits += len(said.states)
    tally.kills += 1


def draw_and_kill(store: Path, image: Path, wait_s: float, tally: Tally) -> None:
    """Draw in a window until it is killed, ``wait_s`` after its first edit."""
    before, edits = stored(store)
    window, said = start_window(store, "draw", image, stdout=subprocess.PIPE), Said()
    listener = Thread(target=said.listen, args=(window,))
    listener.start()
    end = time.monotonic() + _PATIENCE_S
    while len(said.states) < 2:
        assert window.poll() is None
        assert time.monotonic() < end
        time.sleep(0.005)
    time.sleep(wait_s)
    os.kill(window.pid, signal.SIGKILL)
    window.wait()
    listener.join()
    # The new window shows what the last one left, and undoes all of it.
    assert said.states[0] == digest(before)
    steps = [digest(each) for each in undone(before, edits)]
    assert said.states[1 : len(steps) + 1] == steps[: len(said.states) - 1]
    assert all(rest == NOTHING for word, rest in said.lines if word == "empty")
    check(store, said, tally)


def kill_windows(folder: Path, kills: int) -> Tally:
    """Kill so many windows, in a fresh store after every few; print what came of it."""
    values = np.arange(128 * 128, dtype=np.int16).reshape(128, 128)
    image = make_dicom(folder / "ct.dcm", values, Modality="CT")
    rng, tally = random.Random(kills), Tally()
    for number in range(kills):
        store = folder / f"{number // KILLS_PER_STORE}.sqlite"
        draw_and_kill(store, image, rng.uniform(0, LONGEST_S), tally)
    print(
        f"{tally.kills} kills, {tally.edits} edits on the screen, all of them stored; "
        f"after {tally.further} kills one more was stored than was said to be shown"
    )
    return tally


def test_that_a_few_kills_lose_no_mark(tmp_path: Path) -> None:
    assert kill_windows(tmp_path, 3).kills == 3


@pytest.mark.proof
def test_that_two_hundred_kills_lose_no_mark(tmp_path: Path) -> None:
    assert kill_windows(tmp_path, 200).kills == 200
