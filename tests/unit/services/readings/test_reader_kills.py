"""A reader's program is killed while it answers: nothing acknowledged is lost."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.reviewed_run import dataset
from viewer.domain.answer import CellAnswer
from viewer.domain.form_catalog import CONFIDENCE, PLACE, READER_TASK
from viewer.domain.form_values import Values
from viewer.domain.grid import Cell
from viewer.domain.reading import SessionHeldError, SessionId, TaskState
from viewer.services.readings import cases, opening, recording
from viewer.store import cases as data_sets
from viewer.store.database import open_store
from viewer.store.reading_audit import check_audit

ROOT = Path(__file__).parents[4]
_LOCKED = {TaskState.LOCKED}


def answer_of(position: int) -> Values:
    """Return what the reader answers to a case."""
    return {PLACE: cell_of(position), CONFIDENCE: 1 + position % 5}


def cell_of(position: int) -> CellAnswer:
    """Return the cell that the reader clicks at a case."""
    return CellAnswer(Cell(position % 8, position // 8 % 8))


def read(store: Path, session: SessionId) -> None:
    """Read every case that is not locked yet; say each act that returned."""
    with recording.held(store, session):
        for task in cases.queue(store, session):
            if task.state in {TaskState.WAITING, TaskState.STARTED}:
                _read(store, session, task.position)


def _read(store: Path, session: SessionId, position: int) -> None:
    values = answer_of(position)
    recording.autosave(store, session, position, {PLACE: values[PLACE]})
    _say("saved", position)
    recording.lock(store, session, position, values)
    _say("locked", position)


def _say(act: str, position: int) -> None:
    sys.stdout.write(f"{act} {position}\n")
    sys.stdout.flush()


def _start(store: Path, session: SessionId) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.unit.services.readings.test_reader_kills"]
    return subprocess.Popen(
        [*command, str(store), str(session)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _killed_after(
    store: Path, session: SessionId, acts: int, pause_s: float
) -> list[tuple[str, int]]:
    """Kill a reader some time after so many acts; return what was acknowledged."""
    with _start(store, session) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(acts)]
        time.sleep(pause_s)
        process.kill()
        lines += process.stdout.readlines()
    said = [line.split() for line in lines if line.endswith("\n")]
    return [(act, int(position)) for act, position in said]


def _check(store: Path, session: SessionId, said: list[tuple[str, int]]) -> None:
    tasks = cases.queue(store, session)
    for act, position in said:
        if act == "locked":
            assert tasks[position].state in _LOCKED
            assert tasks[position].values == answer_of(position)
        else:
            assert tasks[position].state is not TaskState.WAITING
    for task in tasks:
        if task.state in _LOCKED:  # acknowledged or not, whole or not at all
            assert task.values == answer_of(task.position)
    with open_store(store) as opened:
        assert check_audit(opened).intact


def _kill_often(store: Path, times: int, seed: int) -> int:
    """Kill a reader again and again; return how many locks were acknowledged."""
    with open_store(store) as opened:
        data_sets.add_dataset(opened, dataset(150, laterals=0))
    session = opening.open_reader_study(store, "reviewed", READER_TASK, "R")
    rng, locked = random.Random(seed), 0
    for _ in range(times):
        said = _killed_after(store, session, rng.randint(0, 4), rng.random() * 0.05)
        locked += sum(act == "locked" for act, _ in said)
        _check(store, session, said)
    return locked


@pytest.mark.statement("E000-26")
def test_that_a_kill_loses_no_answer_that_was_acknowledged(tmp_path: Path) -> None:
    assert _kill_often(tmp_path / "s.sqlite", 3, seed=1) > 0


@pytest.mark.proof
def test_that_fifty_kills_lose_no_answer_that_was_acknowledged(tmp_path: Path) -> None:
    assert _kill_often(tmp_path / "s.sqlite", 50, seed=2) > 50


def test_that_another_process_is_refused_while_one_reads(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    with open_store(store) as opened:
        data_sets.add_dataset(opened, dataset(150, laterals=0))
    session = opening.open_reader_study(store, "reviewed", READER_TASK, "R")
    with _start(store, session) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with (
            pytest.raises(SessionHeldError, match=f"process {process.pid} on"),
            recording.held(store, session),
        ):
            pass
        process.kill()
        process.wait()
    with recording.held(store, session):
        pass


if __name__ == "__main__":
    read(Path(sys.argv[1]), SessionId(int(sys.argv[2])))
