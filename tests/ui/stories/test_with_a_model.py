"""Readers beside a model's answers, in the window: known habits are measured."""

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from tests.helpers.review_story import (
    ReviewStory,
    held_by,
    open_review,
    words_on_screen,
)
from tests.helpers.reviewed_run import MODELS, missed_run
from viewer.domain.aid import Arm
from viewer.domain.answer import CellAnswer
from viewer.domain.form_catalog import CONFIDENCE, PLACE
from viewer.domain.grid import Cell
from viewer.domain.reading import TaskState
from viewer.services.readings import opening
from viewer.services.readings.aiding import Effect, effects
from viewer.services.readings.result_rows import result_rows
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.panels.measure.run_list import RunList
from viewer.ui.panels.read.open_folders import FolderLine
from viewer.ui.panels.review.aid import ARMS, AidSettings

MINE = CellAnswer(Cell(0, 0))
READERS: dict[str, Callable[[int], bool]] = {
    "follower": lambda _: True,
    "independent": lambda _: False,
    "half": lambda position: bool(position % 2),
}


def begin(story: ReviewStory, arm: Arm, reader: str) -> None:
    """Begin to read beside the first model, half of whose answers are wrong."""
    start = story.review.start
    story.wait(start.read.isEnabled)
    start.aid.recall(AidSettings(True, arm=arm, wrong_percent=50))
    start.aid.changed.emit()
    story.wait(
        lambda: (
            "made wrong on purpose" in start.study_words.text()
            and start.read.isEnabled()
        )
    )
    start.reader.setText(reader)
    start.read.click()
    briefing = story.review.briefing
    story.wait(briefing.isVisible)
    assert "may be wrong" in briefing.text.text()
    assert not briefing.begin.isEnabled()
    briefing.consent.click()
    briefing.begin.click()
    story.wait(lambda: story.page.ready)


def read(story: ReviewStory, follows: Callable[[int], bool]) -> None:
    """Read every case; take the model's answer, or keep the own, by the buttons."""
    page = story.page
    while story.review.reviewing:
        task, form, advice = story.task, page.side.form, page.side.advice
        told = (*words_on_screen(story.window), *held_by(page))
        assert not any(name in words for words in told for name in MODELS)
        if task.arm is Arm.AFTER:
            assert task.answer is None
            assert not task.advice
            assert not advice.accept.isVisible()
            form.boxes[PLACE].set_value(MINE)
            form.boxes[CONFIDENCE].set_value(3)
            page.side.go.click()
            assert story.task.state is TaskState.STAGE_LOCKED
            assert page.image.subject == story.task.answer is not None
            assert form.boxes[f"{PLACE}_again"].value == MINE
            button = advice.accept if follows(task.position) else advice.keep
            button.click()
        else:
            assert page.image.subject == task.answer is not None
            assert not advice.keep.isVisible()
            form.boxes[CONFIDENCE].set_value(3)
            if follows(task.position):
                advice.accept.click()
            else:
                form.boxes[PLACE].set_value(MINE)
                page.side.go.click()
        story.wait(lambda: page.ready or not story.review.reviewing)


def found(settings: Settings, reader: str) -> tuple[Effect, ...]:
    (session,) = (s for s in opening.sessions(settings.store) if s.reader == reader)
    assert session.finished
    every = effects(settings.store, session.id)
    return tuple(one for one in every if one.reader == reader)


def pressed(story: ReviewStory, words: str) -> bool:
    """Press a button of the first session that has it; tell whether there is one."""
    buttons = story.review.start.sessions.findChildren(QPushButton)
    there = [b for b in buttons if b.text() == words and b.isVisible()]
    for button in there[:1]:
        button.click()
    return bool(there)


@pytest.mark.parametrize("arm", Arm)
def test_that_a_follower_an_independent_and_a_half_follower_are_told_apart(
    arm: Arm, qtbot: QtBot, settings: Settings
) -> None:
    missed_run(settings.store, 12)
    story = open_review(qtbot, settings)
    trust: dict[str, list[Effect]] = {}
    for reader, follows in READERS.items():
        begin(story, arm, reader)
        read(story, follows)
        story.review._back()
        trust[reader] = list(found(settings, reader))
    assert {one.over_trust.value for one in trust["follower"]} == {1}
    assert {one.over_trust.value for one in trust["independent"]} == {0}
    for one in trust["half"]:
        assert one.over_trust.interval.low < 0.5 < one.over_trust.interval.high
    page = story.review.compared
    story.wait(lambda: pressed(story, "Results"))
    story.wait(page.parts["aided"].isVisible)
    session = opening.sessions(settings.store)[0]
    rows = result_rows(settings.store, session.id)["aided"]
    table = page.parts["aided"].table
    texts = [
        [
            item.text()
            for column in range(table.columnCount())
            if (item := table.item(row, column))
        ]
        for row in range(table.rowCount())
    ]
    assert {row[0] for row in texts} == set(READERS)
    assert texts == [
        ["–" if v == "-" else ARMS.get(str(v), str(v)) for v in r.values()]
        for r in rows
    ]
    page.back.click()
    story.window.close()


def test_that_a_run_and_a_folder_lead_to_their_own_cases(
    qtbot: QtBot, settings: Settings
) -> None:
    missed_run(settings.store, 3)
    story = open_review(qtbot, settings)
    start = story.review.start
    story.wait(start.read.isEnabled)
    run, dataset = start.runs.currentData(), start.datasets.currentData()
    start.runs.insertItem(0, "Another run", run + 1)
    start.datasets.insertItem(0, "Another data set", "another")
    for box in (start.runs, start.datasets):
        box.setCurrentIndex(0)
    story.window.enter(Place.MEASURE)
    (runs,) = story.window.findChildren(RunList)
    story.wait(lambda: runs.selected is not None)
    (read,) = (a for a in runs.view.actions() if a.text().startswith("Read"))
    read.trigger()
    assert start.isVisible()
    story.window.context.changes.store_written.emit()  # as by a run in between
    story.wait(start.read.isEnabled)
    assert (start.runs.currentData(), start.datasets.currentData()) == (run, dataset)
    assert start.read.visibleRegion().boundingRect().height() > 0
    (folder,) = story.window.findChildren(FolderLine)
    story.window.enter(Place.MEASURE)
    folder.read_wanted.emit(dataset)
    story.wait(start.isVisible)
