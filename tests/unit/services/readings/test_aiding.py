"""Readers who see a model's answers: nothing before the lock, and known habits."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.reviewed_run import DATASET, MODELS, missed_run
from viewer.cli import run_command_line
from viewer.domain.aid import Aid, Arm
from viewer.domain.answer import CellAnswer
from viewer.domain.errors import WrongUseError
from viewer.domain.form import PlaceKind, Question
from viewer.domain.form_catalog import CONFIDENCE, PLACE, READER_TASK
from viewer.domain.form_values import Value, Values
from viewer.domain.grid import Cell
from viewer.domain.reading import SessionId, Task, TaskState
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.aiding import Effect, effects

MINE = CellAnswer(Cell(0, 0))
"""A corner: never right in these cases."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("aided") / "s.sqlite"
    missed_run(path, 10)
    return path


def opened(store: Path, reader: str, aid: Aid | None, **more: object) -> SessionId:
    return opening.open_reader_study(
        store,
        DATASET,
        READER_TASK,
        reader,
        aid=aid,
        **more,  # type: ignore[arg-type]
    )


def an_aid(arm: Arm, wrong: float = 0.5) -> Aid:
    return Aid(1, MODELS[0], arm, wrong)


def read(store: Path, session: SessionId, final: Callable[[Task], Value]) -> Effect:
    """Read every case: first one's own answer, then what ``final`` makes of advice."""
    for position in range(len(cases.queue(store, session))):
        task = cases.task(store, session, position)
        again = ""
        if "place_again" in {q.id for s in _form(store, session) for q in s}:
            assert task.answer is None
            assert not task.advice
            values: Values = {PLACE: MINE, CONFIDENCE: 3}
            task = recording.lock(store, session, position, values)
            again = "_again"
            assert task.state is TaskState.STAGE_LOCKED
        values = {f"{PLACE}{again}": final(task), f"{CONFIDENCE}{again}": 3}
        task = recording.lock(store, session, position, values)
        assert task.state is TaskState.LOCKED
    return next(e for e in effects(store, session))


def _form(store: Path, session: SessionId) -> tuple[tuple[Question, ...], ...]:
    return opening.session(store, session).form.stages


def follows(task: Task) -> Value:
    return next(iter(task.advice.values()), MINE)


def ignores(_: Task) -> Value:
    return MINE


def half(task: Task) -> Value:
    return follows(task) if task.position % 2 else MINE


@pytest.mark.parametrize("arm", Arm)
def test_that_a_follower_an_independent_and_a_half_follower_are_measured(
    arm: Arm, store: Path
) -> None:
    found = {}
    for seed, how in enumerate((follows, ignores, half)):
        session = opened(store, f"{how.__name__} {arm}", an_aid(arm), seed=seed)
        found[how.__name__] = read(store, session, how)
    assert found["follows"].over_trust.value == 1
    assert found["ignores"].over_trust.value == 0
    between = found["half"].over_trust
    assert between.interval.low < 0.5 < between.interval.high
    if arm is Arm.AFTER:
        assert found["ignores"].gain.value == 0


def test_that_advice_from_the_start_is_shown_and_half_of_it_is_wrong(
    store: Path,
) -> None:
    wrong = opened(store, "W", an_aid(Arm.FROM_START, 1.0))
    tasks = cases.queue(store, wrong)
    assert all(MODELS[0] not in repr(task) for task in tasks)
    told = [task for task in tasks if task.advice]
    assert told
    assert all(task.answer == task.advice[PLACE] for task in told)
    assert read(store, wrong, follows).gain.value != 1
    found = effects(store, wrong)[0]
    assert found.under_trust.method.startswith("no trial")
    assert found.over_trust.value == 1


def test_that_drawn_advice_looks_like_the_models_own(store: Path) -> None:
    """Else a click on the same cell would not follow it, and wrong advice is known."""
    session = opened(store, "T", an_aid(Arm.FROM_START), seed=5)
    told = [t.advice[PLACE] for t in cases.queue(store, session) if t.advice]
    assert {one.tier for one in told if isinstance(one, CellAnswer)} == {""}


def test_that_gain_from_the_start_is_against_the_same_readers_unaided_answers(
    store: Path,
) -> None:
    alone = opened(store, "G", None, seed=7)
    for position in range(len(cases.queue(store, alone))):
        recording.lock(store, alone, position, {PLACE: MINE, CONFIDENCE: 3})
    aided = opened(store, "G", an_aid(Arm.FROM_START, 0.0), seed=7)
    found = read(store, aided, follows)
    assert found.cases > 0
    assert found.gain.value >= 0
    assert found.gain.value == found.gain.value


@pytest.mark.parametrize(
    ("aid", "place", "sentence"),
    [
        (Aid(1, "nobody", Arm.AFTER), PlaceKind.CELL, "no answer of 'nobody'"),
        (Aid(1, MODELS[0], Arm.AFTER), PlaceKind.POINT, "answers with a cell"),
    ],
)
def test_that_answers_that_cannot_be_shown_are_refused(
    aid: Aid, place: PlaceKind, sentence: str, store: Path
) -> None:
    with pytest.raises(WrongUseError, match=sentence):
        opened(store, "X", aid, place=place)


def test_that_the_effects_are_printed_beside_the_progress(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = opened(store, "P", an_aid(Arm.AFTER), seed=3)
    read(store, session, follows)
    capsys.readouterr()
    words = ["readings", "--session", str(session), "--store", str(store)]
    assert run_command_line(words) == 0
    told = capsys.readouterr().out
    assert "over trust" in told
    assert "1.000 (" in told
