"""From a number over all predictions to its case in Read, along a tour, and back."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import finished_run
from tests.helpers.window_story import Story, found, open_window
from viewer.services.inspecting.predictions.view import By
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.application.layout_memory import read_layout
from viewer.ui.workspaces.measure import MeasureWorkspace

CHOSEN = ("Edema", "grid=8", "says-d4")


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, tmp_path: Path) -> Story:
    finished_run(settings.store, tmp_path / "images")
    made = open_window(qtbot, settings, tmp_path / "images")
    made.window.enter(Place.MEASURE)
    made.measure.pages.setCurrentIndex(1)
    made.wait(lambda: made.measure.groups.groups.keys)
    return made


def test_that_a_number_leads_to_its_case_in_read_and_escape_back_to_the_number(
    story: Story,
) -> None:
    table = story.measure.groups.table
    table.choose(CHOSEN, "n")
    story.wait(lambda: "settled" in story.film.title)
    story.wait(lambda: len(story.film.model.trials) == 12)
    table.setFocus()
    story.press(Qt.Key.Key_Return)
    assert story.film.view.hasFocus()
    story.press(Qt.Key.Key_Return)
    story.wait_for_answer()
    story.press(Qt.Key.Key_Escape)
    assert story.window.place is Place.MEASURE
    assert table.chosen is not None
    assert story.measure.groups.groups.keys[table.chosen.group] == CHOSEN
    assert table.chosen.column == "n"
    assert story.film.view.currentIndex().row() == 0


def test_that_n_in_read_goes_from_disagreement_to_disagreement(story: Story) -> None:
    table = story.measure.groups.table
    table.choose(("Edema", "grid=8", "uniform"), "n")
    said: list[str] = []
    story.window.context.notices.posted.connect(lambda notice: said.append(notice.what))
    table.setFocus()
    story.press(Qt.Key.Key_N)
    story.wait(lambda: story.window.place is Place.READ)
    story.wait_for_answer()
    story.wait(lambda: any("Disagreement 1 of" in what for what in said))
    story.press(Qt.Key.Key_N)
    story.wait(lambda: any("Disagreement 2 of" in what for what in said))
    story.press(Qt.Key.Key_P)
    story.press(Qt.Key.Key_Escape)
    assert story.window.place is Place.MEASURE


def test_that_n_in_read_opens_the_first_miss_of_the_newest_run(
    qtbot: QtBot, settings: Settings, tmp_path: Path
) -> None:
    run = finished_run(settings.store, tmp_path / "images")
    story = open_window(qtbot, settings, tmp_path / "images")
    assert story.window.place is Place.READ
    said: list[str] = []
    story.window.context.notices.posted.connect(lambda notice: said.append(notice.what))
    story.window.context.actions["tour.next"].trigger()
    story.wait_for_answer()
    story.wait(lambda: any("Disagreement 1 of" in what for what in said))
    assert story.read.answers.current is not None
    assert story.read.answers.current.run == run


def test_that_the_window_remembers_what_predictions_were_grouped_by(
    story: Story, settings: Settings, qtbot: QtBot
) -> None:
    filters = story.measure.groups.filters
    filters.boxes[By.VIEW].setChecked(True)
    filters.boxes[By.MODEL].setChecked(False)
    story.window.close()
    assert "measure" in read_layout(settings.home).choices
    again = found(open_window(qtbot, settings, story.folder).window, MeasureWorkspace)
    assert again.groups.filters.by == (By.FINDING, By.VIEW, By.CONDITION)
    assert again.pages.currentIndex() == 1
