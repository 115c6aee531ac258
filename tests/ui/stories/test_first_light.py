"""The way from a collection to a miss: by hand with the mouse, and by keyboard."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from tests.helpers.window_story import (
    PICTURES_VARIABLE,
    Story,
    click,
    click_row,
    drag,
    open_story,
    tick,
)
from viewer.domain.run import RunStatus
from viewer.settings import Settings
from viewer.store import trials
from viewer.store.database import open_store
from viewer.ui.application.action_spec import Place
from viewer.ui.canvas.overlays.reference import ReferenceItem
from viewer.ui.dialogs.batch import BatchDialog
from viewer.ui.dialogs.what_model_saw import WhatModelSaw
from viewer.ui.panels.measure.filmstrip import TrialChosen
from viewer.ui.tables.results_model import RowKey

CTRL = Qt.KeyboardModifier.ControlModifier


_THEMES = ("dark", "light") if os.environ.get(PICTURES_VARIABLE) else ("dark",)


@pytest.fixture(params=_THEMES)
def story(
    qtbot: QtBot, settings: Settings, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Story]:
    made = open_story(qtbot, settings, tmp_path / "phantom")
    if request.param == "light":
        made.window.context.actions["view.theme"].trigger()
    yield made
    made.window.close()


@pytest.mark.usefixtures("worker_process")
def test_that_a_person_gets_from_an_image_to_a_miss_and_back(story: Story) -> None:
    story.open_collection()
    story.picture("mouse_1_open")
    _drag_window(story)
    _set_sixteen(story)
    story.picture("mouse_2_grid")
    click(story.read.ask.ask)
    _check_answer(story)
    story.picture("mouse_3_answer")
    click(story.read.answers.saw)
    saw = story.saw()
    story.picture("mouse_4_saw")
    _check_saw(story, saw)
    story.window.context.actions["file.batch"].trigger()
    page = story.batch_page()
    tick(page.models, "asymmetry", "uniform")
    story.wait(page.start.isEnabled)
    story.picture("mouse_5_batch")
    click(page.start)
    _wait_for_window(story, page)
    click(story.window.switch.buttons["window.measure"])
    story.wait_for_results()
    _check_finished(story)
    key = _choose_row_with_miss(story)
    story.picture("mouse_6_results")
    film = story.film.view
    click_row(film, story.film.model.index(0))
    _check_miss_drawn(story)
    story.picture("mouse_7_miss")
    story.press(Qt.Key.Key_Escape)
    _check_back(story, key)
    story.picture("mouse_8_back")
    assert story.window.place is Place.MEASURE


def test_that_the_keyboard_alone_gets_from_an_image_to_a_miss_and_back(
    story: Story,
) -> None:
    story.open_collection()
    _window_by_keyboard(story)
    _sixteen_by_keyboard(story)
    story.picture("keys_1_grid")
    story.press(Qt.Key.Key_Return, CTRL)
    _check_answer(story)
    story.picture("keys_2_answer")
    story.press(Qt.Key.Key_L, CTRL)
    saw = story.saw()
    story.wait(saw.isActiveWindow)
    story.picture("keys_3_saw")
    _check_saw(story, saw)
    _batch_by_keyboard(story)
    story.press(Qt.Key.Key_2, CTRL)
    story.wait_for_results()
    _check_finished(story)
    key = _row_with_miss_by_keyboard(story)
    story.picture("keys_5_results")
    story.tab_to(story.film.view)
    story.press(Qt.Key.Key_Home)
    story.press(Qt.Key.Key_Return)
    _check_miss_drawn(story)
    story.picture("keys_6_miss")
    story.press(Qt.Key.Key_Escape)
    _check_back(story, key)
    story.picture("keys_7_back")
    assert story.window.place is Place.MEASURE


def test_that_an_answer_about_a_finding_without_a_reference_is_drawn(
    story: Story,
) -> None:
    story.open_collection()
    story.read.ask.finding.setCurrentText("Fracture")
    click(story.read.ask.ask)
    story.wait_for_answer()
    assert story.read.ask.asked_finding == "Fracture"
    (answer,) = story.read.lightbox.view.answer_items
    assert answer is not None


def _drag_window(story: Story) -> None:
    view = story.read.lightbox.view
    before, middle = view.window_shown, view.viewport().rect().center()
    assert before is not None
    drag(view, middle, middle + QPoint(60, -40))
    after = view.window_shown
    assert after is not None
    assert after.width > before.width
    assert after.center < before.center


def _set_sixteen(story: Story) -> None:
    side = story.read.side
    click(side.unfold)
    side.grid.rows.setValue(16)
    side.grid.columns.setValue(16)
    assert side.unfold.text().startswith("Grid 16 × 16")


def _window_by_keyboard(story: Story) -> None:
    view = story.read.lightbox.view
    story.wait(view.hasFocus)
    story.press(Qt.Key.Key_PageDown)
    story.press(Qt.Key.Key_PageUp)
    story.wait(story.is_ready)
    story.wait(lambda: _shows_references(story))
    for _ in range(2):
        story.read.answers.blinding.reference.toggle()
    story.wait(lambda: _shows_references(story))
    before = view.shows_low_bright
    story.press(Qt.Key.Key_I)
    assert view.shows_low_bright is not before


def _sixteen_by_keyboard(story: Story) -> None:
    side = story.read.side
    story.tab_to(side.unfold)
    story.press(Qt.Key.Key_Space)
    for spin in (side.grid.rows, side.grid.columns):
        story.tab_to(spin)
        story.type("16")
        story.press(Qt.Key.Key_Tab)
    assert side.unfold.text().startswith("Grid 16 × 16")


def _check_answer(story: Story) -> None:
    """The answered cell lies on the image with its outcome, against a reference."""
    story.wait_for_answer()
    (item,) = story.read.lightbox.view.answer_items
    answer = item.answer
    assert (answer.model, answer.grid.name) == ("asymmetry", "16")
    assert answer.score.outcome is not None
    assert answer.score.answer
    assert answer.reference_cells


def _check_saw(story: Story, saw: WhatModelSaw) -> None:
    """The bytes shown hash to what the request says of its image."""
    answer = story.read.answers.current
    assert answer is not None
    with open_store(story.window.context.settings.store) as store:
        document = trials.sent_request(store, answer.request_sha256).document
    named = str(document)
    assert saw.images
    for image in saw.images:
        assert hashlib.sha256(image).hexdigest() in named
    story.press(Qt.Key.Key_Escape)
    story.wait(lambda: story.read.findChild(WhatModelSaw) is None)
    story.window.activateWindow()
    story.wait(story.window.isActiveWindow)


def _batch_by_keyboard(story: Story) -> None:
    story.press(Qt.Key.Key_B, CTRL)
    page = story.batch_page()
    story.wait(page.isActiveWindow)
    story.tab_to(page.models)
    story.press(Qt.Key.Key_Home)
    for row in range(page.models.count()):
        item = page.models.item(row)
        wanted = item.text().startswith(("asymmetry ", "uniform "))
        if wanted is not (item.checkState() is Qt.CheckState.Checked):
            story.press(Qt.Key.Key_Space)
        story.press(Qt.Key.Key_Down)
    assert page.form.models == ("asymmetry", "uniform")
    story.wait(page.start.isEnabled)
    story.picture("keys_4_batch")
    story.press(Qt.Key.Key_Return)
    _wait_for_window(story, page)


def _wait_for_window(story: Story, page: BatchDialog) -> None:
    """The page goes, and the window has the keyboard again, as desktops do it."""
    story.wait(lambda: not isValid(page) or page.isHidden())
    story.window.activateWindow()
    story.wait(story.window.isActiveWindow)


def _check_finished(story: Story) -> None:
    summary = story.measure.runs.selected
    assert summary is not None
    assert summary.status is RunStatus.FINISHED
    assert set(summary.models) == {"asymmetry", "uniform"}
    assert set(story.measure.results.table.results.distinct("model")) >= {
        "asymmetry",
        "uniform",
    }


def _choose_row_with_miss(story: Story) -> RowKey:
    table = story.measure.results.table
    for row in range(table.shown.rowCount()):
        click_row(table, table.shown.index(row, 0))
        if _film_of_row_has_miss(story):
            break
    assert table.key is not None
    return table.key


def _row_with_miss_by_keyboard(story: Story) -> RowKey:
    table = story.measure.results.table
    story.tab_to(table)
    for _ in range(table.shown.rowCount()):
        if _film_of_row_has_miss(story):
            break
        story.press(Qt.Key.Key_Down)
    assert table.key is not None
    return table.key


def _film_of_row_has_miss(story: Story) -> bool:
    """Wait for the trials of the row, then say whether the first is a miss."""
    key = story.measure.results.table.key
    assert key is not None
    story.wait(lambda: "trials" not in story.measure._background_tasks)
    return story.shows_miss()


def _check_miss_drawn(story: Story) -> None:
    trial = story.film.model.trials[0]
    assert story.window.place is Place.READ
    story.wait(lambda: _drawn(story) == [trial.trial])
    shown = story.read.lightbox.active.shown
    assert shown is not None
    assert shown.ref == trial.ref
    (item,) = story.read.lightbox.view.answer_items
    assert item.answer.score == trial.score
    assert story.read.grid.choice.grid == item.answer.grid
    story.wait(lambda: _shows_references(story))


def _shows_references(story: Story) -> bool:
    """Return whether each image of the patient has its reference drawn."""
    shown = [
        port.view for port in story.read.lightbox.viewports if port.shown is not None
    ]
    drawn = [{type(item) for item in view.scene().items()} for view in shown]
    return len(shown) == 2 and all(ReferenceItem in kinds for kinds in drawn)


def _drawn(story: Story) -> list[int]:
    return [item.answer.trial for item in story.read.lightbox.view.answer_items]


def _check_back(story: Story, key: RowKey) -> None:
    assert story.window.place is Place.MEASURE
    assert story.measure.results.table.key == key
    film = story.film
    trial = film.model.trials[film.view.currentIndex().row()].trial
    assert story.measure._chosen == TrialChosen(trial)
    assert film.view.hasFocus()
