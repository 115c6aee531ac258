"""A reader in the window, and what may not be found anywhere before each lock."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

import pytest
from PySide6.QtCore import QEvent, QThreadPool
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.leak_search import (
    DRAWN,
    Leak,
    Place,
    Reads,
    advice_before,
    leaks,
)
from tests.helpers.read_answers import answer_of
from tests.helpers.read_tasks import FIRST_READER, ReadTask
from tests.helpers.review_story import ReviewStory, open_review
from tests.helpers.reviewed_run import MODELS
from tests.helpers.secret_words import (
    OTHER_READER,
    SECRET_MODELS,
    secret_word,
    secrets_in,
)
from viewer.domain.form import RankedTextQuestion
from viewer.domain.reading import SessionId, TaskState
from viewer.services.readings import cases, opening, recording
from viewer.settings import Settings
from viewer.store.database import Row, Store
from viewer.ui.workspaces.review import ReviewWorkspace

OTHERS_WORD: Final = secret_word(OTHER_READER)
"""What another reader wrote."""
_ALL: Final = SECRET_MODELS | {OTHERS_WORD}
_LATER: Final = ("later", "options")


@dataclass(frozen=True)
class _Hidden:
    """What a case shows first, after its first lock and at the end, as secret words."""

    shown: frozenset[str]
    later: frozenset[str]
    truth: frozenset[str]
    withheld: str
    advice: bool


@dataclass(eq=False)
class BlindReading:
    """A window in which one reader after another does a task."""

    story: ReviewStory
    task: ReadTask
    settings: Settings
    reads: Reads
    readers: int = 0
    states: int = 0
    session: SessionId = field(init=False)
    hidden: Sequence[_Hidden] = field(init=False)

    def begin(self) -> None:
        """Let the next reader begin, who agrees to what is asked.

        What the one before had copied is no longer there.
        """
        self.readers += 1
        QApplication.clipboard().clear()
        store = self.settings.store
        self.session = self.task.open(store, f"Reader {self.readers}")
        if not recording.has_consented(store, self.session):
            recording.consent(store, self.session)
        self.hidden = tuple(_hidden(store, self.session))
        self.go_on()

    def end(self) -> None:
        """Close the window."""
        self.reads.listening = False
        self.story.window.close()

    def go_on(self) -> None:
        """Open the session in the window, until its case is shown.

        What was counted to begin with comes to its end before, and is not listened to.
        """
        review = self.story.review
        # The page to choose on looks again whenever the store changes.
        review._pages.setCurrentWidget(review.results)
        self.story.wait(lambda: _is_idle(review))
        self.reads.rows.clear()
        self.reads.listening = True
        review.open_session(self.session)
        self.story.wait(lambda: review.reviewing or review.briefing.isVisible())
        if not review.reviewing:
            review.briefing.begin.click()
        self.story.wait(lambda: self.story.page.ready)

    def search(self) -> list[Leak]:
        """Search everything for what the state of the cases keeps secret."""
        self.states += 1
        # Qt deletes these once it is idle, which it never is in a test.
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        return leaks(self._place, self._secrets(), self._shapes())

    @cached_property
    def _place(self) -> Place:
        form = opening.session(self.settings.store, self.session).form
        names = [
            name
            for question in form.questions
            if isinstance(question, RankedTextQuestion)
            for name in question.suggestions
        ]
        page = self.story.page
        vocabulary = frozenset(secrets_in("\n".join(names)))
        return Place(
            self.story.review, page.image, self.settings, self.reads, vocabulary
        )

    @cached_property
    def _everything(self) -> frozenset[str]:
        """Every secret word of the store, which holds them all."""
        data = self.settings.store.read_bytes()
        return frozenset(secrets_in(data.decode("utf-8", "ignore"))) | _ALL

    def _secrets(self) -> frozenset[str]:
        tasks = self.story.page._tasks
        allowed: set[str] = set()
        for one, hidden in zip(tasks, self.hidden, strict=False):
            allowed |= hidden.shown
            if one.stage > 0:
                allowed |= hidden.later
            if one.state is TaskState.LOCKED:
                allowed |= hidden.truth
        return (self._everything - allowed) | {*MODELS}

    def _shapes(self) -> frozenset[str]:
        """Return the secret masks, and what else is found by another sign than words.

        A reference is secret until every case of it is locked.
        """
        page = self.story.page
        revealed = {
            (task.image, task.finding)
            for task in page._tasks
            if task.state is TaskState.LOCKED
        }
        shown = {mask for key, mask in self._masks.items() if key in revealed}
        # Two findings of an image may have the same mask, which is shown with either.
        shapes = {*self._masks.values(), *MODELS} - shown
        for task, hidden in zip(page._tasks, self.hidden, strict=False):
            if task.stage == 0 and hidden.advice:
                shapes |= {hidden.withheld, advice_before(task.position, 0)}
        if page.task is not None and page.task.state is not TaskState.LOCKED:
            shapes.add(DRAWN)
        return frozenset(shapes)

    @cached_property
    def _masks(self) -> dict[object, str]:
        """Return the references and anatomies by image file and name."""
        with closing(sqlite3.connect(self.settings.store)) as connection:
            rows = connection.execute(
                "SELECT i.path, i.frame, m.name, m.counts"
                " FROM mask m JOIN image i ON i.id = m.image_id"
            ).fetchall()
        images = {task.image for task in self.story.page._tasks}
        by_path = {(str(ref.path), ref.frame): ref for ref in images}
        return {
            (by_path.get((path, frame), path), name): counts
            for path, frame, name, counts in rows
        }


def _is_idle(review: ReviewWorkspace) -> bool:
    """Wait for the work in the background, also what is cancelled; was it the last?"""
    application = QApplication.instance()
    assert application is not None
    pools = application.findChildren(QThreadPool)
    for pool in (QThreadPool.globalInstance(), *pools):
        pool.waitForDone()
    return not review._background_tasks._jobs


def _hidden(store: Path, session: SessionId) -> Iterator[_Hidden]:
    with closing(sqlite3.connect(store)) as connection:
        rows = connection.execute(
            "SELECT material, withheld FROM reading_task WHERE session_id = ?"
            " ORDER BY position",
            (session,),
        ).fetchall()
    for material, withheld in rows:
        held = json.loads(withheld)
        later = json.dumps([held.get(name) for name in _LATER])
        yield _Hidden(
            frozenset(secrets_in(material)),
            frozenset(secrets_in(later)),
            frozenset(secrets_in(withheld)),
            withheld,
            bool(held.get("advice")),
        )


def read_by_another(task: ReadTask, store: Path) -> None:
    """Let another reader do a task, with a secret word in every text."""
    session = task.open(store, FIRST_READER)
    form = opening.session(store, session).form
    if not recording.has_consented(store, session):
        recording.consent(store, session)
    for planned in cases.queue(store, session)[:-1]:
        shown, at = planned, planned.position
        while shown.state is not TaskState.LOCKED:
            values = answer_of(form, shown, f" {OTHERS_WORD}")
            shown = recording.lock(store, session, at, values, comment=OTHERS_WORD)


def blind_reading(
    qtbot: QtBot, settings: Settings, task: ReadTask, monkeypatch: pytest.MonkeyPatch
) -> BlindReading:
    """Open the window on a store that is there, and let a reader begin a task."""
    reads, rows = Reads(), Store.rows

    def noted(store: Store, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        found = rows(store, sql, parameters)
        reads.note(sql, found)
        return found

    monkeypatch.setattr(Store, "rows", noted)
    reading = BlindReading(open_review(qtbot, settings), task, settings, reads)
    reading.begin()
    return reading
