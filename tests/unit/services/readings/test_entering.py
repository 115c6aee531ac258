"""A reader's answers stand in the same tables as a model's, by the same path."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.full_disk import full_disk
from tests.helpers.reviewed_run import MODELS, SIZE, dataset, reviewed_run
from tests.helpers.tiny_study import finish, write_images
from viewer.domain.answer import (
    BoxesAnswer,
    CellAnswer,
    MaskAnswer,
    PointAnswer,
    Status,
)
from viewer.domain.errors import DiskFullError, WrongUseError
from viewer.domain.form import PlaceKind, PlaceQuestion
from viewer.domain.form_catalog import CONFIDENCE, PLACE, POSITION, READER_TASK, VERDICT
from viewer.domain.form_values import Absent, Value, Values
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell
from viewer.domain.reading import Interval, LockedError, SessionId, TaskState
from viewer.domain.reference import Mask
from viewer.domain.run import RunStatus
from viewer.services.comparing.listing import listed_sides
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.inspecting.answers import answer_of_trial, sent_images, sent_text
from viewer.services.inspecting.predictions.groups import grouped, offered
from viewer.services.inspecting.predictions.view import By, Wanted
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.entering import enter, entered_run
from viewer.services.readings.mrmc import readings_of_study
from viewer.services.readings.replies import model_name
from viewer.services.reporting.report_run import report_data
from viewer.services.reporting.rescore import rescore_run
from viewer.services.running.batch_options import BatchOptions
from viewer.store import cases as data_sets
from viewer.store import runs, trials
from viewer.store.database import open_store

_MASK = Mask.of_array(np.tri(SIZE.rows, SIZE.columns, dtype=bool))
PLACES: dict[PlaceKind, tuple[Value, Value]] = {
    PlaceKind.CELL: (CellAnswer(Cell(0, 0)), CellAnswer(Cell(5, 6))),
    PlaceKind.POINT: (PointAnswer(PointPx(9.75, 0.1)), PointAnswer(PointPx(70.3, 12))),
    PlaceKind.BOXES: (
        BoxesAnswer((BoxPx(0.5, 1, 8, 9), BoxPx(60, 60, 61, 61))),
        BoxesAnswer((BoxPx(30, 30, 40.25, 50),)),
    ),
    PlaceKind.MASK: (
        MaskAnswer(Mask.of_array(np.eye(SIZE.rows, SIZE.columns, dtype=bool))),
        MaskAnswer(_MASK),
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        data_sets.add_dataset(store, dataset(3, laterals=0))
    return path


def _session(path: Path, kind: PlaceKind, locked: int) -> SessionId:
    session = opening.open_reader_study(
        path, "reviewed", READER_TASK, "A. Reader", place=kind
    )
    for position in range(locked):
        _lock(path, session, position, PLACES[kind][position % 2])
    return session


def _lock(path: Path, session: SessionId, position: int, place: Value) -> None:
    recording.lock(
        path,
        session,
        position,
        {PLACE: place, CONFIDENCE: 4},
        activity=[Interval(0, 2500)],
    )


def test_that_a_study_enters_though_its_last_lock_was_the_process_last_act(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = _session(path, PlaceKind.CELL, 5)
    with monkeypatch.context() as patched:
        patched.setattr(recording, "enter_if_finished", lambda *_: None)
        _lock(path, session, 5, PLACES[PlaceKind.CELL][0])
    with open_store(path) as store:
        assert entered_run(store, session) is None
        with recording.held(path, session):
            run = entered_run(store, session)
        assert run is not None
        assert len(trials.scored_trials(store, run)) == 6
        assert runs.run_summary(store, run).status is RunStatus.FINISHED


@pytest.mark.parametrize("kind", PlaceKind)
@pytest.mark.statement("X-03")
def test_that_a_place_of_every_kind_is_scored_by_the_path_of_models(
    path: Path, kind: PlaceKind
) -> None:
    session = _session(path, kind, 5)
    assert enter(path, session).added == 5
    _lock(path, session, 5, PLACES[kind][1])
    entered = enter(path, session)
    assert entered.added == 0
    with open_store(path) as store:
        expected = {
            r.trial.item: (r.score, r.answer) for r in readings_of_study(store, session)
        }
        held = trials.scored_trials(store, entered.run)
        report = report_data(store, entered.run)
    assert {one.trial.model for one in held} == {"A.-Reader"}
    assert {one.trial.item: one.score for one in held} == {
        item: score for item, (score, _) in expected.items()
    }
    assert {one.score.status for one in held} == {
        Status.SCORED_CORRECT,
        Status.SCORED_WRONG,
    }
    for one in held:
        shown = answer_of_trial(path, one.id)
        locked = expected[one.trial.item][1]
        if isinstance(locked, CellAnswer):
            assert isinstance(shown.answer, CellAnswer)
            assert shown.answer.cell == locked.cell
        else:
            assert shown.answer == locked
        assert (shown.note, shown.latency_ms) == ("confidence 4", 2500)
        ((role, words),) = sent_text(path, shown.request_sha256)
        assert (role, words.split(".")[0]) == ("user", shown.finding)
        assert sent_images(path, shown.request_sha256) == ()
    names = [table.name for table in report.data.tables]
    assert ("rules" in names) == (kind is not PlaceKind.CELL)


def test_that_the_last_lock_enters_the_session_by_itself_and_is_final(
    path: Path,
) -> None:
    session = _session(path, PlaceKind.CELL, 5)
    with open_store(path) as store:
        assert entered_run(store, session) is None
    _lock(path, session, 5, CellAnswer(Cell(0, 0)))
    with open_store(path) as store:
        run = entered_run(store, session)
        assert run is not None
        assert runs.run_summary(store, run).status is RunStatus.FINISHED
    with pytest.raises(LockedError, match=f"are already in run {run}"):
        recording.undo(path, session, 5)


def test_that_a_reader_scores_as_a_model_that_names_the_same_cells(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    run = reviewed_run(path, 3)
    session = opening.open_reader_study(path, "reviewed", READER_TASK, "R")
    for task in cases.queue(path, session):
        _lock(path, session, task.position, CellAnswer(Cell(3, 3)))
    reader = enter(path, session).run
    with open_store(path) as store:
        model = {
            one.trial.item: one.score
            for one in trials.scored_trials(store, run)
            if one.trial.model == MODELS[0] and one.trial.view == "frontal"
        }
        person = {
            one.trial.item: one.score for one in trials.scored_trials(store, reader)
        }
    assert person == model
    assert len(person) == 6


def test_that_what_is_not_locked_stays_pending_and_comes_in_later(path: Path) -> None:
    session = _session(path, PlaceKind.CELL, 2)
    first = enter(path, session)
    with open_store(path) as store:
        assert runs.run_summary(store, first.run).status is RunStatus.UNFINISHED
        assert runs.status_counts(store, first.run)[Status.PENDING] == 4
        assert entered_run(store, session) == first.run
    for position in range(2, 6):
        _lock(path, session, position, CellAnswer(Cell(0, 0)))
    again = enter(path, session)
    assert (again.run, again.added) == (first.run, 0)
    with open_store(path) as store:
        assert runs.run_summary(store, first.run).status is RunStatus.FINISHED


@pytest.mark.parametrize("kind", [PlaceKind.POINT, PlaceKind.BOXES])
def test_that_places_in_native_pixels_are_reviewed_as_they_were_drawn(
    path: Path, kind: PlaceKind
) -> None:
    run = enter(path, _session(path, kind, 6)).run
    review = opening.open_error_review(path, run, "B. Reader")
    tasks = cases.queue(path, review)
    assert len(tasks) == 3
    assert {task.answer for task in tasks} == {PLACES[kind][1]}
    recording.lock(path, review, 0, {VERDICT: POSITION})
    seen = cases.reveal(path, review, 0)
    assert seen.answer == PLACES[kind][1]
    assert (seen.suggestion is None) == (kind is PlaceKind.POINT)
    assert "A.-Reader" not in repr((tasks, seen))


def test_that_scoring_again_changes_nothing(path: Path) -> None:
    run = enter(path, _session(path, PlaceKind.BOXES, 6)).run
    with open_store(path) as store:
        result = rescore_run(store, run)
    assert (result.replies, result.changed) == (6, 0)


def test_that_a_batch_asks_no_person_and_leaves_the_rest_pending(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        import_dataset(store, "folder", write_images(tmp_path / "images", 6), "tiny")
    session = opening.open_reader_study(path, "tiny", READER_TASK, "R")
    for position in range(2):
        _lock(path, session, position, CellAnswer(Cell(0, 0)))
    run = enter(path, session).run
    with open_store(path) as store:
        events = finish(store, run, BatchOptions())
        counts = runs.status_counts(store, run)
    assert any("is a person" in str(event) for event in events)
    assert counts[Status.PENDING] == 4


@pytest.mark.parametrize("kind", [PlaceKind.CELL, PlaceKind.POINT])
def test_that_a_reader_may_deny_the_finding(path: Path, kind: PlaceKind) -> None:
    question = PlaceQuestion(PLACE, "Where?", (kind,), can_be_absent=True)
    form = replace(READER_TASK, questions=(question,), name="with_absent")
    session = opening.open_reader_study(path, "reviewed", form, "R", place=kind)
    recording.lock(path, session, 0, {PLACE: Absent()})
    run = enter(path, session).run
    with open_store(path) as store:
        counts = runs.status_counts(store, run)
    assert counts[Status.DENIED_FINDING] == 1


def test_that_an_empty_or_withdrawn_session_is_told_in_a_sentence(path: Path) -> None:
    session = _session(path, PlaceKind.CELL, 0)
    with pytest.raises(WrongUseError, match="Nothing in session"):
        enter(path, session)
    _lock(path, session, 0, CellAnswer(Cell(0, 0)))
    run = enter(path, session).run
    recording.withdraw(path, session)
    with pytest.raises(WrongUseError, match="has withdrawn"):
        enter(path, session)
    with open_store(path) as store:
        (note,) = runs.run_summary(store, run).notes
    assert str(note) == (
        "A.-Reader: the reader has withdrawn; leave these results out."
    )


def test_that_an_error_review_is_no_run_of_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    session = opening.open_error_review(path, reviewed_run(path, 1), "R")
    with pytest.raises(WrongUseError, match="did not ask for a location"):
        enter(path, session)


@pytest.mark.parametrize(
    ("reader", "name"),
    [("A. Reader", "A.-Reader"), ("Ünal, Œ: x", "Ünal-Œ-x"), ("?", "reader")],
)
def test_that_a_name_is_one_that_a_model_may_have(reader: str, name: str) -> None:
    assert model_name(reader) == name


def test_that_who_has_withdrawn_is_counted_in_no_table_and_told(path: Path) -> None:
    session = _session(path, PlaceKind.CELL, 0)
    _lock(path, session, 0, CellAnswer(Cell(0, 0)))
    run, before = enter(path, session).run, grouped(path, ())
    assert "A.-Reader" in offered(path).models
    recording.withdraw(path, session)
    groups = grouped(path, (By.MODEL,))
    assert groups.left_out == (run,)
    assert ("A.-Reader",) not in groups.keys
    assert (before.total.n_planned, groups.total.n_planned) == (6, 0)
    alone = grouped(path, (), Wanted(runs=(run,)))
    assert (alone.total.n_planned, alone.left_out) == (0, (run,))
    offers = offered(path)
    assert run in offers.runs
    titles = [side.title for side in listed_sides(path) if side.side.run == run]
    assert [title.endswith(" · reader withdrew") for title in titles] == [True]
    assert "A.-Reader" not in offers.models


def test_that_the_last_lock_holds_where_the_disk_has_no_room_for_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "many.sqlite"
    with open_store(path) as store:
        data_sets.add_dataset(store, dataset(20, laterals=0))
    session = opening.open_reader_study(path, "reviewed", READER_TASK, "Full")
    values: Values = {PLACE: CellAnswer(Cell(0, 0)), CONFIDENCE: 3}
    *before, last = [task.position for task in cases.queue(path, session)]
    for position in before:
        recording.lock(path, session, position, values)
    refused = 0
    while cases.task(path, session, last).state is not TaskState.LOCKED:
        with full_disk(monkeypatch, refused):
            try:
                recording.lock(path, session, last, values, comment="x" * 10_000)
            except DiskFullError:
                refused += 1
    assert refused > 0
    with open_store(path) as store:
        run = entered_run(store, session)
        assert run is None or _status(path, run) is not RunStatus.FINISHED
    with recording.held(path, session), open_store(path) as store:
        run = entered_run(store, session)
    assert run is not None
    assert _status(path, run) is RunStatus.FINISHED


def _status(path: Path, run: int) -> RunStatus:
    with open_store(path) as store:
        return runs.run_summary(store, run).status
