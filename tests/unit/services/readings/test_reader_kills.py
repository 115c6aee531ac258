"""A reader's program is killed while it answers: nothing acknowledged is lost."""

import itertools
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.forked import start_program
from tests.helpers.read_answers import answer_of
from tests.helpers.read_tasks import READ_TASKS, ReadTask
from tests.helpers.reviewed_run import dataset
from viewer.domain.form import (
    Form,
)
from viewer.domain.form_catalog import READER_TASK
from viewer.domain.reading import SessionHeldError, SessionId, Task, TaskState
from viewer.services.readings import cases, opening, recording
from viewer.store import cases as data_sets
from viewer.store.database import open_store
from viewer.store.reading_audit import check_audit

_LOCKED = {TaskState.LOCKED}


def read(store: Path, session: SessionId) -> None:
    """Read every case that is not locked yet; say each act that returned."""
    form = opening.session(store, session).form
    with recording.held(store, session):
        if not recording.has_consented(store, session):
            recording.consent(store, session)
        for task in cases.queue(store, session):
            _read(store, session, form, task)


def _read(store: Path, session: SessionId, form: Form, task: Task) -> None:
    while task.state not in _LOCKED:
        values = answer_of(form, task)
        first = next(iter(values))
        at = task.position
        recording.autosave(store, session, at, {first: values[first]})
        _say("saved", at)
        task = recording.lock(store, session, at, values)
        if task.state in _LOCKED:
            _say("locked", at)


def _say(act: str, position: int) -> None:
    sys.stdout.write(f"{act} {position}\n")
    sys.stdout.flush()


def _start(store: Path, session: SessionId) -> "subprocess.Popen[str]":
    return start_program(
        store,
        session,
        module="tests.unit.services.readings.test_reader_kills",
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
    tasks, form = cases.queue(store, session), opening.session(store, session).form
    for act, position in said:
        if act == "locked":
            assert tasks[position].state in _LOCKED
        else:
            assert tasks[position].state is not TaskState.WAITING
            assert tasks[position].values
    for task in tasks:
        answer = answer_of(form, task)
        assert task.values.items() <= answer.items()
        if task.state in _LOCKED:  # acknowledged or not, whole or not at all
            assert task.values == answer
    with open_store(store) as opened:
        assert check_audit(opened).intact


def _kill(store: Path, session: SessionId, rng: random.Random) -> int:
    """Kill a reader at some moment; return how many locks were acknowledged."""
    before = _order(store, session)
    said = _killed_after(store, session, rng.randint(0, 4), rng.random() * 0.05)
    _check(store, session, said)
    assert _order(store, session) == before
    return sum(act == "locked" for act, _ in said)


def _order(store: Path, session: SessionId) -> list[tuple[object, ...]]:
    """Return the cases in their order, with what is asked of each."""
    tasks = cases.queue(store, session)
    return [(t.image, t.question, t.asked, t.answer_text, t.training) for t in tasks]


def _kill_at(task: ReadTask, folder: Path, times: int) -> int:
    """Kill readers of a task; one who has read all is followed by another."""
    store = task.material.store(folder / "task")
    rng, locked, readers = random.Random(times), 0, itertools.count()
    session = task.open(store, f"R{next(readers)}")
    for _ in range(times):
        if opening.session(store, session).finished:
            session = task.open(store, f"R{next(readers)}")
        locked += _kill(store, session, rng)
    return locked


@pytest.mark.statement("E000-26")
def test_that_a_kill_loses_no_place_that_was_acknowledged(tmp_path: Path) -> None:
    assert _kill_at(READ_TASKS["placing"], tmp_path, 3) > 0


_QUICK = ("grading", "panel, then a model", "differential", "adjudication")


@pytest.mark.parametrize("name", _QUICK)
def test_that_a_kill_loses_no_answer_to_a_task(name: str, tmp_path: Path) -> None:
    _kill_at(READ_TASKS[name], tmp_path, 2)


@pytest.mark.proof
@pytest.mark.parametrize("name", READ_TASKS)
def test_that_two_hundred_kills_lose_no_answer_to_a_task(
    name: str, tmp_path: Path
) -> None:
    locked = _kill_at(READ_TASKS[name], tmp_path, 200)
    print(f"{name}: 200 kills, {locked} locks acknowledged")  # noqa: T201 - a proof
    assert locked > 50


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
