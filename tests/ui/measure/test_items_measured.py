"""A run of a study without a grid in the Measure workspace."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from tests.helpers.quiz_study import quiz_in_catalog, quiz_spec, registered, says
from tests.helpers.tiny_study import finish
from viewer.services.comparing.runs import compare
from viewer.services.comparing.sides import Side
from viewer.services.inspecting.runs import run_table, trial_rows
from viewer.services.running.plan_run import plan_run
from viewer.services.viewing.decoding import LocalDecoder
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.panels.comparing.film import PairPictures
from viewer.ui.panels.measure.film_picture import FilmPictures
from viewer.ui.panels.measure.filmstrip import TrialChosen
from viewer.ui.workspaces.measure import MeasureWorkspace

RIGHT = {"two": "C", "one": "B", "none": "B"}


@pytest.fixture
def store(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    with quiz_in_catalog():
        with open_store(settings.store) as opened:
            registered(opened, tmp_path / "pictures")
            model = says("knows", RIGHT, tmp_path)
            finish(opened, plan_run(opened, quiz_spec([model])))
        yield settings.store


def test_that_its_table_shows_rates_and_a_tile_opens_what_was_said(
    store: Path, settings: Settings, qtbot: QtBot
) -> None:
    workspace = MeasureWorkspace(AppContext(settings, WorkerBridge(store)))
    qtbot.addWidget(workspace)
    workspace.resize(1200, 800)
    workspace.show()
    film = workspace.film
    qtbot.waitUntil(lambda: bool(film.model.trials), timeout=20_000)
    assert workspace.results.table.results.table == run_table(store, 1)
    qtbot.waitUntil(lambda: film.model.pictures_drawn > 0, timeout=20_000)
    place = next(i for i, row in enumerate(film.model.trials) if row.item == "two")
    with qtbot.assertNotEmitted(workspace.trial_chosen):
        film.view.clicked.emit(film.model.index(place))
        qtbot.waitUntil(lambda: workspace.told.shown is not None, timeout=20_000)
    shown = workspace.told.shown
    assert shown is not None
    assert shown.windowTitle() == "What knows was asked and said"
    (step,) = shown.steps
    assert len(step.pictures) == 2
    assert "[knows]\nC" in step.text.toPlainText()
    assert not shown.draw.isVisible()
    told = [label.text().partition(". ")[0] for label in shown.findChildren(QLabel)]
    assert [one for one in told if one.startswith("Image ")] == [
        "Image 1 of 2",
        "Image 2 of 2",
    ]
    shown.close()


def test_that_a_pair_of_answers_in_words_is_told_beside_what_was_sent(
    store: Path, tmp_path: Path
) -> None:
    with open_store(store) as opened:
        errs = says("errs", {**RIGHT, "two": "A"}, tmp_path)
        finish(opened, plan_run(opened, quiz_spec([errs])))
        comparison = compare(opened, Side(1, "knows"), Side(2, "errs"))
    (flip,) = comparison.flips
    ref = comparison.images.get(flip.pair.first.image)
    picture = PairPictures(store, LocalDecoder()).draw(flip.pair, ref, 48)
    assert picture.provenance == "knows\nC\nerrs\nA"
    assert picture.raster.pixels.any()
    none = next(p for p in comparison.pairing.scored if p.first.item == "none")
    black = PairPictures(store, LocalDecoder()).draw(none, None, 48)
    assert not black.raster.pixels.any()


def test_that_a_trial_is_told_wherever_it_is_chosen(
    store: Path, settings: Settings, qtbot: QtBot
) -> None:
    workspace = MeasureWorkspace(AppContext(settings, WorkerBridge(store)))
    qtbot.addWidget(workspace)
    with qtbot.assertNotEmitted(workspace.trial_chosen):
        workspace.predictions.tour.stop_reached.emit(TrialChosen(1))
        qtbot.waitUntil(lambda: workspace.told.shown is not None, timeout=20_000)
    shown = workspace.told.shown
    assert shown is not None
    shown.close()


def test_that_a_tile_shows_what_was_sent_and_black_where_nothing_was(
    store: Path,
) -> None:
    rows = trial_rows(
        store, 1, finding="(micro)", view="all", condition="shown", model="knows"
    )
    pictures = FilmPictures(store, LocalDecoder())
    drawn = {row.item: pictures.draw(row, 48) for row in rows}
    assert all(one.raster.pixels.shape == (48, 48, 3) for one in drawn.values())
    assert drawn["one"].raster.pixels.any()
    assert not drawn["none"].raster.pixels.any()
    assert drawn["none"].provenance == "knows\nB"
    assert drawn["none"].asked.startswith("Choose: ")
    assert drawn["one"].asked == ""
    assert drawn["bare"].asked == "Excluded, not asked"
    assert drawn["bare"].provenance == "knows"
