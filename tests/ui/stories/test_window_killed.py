"""A batch started in a window that is killed goes on in the next one."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.helpers.kill_trial import KillTrial, serving
from tests.helpers.tabled import Row, lasting_csv
from tests.helpers.tiny_study import write_images
from tests.helpers.window_process import open_again, start_window
from viewer.cli import run_command_line
from viewer.domain.run import RunStatus
from viewer.services.worker.interrupted import interrupted_runs
from viewer.store import runs
from viewer.store.database import open_store

if TYPE_CHECKING:
    import subprocess

_PATIENCE_S = 600
_LATENCY_S = 0.1
_CONCURRENCY = 4


@dataclass
class Killing:
    """A store that a window works on, and how often that window was killed."""

    trial: KillTrial
    rng: random.Random
    kills: int = 0

    def kill_at(self, window: "subprocess.Popen[bytes]", answered: int) -> None:
        """Kill -9 the window once so many are answered; the worker stores the rest."""
        wait(lambda: self.trial.n_committed() >= answered)
        time.sleep(self.rng.random() * _LATENCY_S)
        os.kill(window.pid, signal.SIGKILL)
        window.wait()
        self.kills += 1
        self.trial.wait_until_released()
        assert self.trial.open_attempts() == set()
        received = self.trial.received()
        assert received.total() == len(self.trial.committed()) == len(received)

    @property
    def is_finished(self) -> bool:
        with open_store(self.trial.store_path) as store:
            summary = runs.run_summary(store, self.trial.run)
        return summary.status is RunStatus.FINISHED


def wait(condition: Callable[[], bool]) -> None:
    """Wait until something is true of other processes."""
    end = time.monotonic() + _PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def overread(*arguments: object) -> None:
    """Give a command; it must succeed."""
    assert run_command_line([*map(str, arguments)]) == 0


def items(store: Path, run: int, folder: Path) -> list[Row]:
    """Return the rows of the items.csv that the command line writes."""
    overread("report", run, "--out", folder, "--store", store)
    return lasting_csv((folder / "items.csv").read_bytes())


def kill_windows(folder: Path, n_items: int, kills: list[int]) -> Counter[str]:
    """Start a batch in a window and kill a window at each of these many answers.

    Returns how often each request was received.
    """
    images = write_images(folder / "d", n_items)
    journal = folder / "journal.jsonl"
    with serving(journal, _LATENCY_S) as base_url:
        trial = KillTrial(folder, images, base_url, journal, _CONCURRENCY)
        killing = Killing(trial, random.Random(n_items))
        killing.kill_at(
            start_window(trial.store_path, "batch", trial.study_file), kills[0]
        )
        assert [each.run for each in interrupted_runs(trial.store_path)] == [trial.run]
        for answered in kills[1:]:
            killing.kill_at(open_again(trial.store_path), answered)
        last = open_again(trial.store_path)
        wait(lambda: trial.n_committed() == n_items and killing.is_finished)
        last.terminate()
        last.wait()
        trial.wait_until_released()
        received = trial.received()
        assert received.total() == len(received) == n_items
        expected = on_the_command_line(folder, images, trial.study_file)
    assert killing.kills == len(kills)
    assert items(trial.store_path, trial.run, folder / "window") == expected
    return received


def on_the_command_line(folder: Path, images: Path, study_file: Path) -> list[Row]:
    """Return the items of the same run in a fresh store."""
    store = folder / "fresh.sqlite"
    overread("import", "folder", images, "--name", "tiny", "--store", store)
    overread("run", study_file, "--store", store, "--json")
    return items(store, 1, folder / "command-line")


def test_that_a_batch_goes_on_when_its_killed_window_is_opened_again(
    tmp_path: Path,
) -> None:
    received = kill_windows(tmp_path, 24, [6])
    assert set(received.values()) == {1}


@pytest.mark.proof
def test_that_a_batch_outlives_twenty_windows(tmp_path: Path) -> None:
    received = kill_windows(tmp_path, 400, list(range(8, 388, 19)))
    assert set(received.values()) == {1}
