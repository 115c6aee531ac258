"""A screen reader is told whose image is seen, how, and what models answered."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.make_dicom import make_dicom
from tests.helpers.tiny_study import finished_run
from tests.helpers.window_story import Story, open_window
from viewer.domain.image import Window
from viewer.settings import Settings
from viewer.ui.application.notices import Notice
from viewer.ui.application.preferences import Detail, current, use
from viewer.ui.window.notice_bar import NoticeBar

POLITE = QAccessible.AnnouncementPoliteness.Polite
ASSERTIVE = QAccessible.AnnouncementPoliteness.Assertive


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, tmp_path: Path) -> Story:
    finished_run(settings.store, tmp_path / "films")
    made = open_window(qtbot, settings, tmp_path / "films")
    made.window.open_paths([made.folder])
    made.wait(lambda: made.read.lightbox.active.shown is not None)
    return made


@pytest.fixture
def announced(
    monkeypatch: pytest.MonkeyPatch,
) -> list[tuple[str, QAccessible.AnnouncementPoliteness]]:
    """What is sent to the screen reader that this machine does not run."""
    said: list[tuple[str, QAccessible.AnnouncementPoliteness]] = []
    send = QAccessible.updateAccessibility

    def note(event: QAccessibleEvent) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            said.append((event.message(), event.politeness()))
        send(event)

    monkeypatch.setattr(QAccessible, "updateAccessibility", note)
    return said


def _told(story: Story) -> str:
    return story.read.lightbox.view.accessibleDescription()


def test_that_the_patient_and_the_window_are_told(story: Story, tmp_path: Path) -> None:
    pixels = np.arange(12_000, dtype=np.uint16).reshape(120, 100)
    path = make_dicom(tmp_path / "film.dcm", pixels, PatientName="Doe^Jane")
    story.window.open_paths([path])
    view = story.read.lightbox.view
    story.wait(lambda: "Jane" in view.accessibleName())
    view.set_window(Window(321.0, 654.0))
    story.wait(lambda: "W 654" in _told(story))
    use(replace(current(), detail=Detail.NONE))
    view.redraw()
    story.wait(lambda: view.accessibleName() == "Image")
    use(replace(current(), detail=Detail.FULL))


def test_that_answers_and_their_outcomes_are_told_only_while_they_are_drawn(
    story: Story, announced: list[tuple[str, object]]
) -> None:
    view = story.read.lightbox.view
    assert not view.answer_items
    assert ":" not in _told(story)
    story.window.context.actions["overlays.answers"].trigger()
    story.wait(lambda: view.answer_items)
    answer = view.answer_items[0].answer
    outcome = f"{answer.model} {answer.score.answer}: "
    story.wait(lambda: outcome in _told(story))
    story.wait(lambda: any(outcome in words for words, _ in announced))
    QTest.keyPress(view, Qt.Key.Key_H)
    story.wait(lambda: outcome not in _told(story))
    QTest.keyRelease(view, Qt.Key.Key_H)
    story.wait(lambda: outcome in _told(story))


def test_that_a_notice_is_said_and_what_went_wrong_at_once(
    story: Story, announced: list[tuple[str, object]]
) -> None:
    bar = story.window.findChild(NoticeBar)
    assert isinstance(bar, NoticeBar)
    story.window.context.notices.say("Saved.")
    assert bar.accessibleDescription() == "Saved."
    story.window.context.notices.post(Notice("It failed.", "Try again."))
    assert announced[-2:] == [("Saved.", POLITE), ("It failed. Try again.", ASSERTIVE)]
