"""A sealed session opens in Review of another machine's window, and comes back."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from tests.helpers.sealed_sessions import (
    PANEL,
    READER,
    answer_all,
    store_of_questions,
)
from tests.helpers.window_parts import Furnished
from tests.helpers.window_story import PATIENCE_MS
from viewer.domain.reading import SessionId, TaskState
from viewer.services.readings.sealed import open_sealed, write_answers
from viewer.services.readings.sealing import seal_session
from viewer.services.readings.task_readings import open_task
from viewer.settings import Settings
from viewer.store import reading_audit
from viewer.store.database import open_store
from viewer.ui.application.action_spec import Place
from viewer.ui.workspaces.review import ReviewWorkspace


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return store_of_questions(tmp_path / "origin")


@pytest.fixture
def sealed(origin: Path) -> Path:
    session = open_task(origin, PANEL, READER)
    return seal_session(origin, session, origin.parent / "zoe.session").path


def with_review(furnished: Furnished) -> ReviewWorkspace:
    review = ReviewWorkspace(furnished.context)
    furnished.window.add_review(review, review)
    return review


def test_that_a_sealed_session_is_read_and_saved_in_the_window(
    qtbot: QtBot, settings: Settings, sealed: Path
) -> None:
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    made.window.show()
    made.window.open_paths([sealed])  # before the window is complete
    review = with_review(made)
    qtbot.waitUntil(lambda: review.page.ready, timeout=PATIENCE_MS)
    assert made.window.place is Place.REVIEW
    QTest.keyClick(review.page, Qt.Key.Key_2)
    QTest.keyClick(review.page, Qt.Key.Key_Return)
    qtbot.waitUntil(
        lambda: (
            review.page.task is not None
            and review.page.task.state is TaskState.WAITING
            and review.page.task.position == 1
        ),
        timeout=PATIENCE_MS,
    )
    review.close_session()
    with open_store(settings.store) as store:
        acts = reading_audit.acts_of(store, 1)
    told = [(one["act"], one["answers"]) for one in acts]
    assert ("locked", '{"answer": "B"}') in told


def test_that_answers_dropped_on_the_window_are_merged(
    qtbot: QtBot, tmp_path: Path, origin: Path, sealed: Path
) -> None:
    there = Settings(tmp_path / "there", tmp_path / "there.sqlite")
    session = SessionId(open_sealed(there, sealed))
    answer_all(there.store, session)
    answers = write_answers(there.store, session, tmp_path / "zoe.answers").path
    made = Furnished(Settings(tmp_path, origin))
    qtbot.addWidget(made.window)
    made.window.show()
    review = with_review(made)

    def told(words: str) -> None:
        qtbot.waitUntil(
            lambda: words in review.start.problem.text(), timeout=PATIENCE_MS
        )

    made.window.open_paths([answers])
    told("12 actions of Zoe merged into session 2.")
    made.window.open_paths([answers])
    told("are merged already")
    made.window.open_paths([sealed])
    told("sealed from this very store")
