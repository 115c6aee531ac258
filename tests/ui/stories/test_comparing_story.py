"""From two selected runs to an item that flips, in Read with both answers, and back."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import finished_run
from tests.helpers.window_story import Story, found, open_window
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.panels.comparing.page import ComparePage


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, tmp_path: Path) -> Story:
    finished_run(settings.store, tmp_path / "images")
    made = open_window(qtbot, settings, tmp_path / "images")
    made.window.enter(Place.MEASURE)
    made.wait(lambda: made.measure.runs.selected)
    return made


def test_that_a_flip_is_looked_at_in_read_with_both_answers_and_escape_comes_back(
    story: Story,
) -> None:
    control, shift = (
        Qt.KeyboardModifier.ControlModifier,
        Qt.KeyboardModifier.ShiftModifier,
    )
    story.press(Qt.Key.Key_D, control, shift)
    page = found(story.measure, ComparePage)
    story.wait(lambda: page.choice.compare.isEnabled() and page.choice.outlook.text())
    story.picture("compare_chosen")
    page.choice.compare.click()
    story.wait(lambda: page.statistics is not None and page.plot.drawn)
    story.tab_to(page.film.view)
    story.press(Qt.Key.Key_Home)
    story.wait(lambda: page.film.model.pictures_drawn)
    story.picture("compared")
    pair = page.film.model.items[0].pair
    story.press(Qt.Key.Key_Return)
    story.wait(lambda: len(story.read.lightbox.view.answer_items) == 2)
    drawn = {item.answer.trial for item in story.read.lightbox.view.answer_items}
    assert drawn == {pair.first.id, pair.second.id}
    story.picture("both_answers")
    story.press(Qt.Key.Key_Escape)
    assert story.window.place is Place.MEASURE
    assert story.measure.comparing.shown
    assert page.film.view.currentIndex().row() == 0
    story.press(Qt.Key.Key_Escape)
    assert not story.measure.comparing.shown
