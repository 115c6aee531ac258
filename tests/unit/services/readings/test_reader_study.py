import json
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.reviewed_run import FINDINGS, SIZE, dataset
from viewer.domain.answer import BoxesAnswer, CellAnswer, MaskAnswer, PointAnswer
from viewer.domain.errors import WrongUseError
from viewer.domain.form import PlaceKind, PlaceQuestion
from viewer.domain.form_catalog import (
    CONFIDENCE,
    PLACE,
    READER_TASK,
)
from viewer.domain.form_values import Flagged, Value
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reading import LockedError, SessionId, TaskState
from viewer.domain.reference import Mask
from viewer.services.readings import cases, opening, recording, reviewing
from viewer.services.sessions.ground import SessionSpec
from viewer.store import case_images, readings
from viewer.store import cases as data_sets
from viewer.store.database import Store, open_store

_PLACES: dict[PlaceKind, Value] = {
    PlaceKind.CELL: CellAnswer(Cell(2, 5)),
    PlaceKind.POINT: PointAnswer(PointPx(10.25, 33.5)),
    PlaceKind.BOXES: BoxesAnswer((BoxPx(1, 2, 30, 40), BoxPx(50, 50, 60, 70))),
    PlaceKind.MASK: MaskAnswer(
        Mask.of_array(np.tri(SIZE.rows, SIZE.columns, dtype=bool))
    ),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        data_sets.add_dataset(store, dataset(10, laterals=3))
    return path


def _open(path: Path, reader: str, **settings: object) -> SessionId:
    return opening.open_reader_study(
        path,
        "reviewed",
        READER_TASK,
        reader,
        **settings,  # type: ignore[arg-type]
    )


def _items(path: Path, session: SessionId) -> list[str]:
    with open_store(path) as store:
        return [task.item for task in readings.tasks_of(store, session)]


def test_that_readers_get_the_same_questions_in_counterbalanced_orders(
    path: Path,
) -> None:
    orders = [_items(path, _open(path, name)) for name in "ABCD"]
    assert len({tuple(order) for order in orders}) == 4
    assert {frozenset(order) for order in orders} == {frozenset(orders[0])}
    assert len(orders[0]) == 10 * len(FINDINGS)
    quarter = len(orders[0]) // 4
    blocks = {frozenset(order[:quarter]) for order in orders}
    assert len(blocks) == 4
    assert blocks == {frozenset(order[-quarter:]) for order in orders}


def test_that_a_reader_goes_on_where_he_was(path: Path) -> None:
    first = _open(path, "A. Reader")
    assert _open(path, "  A.  Reader ") == first
    assert _open(path, "A. Reader", seed=1, returning=True) != first
    assert _open(path, "B. Reader") != first


def test_that_two_windows_that_open_the_same_at_once_have_one_session(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = _open(path, "A. Reader")
    own, calls = readings.session_rows, []

    def late(store: Store, **of: object) -> object:
        calls.append(of)
        return [] if len(calls) == 1 else own(store, **of)  # type: ignore[arg-type]

    monkeypatch.setattr(readings, "session_rows", late)
    assert _open(path, "A. Reader") == first
    assert len(calls) == 2


@pytest.mark.parametrize("kind", PlaceKind)
def test_that_a_place_of_every_kind_is_locked_and_comes_back(
    path: Path, kind: PlaceKind
) -> None:
    session = _open(path, "A", place=kind)
    form = opening.session(path, session).form
    question = form.questions[0]
    assert isinstance(question, PlaceQuestion)
    assert question.kinds == (kind,)
    values = {PLACE: _PLACES[kind], CONFIDENCE: 4, "problem": Flagged("rotated")}
    recording.lock(path, session, 0, values, comment="clear")
    done = cases.task(path, session, 0)
    assert (done.state, done.values, done.comment) == (
        TaskState.LOCKED,
        values,
        "clear",
    )
    wrong = next(place for other, place in _PLACES.items() if other is not kind)
    with pytest.raises(WrongUseError, match=f"Mark the place as {kind}"):
        recording.lock(path, session, 1, {PLACE: wrong, CONFIDENCE: 4})


def test_that_a_reader_is_asked_the_finding_and_told_nothing_else(path: Path) -> None:
    session = _open(path, "A", findings=["Edema"], limit=4)
    tasks = cases.queue(path, session)
    assert len(tasks) == 4
    assert {task.finding for task in tasks} == {"Edema"}
    with open_store(path) as store:
        truth = case_images.truth_of(store, 1, "patient0_frontal", "Edema")
    assert truth.reference is not None
    for task in tasks:
        assert truth.reference.counts not in repr(asdict(task))
        assert task.answer is None
        assert task.answer_text == ""
    with pytest.raises(LockedError):
        cases.reveal(path, session, 0)
    recording.lock(path, session, 0, {PLACE: _PLACES[PlaceKind.CELL], CONFIDENCE: 1})
    assert cases.reveal(path, session, 0).reference is None


def test_that_with_feedback_the_reference_follows_the_lock(path: Path) -> None:
    session = _open(path, "A", feedback=True)
    recording.lock(path, session, 0, {PLACE: _PLACES[PlaceKind.CELL], CONFIDENCE: 1})
    assert cases.reveal(path, session, 0).reference is not None
    assert _open(path, "A", returning=True) != session


def test_that_a_data_set_without_such_a_finding_is_told(path: Path) -> None:
    with pytest.raises(WrongUseError, match="No data set is named"):
        opening.open_reader_study(path, "other", READER_TASK, "A")
    with pytest.raises(WrongUseError, match="finding 'Rickets' is not known"):
        _open(path, "A", findings=["Rickets"])
    assert reviewing.forecast(path, _open(path, "A")).strata == 0


def test_that_a_data_set_whose_masks_do_not_fit_has_no_case(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    held = dataset(2, laterals=0)
    images = tuple(
        replace(image, geometry=ImageGeometry(SizePx(SIZE.rows + 1, SIZE.columns)))
        for image in held.images
    )
    with open_store(path) as store:
        data_sets.add_dataset(store, replace(held, images=images))
    with pytest.raises(WrongUseError, match="has no case that can be asked like this"):
        _open(path, "A")


def test_that_each_autosave_is_a_row_and_only_the_last_one_holds(path: Path) -> None:
    session = _open(path, "A")
    for level in (1, 2, 3):
        recording.autosave(path, session, 0, {CONFIDENCE: level})
    assert cases.task(path, session, 0).values == {CONFIDENCE: 3}
    assert recording.undo(path, session, 0).values == {CONFIDENCE: 2}
    with open_store(path) as store:
        acts = Counter(row.act.value for row in readings.readings_of(store, session))
    assert acts == {"saved": 3, "undone": 1}


def test_that_a_session_of_an_earlier_version_goes_on(path: Path) -> None:
    session = _open(path, "A")
    with open_store(path) as store:
        spec = readings.session_row(store, session).spec
    document = json.loads(spec)
    for later in ("task", "panel", "aid"):
        del document[later]
    earlier = SessionSpec.of_json(json.dumps({**document, "material": {}}))
    assert earlier == SessionSpec.of_json(spec)
