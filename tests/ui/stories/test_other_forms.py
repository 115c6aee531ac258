"""A grading and a differential are forms: the same screen, no other code."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.review_story import ReviewStory, open_review
from tests.helpers.reviewed_run import DATASET, missed_run
from viewer.domain.form import Form, Option
from viewer.domain.form_catalog import DIFFERENTIAL, GRADING
from viewer.domain.reading import Material, SessionId, TaskState
from viewer.services.readings import cases, opening
from viewer.settings import Settings
from viewer.ui.panels.review.choice import ChoiceBox
from viewer.ui.panels.review.ranking import RankingBox

KEY = Qt.Key
ENTER = KEY.Key_Return
OUTPUT = "There is an edema at both bases."
OPTIONS = (Option("A", "Edema"), Option("B", "Pneumonia"), Option("C", "Neither"))


@pytest.fixture
def story(qtbot: QtBot, settings: Settings) -> Iterator[ReviewStory]:
    missed_run(settings.store, 2)
    made = open_review(qtbot, settings)
    yield made
    made.window.close()


def opened(story: ReviewStory, store: Path, form: Form) -> SessionId:
    """Open a session whose cases bring an output and options along."""
    plain = opening.open_reader_study(store, DATASET, GRADING, "Somebody")
    images = {task.image for task in cases.queue(store, plain)}
    items = [f"{image.path.stem}|Edema" for image in images]
    material = Material(OUTPUT, {"choice": OPTIONS})
    session = opening.open_reader_study(
        store, DATASET, form, "Reader A", material=dict.fromkeys(items, material)
    )
    story.review.open_session(session)
    story.wait(lambda: story.page.ready)
    return session


def test_that_an_output_is_graded_on_the_same_screen(
    story: ReviewStory, settings: Settings
) -> None:
    session = opened(story, settings.store, GRADING)
    assert story.page.side.output.text() == OUTPUT
    assert story.page.side.about.text() == "frontal view"
    first = story.task.position
    story.press(KEY.Key_4, KEY.Key_5, KEY.Key_3, KEY.Key_4)
    concerns = story.page.side.form.boxes["concerns"]
    assert isinstance(concerns, RankingBox)
    QTest.keyClicks(concerns.lines[0], "no side")
    story.page.lock()
    done = cases.task(settings.store, session, first)
    assert done.state is TaskState.LOCKED
    assert done.values["process"] == 4
    assert done.values["concerns"] == ("no side",)


def test_that_options_come_after_the_differential_is_locked(
    story: ReviewStory, settings: Settings
) -> None:
    session = opened(story, settings.store, DIFFERENTIAL)
    form, first = story.page.side.form, story.task.position
    ranking, choice = form.boxes["differential"], form.boxes["choice"]
    assert isinstance(ranking, RankingBox)
    assert isinstance(choice, ChoiceBox)
    assert story.task.options == {}
    QTest.keyClicks(ranking.lines[0], "pneumonia")
    form.ask(form.boxes["differential_confidence"])
    story.press(KEY.Key_4, ENTER)
    assert story.task.state is TaskState.STAGE_LOCKED
    assert not ranking.isEnabled()
    assert [b.text() for b in choice.options.buttons.values()] == [
        "A   Edema",
        "B   Pneumonia",
        "C   Neither",
    ]
    assert story.page.image.reference_shown is None
    story.press(KEY.Key_A, ENTER)
    done = cases.task(settings.store, session, first)
    assert done.state is TaskState.LOCKED
    assert done.values == {
        "differential": ("pneumonia",),
        "differential_confidence": 4,
        "choice": "A",
    }
    assert story.page.image.reference_shown is not None


def test_that_a_form_that_needs_more_than_images_is_not_offered(
    story: ReviewStory,
) -> None:
    offered = story.review.start.forms
    assert [offered.itemText(i) for i in range(offered.count())] == ["Reader task"]
