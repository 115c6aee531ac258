"""A reader's program is killed while it answers: nothing acknowledged is lost."""

import itertools
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.reviewed_run import dataset
from tests.helpers.task_stores import imported, phantom
from viewer.domain.answer import CellAnswer
from viewer.domain.form import (
    ChoiceQuestion,
    Form,
    LikertQuestion,
    PlaceQuestion,
    Question,
    RankedTextQuestion,
    RevealedChoiceQuestion,
)
from viewer.domain.form_catalog import READER_TASK
from viewer.domain.form_values import Value, Values
from viewer.domain.grid import Cell
from viewer.domain.reading import SessionHeldError, SessionId, Task, TaskState
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.task_readings import TaskWanted, open_task
from viewer.store import cases as data_sets
from viewer.store.database import open_store
from viewer.store.reading_audit import check_audit

ROOT = Path(__file__).parents[4]
_LOCKED = {TaskState.LOCKED}


def answer_of(form: Form, task: Task) -> Values:
    """Return what the reader answers to a case's questions up to its stage."""
    stages = form.narrowed(task.asked).stages[: task.stage + 1]
    answers = {q.id: _value(q, task) for stage in stages for q in stage}
    return {name: value for name, value in answers.items() if value is not None}


def _value(question: Question, task: Task) -> Value | None:
    position = task.position
    match question:
        case PlaceQuestion(required=True):
            return CellAnswer(Cell(position % 8, position // 8 % 8))
        case LikertQuestion():
            return question.lowest + position % len(question.anchors)
        case RankedTextQuestion():
            return (f"first of {position}", f"second of {position}")
        case ChoiceQuestion() | RevealedChoiceQuestion():
            options = question.options or task.options.get(question.id, ())
            return options[position % len(options)].key if options else None
        case _:
            return None


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
    tasks, form = cases.queue(store, session), opening.session(store, session).form
    for act, position in said:
        if act == "locked":
            assert tasks[position].state in _LOCKED
        else:
            assert tasks[position].state is not TaskState.WAITING
    for task in tasks:
        if task.state in _LOCKED:  # acknowledged or not, whole or not at all
            assert task.values == answer_of(form, task)
    with open_store(store) as opened:
        assert check_audit(opened).intact


def _kill_often(store: Path, times: int, seed: int) -> int:
    """Kill a reader again and again; return how many locks were acknowledged."""
    with open_store(store) as opened:
        data_sets.add_dataset(opened, dataset(150, laterals=0))
    session = opening.open_reader_study(store, "reviewed", READER_TASK, "R")
    rng = random.Random(seed)
    return sum(_kill(store, session, rng) for _ in range(times))


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


@pytest.mark.statement("E000-26")
def test_that_a_kill_loses_no_answer_that_was_acknowledged(tmp_path: Path) -> None:
    assert _kill_often(tmp_path / "s.sqlite", 3, seed=1) > 0


@pytest.mark.proof
def test_that_fifty_kills_lose_no_answer_that_was_acknowledged(tmp_path: Path) -> None:
    assert _kill_often(tmp_path / "s.sqlite", 50, seed=2) > 50


_TASKS = {
    ("rubric_reading", "grading"): ("report-studies", 2, 1),
    ("pathology_mcq", "panel"): ("pathmmu", 8, None),
    ("evidence_diagnosis", "differential"): ("medsyn", 4, None),
}
"""Format, size and run of the data that a study's task is read on."""


def _kill_at(task: tuple[str, str], folder: Path, times: int) -> int:
    """Kill readers of a study's task; one who has read all is followed by another."""
    format_, size, run = _TASKS[task]
    collection = phantom(folder / "task", task[0], size)
    store = imported(collection, format_, run=run is not None)
    rng, locked, readers = random.Random(times), 0, itertools.count()
    wanted = TaskWanted(*task, "people", run=run)
    session = open_task(store, wanted, f"R{next(readers)}")
    for _ in range(times):
        if opening.session(store, session).finished:
            session = open_task(store, wanted, f"R{next(readers)}")
        locked += _kill(store, session, rng)
    return locked


@pytest.mark.parametrize("task", _TASKS, ids="-".join)
def test_that_a_kill_loses_no_answer_to_a_studys_task(
    task: tuple[str, str], tmp_path: Path
) -> None:
    _kill_at(task, tmp_path, 2)


@pytest.mark.proof
@pytest.mark.parametrize("task", _TASKS, ids="-".join)
def test_that_two_hundred_kills_lose_no_answer_to_a_studys_task(
    task: tuple[str, str], tmp_path: Path
) -> None:
    assert _kill_at(task, tmp_path, 200) > 50


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
