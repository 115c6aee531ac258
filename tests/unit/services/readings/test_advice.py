"""Which answers are made wrong on purpose, and what a heat map looks like as advice."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from tests.helpers.reviewed_run import FINDING, write_images
from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.aid import Aid, Arm, DrawnAs
from viewer.domain.answer import CellAnswer, HeatMapAnswer
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile, SentHeatMap
from viewer.domain.form import PlaceKind
from viewer.domain.form_catalog import CONFIDENCE, PLACE, READER_TASK
from viewer.domain.geometry import BoxPx
from viewer.domain.reading import SessionId, Task
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.readings import cases, opening, recording
from viewer.services.readings.advised_places import kept_map
from viewer.services.readings.aiding import Effect, effects
from viewer.services.readings.review_offer import Aided, study_offer
from viewer.store.database import open_store

IMAGES, EVERYWHERE = 8, 3
"""So many of the images have a reference that covers them whole."""
CELLS, MAPS = "says-h1", "draws-maps"


def a_map() -> npt.NDArray[np.float32]:
    """Return a map of 12 × 10 whose maximum lies low at the left."""
    heat = np.linspace(0, 0.5, 120, dtype=np.float32).reshape(12, 10)
    heat[10, 1] = 1
    return heat


def a_store(folder: Path, everywhere: int) -> Path:
    """Keep a run of a model that names H1, and of one with :func:`a_map`."""
    store, images = folder / "s.sqlite", folder / "images"
    write_images(images, IMAGES)
    for number in range(everywhere):
        mask = Image.fromarray(np.full((120, 100), 255, np.uint8))
        mask.save(images / f"patient{number:05d}_frontal.{FINDING}.png")
    np.save(folder / "heat.npy", a_map())
    models = [
        ModelProfile(CELLS, "scripted", {"answer": "H1"}),
        ModelProfile(MAPS, "scripted", {"heat_map_file": str(folder / "heat.npy")}),
    ]
    with open_store(store) as opened:
        import_dataset(opened, "folder", images, "aided")
        plan_and_finish(opened, a_spec(models, dataset="aided"))
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return a_store(tmp_path_factory.mktemp("advice"), EVERYWHERE)


def opened(store: Path, reader: str, aid: Aid) -> SessionId:
    session = opening.open_reader_study(store, "aided", READER_TASK, reader, aid=aid)
    if not recording.has_consented(store, session):
        recording.consent(store, session)
    return session


def followed(store: Path, session: SessionId) -> Effect:
    """Lock every case with the model's answer; return the effect."""
    for task in cases.queue(store, session):
        values = {PLACE: task.advice[PLACE], CONFIDENCE: 3}
        recording.lock(store, session, task.position, values)
    (effect,) = effects(store, session)
    return effect


@pytest.mark.parametrize("model", [CELLS, MAPS])
@pytest.mark.parametrize("wrong", [1.0, 0.5])
def test_that_no_case_counts_as_wrong_where_every_answer_is_right(
    model: str, wrong: float, store: Path
) -> None:
    aid = Aid(1, model, Arm.FROM_START, wrong)
    told = study_offer(store, "aided", shown=Aided(aid, PlaceKind.CELL)).aided
    made = min(round(wrong * IMAGES), IMAGES - EVERYWHERE)
    assert f"8 cases show an answer of the model, {made} of them made wrong" in told
    if wrong == 1:
        assert told.endswith(
            "No answer would be wrong in 3 cases, which keep the model's own."
        )
    session = opened(store, f"{model} {wrong}", aid)
    effect = followed(store, session)
    # Both models miss the five that can be missed anyway.
    assert effect.wrong == IMAGES - EVERYWHERE
    assert effect.over_trust.value == 1


def test_that_wrong_answers_need_a_place_that_is_wrong(tmp_path: Path) -> None:
    store = a_store(tmp_path, IMAGES)
    aid = Aid(1, CELLS, Arm.AFTER, 0.5)
    with pytest.raises(WrongUseError, match="any would be right"):
        opened(store, "R", aid)
    assert opened(store, "R", replace(aid, wrong=0.0)) == 1


def placed(task: Task) -> tuple[int, int]:
    place = task.advice[PLACE]
    assert isinstance(place, CellAnswer)
    return place.cell.row, place.cell.column


def test_that_a_heat_map_is_drawn_and_places_the_cell_of_its_maximum(
    store: Path,
) -> None:
    session = opened(store, "H", Aid(1, MAPS, Arm.FROM_START))
    tasks = cases.queue(store, session)
    assert len(tasks) == IMAGES
    for task in tasks:
        assert isinstance(task.answer, HeatMapAnswer)
        np.testing.assert_array_equal(
            task.answer.heat_map.values, a_map().astype(np.float16)
        )
        size = task.canvas.size
        assert (size.rows, size.columns) == (120, 100)
        # The middle of the maximum is row 105 of 120, column 15 of 100.
        assert placed(task) == (int(105 * 8 / 120), int(15 * 8 / 100)) == (7, 1)


def test_that_a_heat_map_made_wrong_is_the_same_map_elsewhere(store: Path) -> None:
    own = np.sort(a_map().astype(np.float16), axis=None)
    session = opened(store, "W", Aid(1, MAPS, Arm.FROM_START, 1.0))
    moved = 0
    for task in cases.queue(store, session):
        assert isinstance(task.answer, HeatMapAnswer)
        values = task.answer.heat_map.values
        np.testing.assert_array_equal(np.sort(values, axis=None), own)
        row, column = np.unravel_index(int(values.argmax()), values.shape)
        middle = (int((row + 0.5) * 8 / 12), int((column + 0.5) * 8 / 10))
        assert placed(task) == middle
        moved += int(row) != 10 or int(column) != 1
    assert 0 < moved <= IMAGES - EVERYWHERE


def test_that_only_the_place_of_a_heat_map_is_shown_where_that_is_wanted(
    store: Path,
) -> None:
    aid = Aid(1, MAPS, Arm.FROM_START, drawn_as=DrawnAs.PLACED)
    tasks = cases.queue(store, opened(store, "P", aid))
    assert {type(task.answer) for task in tasks} == {CellAnswer}
    assert {placed(task) for task in tasks} == {(7, 1)}


def test_that_a_large_heat_map_is_kept_coarser() -> None:
    heat = np.random.default_rng(3).random((401, 300)).astype(np.float16)
    whole = HeatMapAnswer(SentHeatMap.of(heat), BoxPx(0, 0, 600, 802))
    kept = kept_map(whole)
    assert isinstance(kept, HeatMapAnswer)
    assert (kept.heat_map.rows, kept.heat_map.columns) == (80, 60)
    assert kept.field == BoxPx(0, 0, 600, 800)
    last = [float(heat[395 + i, 295 + j]) for i in range(5) for j in range(5)]
    assert kept.heat_map.values[79, 59] == pytest.approx(sum(last) / 25, abs=2e-3)
    small = HeatMapAnswer(SentHeatMap.of(a_map()), BoxPx(0, 0, 100, 120))
    assert kept_map(small) is small
