"""Readers who see a model's answers: nothing before the lock, and known habits."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.reviewed_run import DATASET, MODELS, missed_run
from viewer.cli import run_command_line
from viewer.domain.aid import Aid, Arm
from viewer.domain.answer import CellAnswer
from viewer.domain.errors import WrongUseError
from viewer.domain.form import PlaceKind
from viewer.domain.form_catalog import CONFIDENCE, PLACE, READER_TASK
from viewer.domain.form_values import Value, Values
from viewer.domain.grid import Cell
from viewer.domain.reading import SessionId, Task, TaskState
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.aiding import Effect, effects
from viewer.store import readings
from viewer.store.database import open_store

MINE = CellAnswer(Cell(0, 0))
"""A corner: never right in these cases."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("aided") / "s.sqlite"
    missed_run(path, 10)
    return path


def opened(store: Path, reader: str, aid: Aid | None, **more: object) -> SessionId:
    session = opening.open_reader_study(
        store,
        DATASET,
        READER_TASK,
        reader,
        aid=aid,
        **more,  # type: ignore[arg-type]
    )
    if not recording.has_consented(store, session):
        recording.consent(store, session)
    return session


def an_aid(arm: Arm, wrong: float = 0.5) -> Aid:
    return Aid(1, MODELS[0], arm, wrong)


def read(
    store: Path, session: SessionId, final: Callable[[Task], Value]
) -> tuple[Effect, ...]:
    """Read every case: first one's own answer, then what ``final`` makes of advice.

    Return the effects in each arm.
    """
    for position in range(len(cases.queue(store, session))):
        task = cases.task(store, session, position)
        again = ""
        if task.arm is Arm.AFTER:
            assert task.answer is None
            assert not task.advice
            values: Values = {PLACE: MINE, CONFIDENCE: 3}
            task = recording.lock(store, session, position, values)
            again = "_again"
            assert task.state is TaskState.STAGE_LOCKED
            assert task.values["place_again"] == MINE
        values = {f"{PLACE}{again}": final(task), f"{CONFIDENCE}{again}": 3}
        task = recording.lock(store, session, position, values)
        assert task.state is TaskState.LOCKED
    reader = opening.session(store, session).reader
    return tuple(e for e in effects(store, session) if e.reader == reader)


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
    arms = (Arm.AFTER, Arm.FROM_START) if arm is Arm.BOTH else (arm,)
    found = {}
    for seed, how in enumerate((follows, ignores, half)):
        session = opened(store, f"{how.__name__} {arm}", an_aid(arm), seed=seed)
        effects_found = read(store, session, how)
        assert [one.arm for one in effects_found] == sorted(arms)
        found[how.__name__] = effects_found
    assert {one.over_trust.value for one in found["follows"]} == {1}
    assert {one.over_trust.value for one in found["ignores"]} == {0}
    for one in found["half"]:
        assert one.over_trust.interval.low < 0.5 < one.over_trust.interval.high
    assert all(one.gain.value == 0 for one in found["ignores"] if one.arm is Arm.AFTER)


def test_that_the_halves_of_both_arms_change_places_between_readers(
    store: Path,
) -> None:
    sessions = [opened(store, f"R{n}", an_aid(Arm.BOTH), seed=11) for n in range(3)]
    arms = []
    for session in sessions:
        with open_store(store) as held:
            items = [task.item for task in readings.tasks_of(held, session)]
        shown = [task.arm for task in cases.queue(store, session)]
        arms.append(dict(zip(items, shown, strict=True)))
    assert list(arms[0].values()).count(Arm.AFTER) == len(arms[0]) // 2
    assert all(arms[0][item] is not arms[1][item] for item in arms[0])
    assert arms[2] == arms[0]


def test_that_advice_from_the_start_is_shown_and_half_of_it_is_wrong(
    store: Path,
) -> None:
    wrong = opened(store, "W", an_aid(Arm.FROM_START, 1.0))
    tasks = cases.queue(store, wrong)
    assert all(MODELS[0] not in repr(task) for task in tasks)
    told = [task for task in tasks if task.advice]
    assert told
    assert all(task.answer == task.advice[PLACE] for task in told)
    (effect,) = read(store, wrong, follows)
    assert effect.gain.value != 1
    assert effect.wrong == effect.cases == effect.tempted
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
    aid = an_aid(Arm.FROM_START, 0.0)
    aided = opened(store, "G", aid, seed=7, returning=True)
    (found,) = read(store, aided, follows)
    assert found.cases > 0
    assert found.gain.value >= 0
    assert found.gain.value == found.gain.value


@pytest.mark.parametrize(
    ("aid", "place", "sentence"),
    [
        (Aid(1, "nobody", Arm.AFTER), PlaceKind.CELL, "no answer of 'nobody'"),
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
