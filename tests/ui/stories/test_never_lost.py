"""Open cases, workspace, layout, theme and drafts outlive a window that is killed."""

import json
import math
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.helpers.tiny_study import write_images
from tests.helpers.window_process import start_window
from viewer.services.importing.import_dataset import import_dataset
from viewer.store.database import open_store

_WRITTEN_S = 4.0
"""Far more than a change waits to be written, on a busy machine."""
Kept = dict[str, object]


def _images(folder: Path, store: Path) -> Path:
    """Write images that are also a data set, so that there is a batch to fill in."""
    write_images(folder, 3)
    with open_store(store) as opened:
        import_dataset(opened, "folder", folder, "tiny")
    return folder


def _state(line: str, word: str) -> Kept | None:
    """Return the state in a line that begins with a word, None in any other."""
    said, _, state = line.partition(" ")
    return dict(json.loads(state)) if said == word and line.endswith("\n") else None


def _back(window: "subprocess.Popen[str]") -> Kept:
    """Return the state that a window opened with."""
    assert window.stdout is not None
    for line in window.stdout:
        if (state := _state(line, "back")) is not None:
            return state
    raise AssertionError("The window ended before it was as it had been left.")


def _killed(
    window: "subprocess.Popen[str]", back: Kept, rng: random.Random
) -> list[Kept]:
    """Kill a window at a random moment; return what the next one may open with."""
    assert window.stdout is not None
    said: list[tuple[float, Kept]] = [(0.0, back)]
    end = time.monotonic() + 1.0 + 5.0 * rng.random()
    killed_s = math.inf
    for line in window.stdout:  # also what was said and not read before the kill
        if (state := _state(line, "now")) is not None:
            said.append((time.monotonic(), state))
        if killed_s == math.inf and time.monotonic() > end:
            time.sleep(rng.random() / 2)
            os.kill(window.pid, signal.SIGKILL)
            killed_s = time.monotonic()
    window.wait()
    n = sum(at < killed_s - _WRITTEN_S for at, _ in said)
    return [state for _, state in said[max(0, n - 1) :]]


def kill_windows(folder: Path, kills: int) -> None:
    """Change a window at random and kill it, again and again.

    What the next window opens with is a state that the killed one had in its last
    seconds, and none that it had before these.
    """
    store, rng = folder / "store.sqlite", random.Random(kills)
    images = _images(folder / "images", store)
    allowed: list[Kept] = []
    for _ in range(kills + 1):
        with start_window(store, "arrange", images, stdout=subprocess.PIPE) as window:
            back = _back(window)
            may_be = _killed(window, back, rng)
        assert not allowed or back in allowed, _nearest(back, allowed[-1])
        allowed = may_be


def _nearest(back: Kept, last: Kept) -> str:
    """Return how a state differs from the last that was said."""
    differ = [name for name in back if back[name] != last[name]]
    return "\n".join(f"{name}: {back[name]} for {last[name]}" for name in differ)


def test_that_a_killed_window_comes_back_as_it_was(tmp_path: Path) -> None:
    kill_windows(tmp_path, 3)


@pytest.mark.proof
def test_that_a_hundred_killed_windows_come_back_as_they_were(tmp_path: Path) -> None:
    kill_windows(tmp_path, 100)
