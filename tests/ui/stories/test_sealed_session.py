"""A sealed session opens in Review of another machine's window, and comes back."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from tests.helpers.leak_search import CHANNELS, Reads
from tests.helpers.leak_search import Place as Searched
from tests.helpers.sealed_sessions import (
    PANEL,
    READER,
    answer_all,
    store_of_questions,
)
from tests.helpers.window_parts import Furnished
from tests.helpers.window_story import PATIENCE_MS
from viewer.domain.reading import SessionId, TaskState
from viewer.services.readings.merging import merge_answers
from viewer.services.readings.sealed import open_sealed, write_answers
from viewer.services.readings.sealing import seal_session
from viewer.services.readings.task_choice import TaskWanted
from viewer.services.readings.task_readings import open_task
from viewer.services.sessions.datasets import dataset_named
from viewer.settings import ANSWERS_ENDING, SEALED_ENDING, Settings
from viewer.store import reading_audit
from viewer.store.database import open_store
from viewer.ui.application.action_spec import Place
from viewer.ui.dialogs.export_session import ExportSession
from viewer.ui.workspaces.review import ReviewWorkspace


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return store_of_questions(tmp_path / "origin")


@pytest.fixture
def sealed(origin: Path) -> Path:
    session = open_task(origin, PANEL, READER)
    return seal_session(origin, session, origin.parent / "zoe.overread-session").path


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
    answers = write_answers(
        there.store, session, tmp_path / "zoe.overread-answers"
    ).path
    made = Furnished(Settings(tmp_path, origin))
    qtbot.addWidget(made.window)
    made.window.show()
    review = with_review(made)

    def told(words: str) -> None:
        qtbot.waitUntil(
            lambda: words in review.start.problem.text(), timeout=PATIENCE_MS
        )

    files = review.files
    assert not files.isVisible()

    def stop(_: object) -> None:
        files.cancel.clicked.emit()  # reaches the window's thread in its own time
        files.stop.wait(PATIENCE_MS / 1_000)

    direct = Qt.ConnectionType.DirectConnection  # in the thread that merges
    stopping = files.progressed.connect(stop, direct)
    made.window.open_paths([answers])
    assert files.cancel.isVisible()
    told("Merging was stopped. Nothing was merged.")
    assert not files.isVisible()
    files.progressed.disconnect(stopping)
    made.window.open_paths([answers])
    told("12 actions of Zoe merged into session 2.")
    assert (files.bar.value(), files.bar.maximum()) == (12, 12)
    made.window.open_paths([answers])
    told("are merged already")
    made.window.open_paths([sealed])
    told("sealed from this very store")


def test_that_a_reader_elsewhere_sees_the_task_alone_and_returns_the_answers(
    qtbot: QtBot, settings: Settings, origin: Path, sealed: Path, tmp_path: Path
) -> None:
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    made.window.show()
    review = with_review(made)
    around = made.window.switch, made.window.menuBar()
    assert all(one.isVisible() for one in around)
    made.window.open_paths([sealed])
    qtbot.waitUntil(lambda: review.page.ready, timeout=PATIENCE_MS)
    assert not any(one.isVisible() for one in around)
    QTest.keyClick(review.page, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert made.window.place is Place.REVIEW
    QTest.keyClick(review.page, Qt.Key.Key_Escape)
    assert all(one.isVisible() for one in around)
    review.open_session(SessionId(1))
    for position in range(3):
        qtbot.waitUntil(partial(shows, review, position), timeout=PATIENCE_MS)
        QTest.keyClick(review.page, Qt.Key.Key_2)
        QTest.keyClick(review.page, Qt.Key.Key_Return)
    qtbot.waitUntil(review.done.isVisible, timeout=PATIENCE_MS)
    assert "Return the answers" in review.done.words.text()
    QTest.keyClick(review.done.export, Qt.Key.Key_Space)
    page = export_page(qtbot, made)
    assert able(page) == ["Answers", "Certificate"]
    answers = tmp_path / f"back{ANSWERS_ENDING}"
    written(qtbot, page, answers)
    assert page.foot.sentence.text() == f"3 of 3 cases locked in {answers.name}."
    assert merge_answers(origin, answers).acts > 3


def shows(review: ReviewWorkspace, position: int) -> bool:
    return review.page.ready and review.page.position == position


def test_that_a_task_of_two_stages_travels_in_two_files_and_shows_each_in_its_time(
    qtbot: QtBot, settings: Settings, origin: Path, tmp_path: Path
) -> None:
    wanted = TaskWanted(PANEL.study, "validity", PANEL.dataset)
    session = open_task(origin, wanted, READER)
    home = Furnished(Settings(tmp_path, origin))
    qtbot.addWidget(home.window)
    home.window.show()
    at_home = with_review(home)
    home.context.actions.run("file.export_session")
    page = export_page(qtbot, home)
    sealed = tmp_path / f"zoe{SEALED_ENDING}"
    written(qtbot, page, sealed)
    told = "Send it to Zoe; part 2 begins after you merge the answers."
    assert page.foot.sentence.text() == f"3 cases, 3 images in {sealed.name}. {told}"
    page.close()
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    made.window.show()
    review = with_review(made)
    answers = tmp_path / f"zoe{ANSWERS_ENDING}"
    for part, key in ((1, Qt.Key.Key_2), (2, Qt.Key.Key_1)):
        made.window.open_paths([sealed])
        for position in range(3):
            qtbot.waitUntil(partial(shows, review, position), timeout=PATIENCE_MS)
            # What is known of the images is in the other window's store.
            truths = {"CANARYTRUTH"} & set(words_in(review))
            assert truths == ({"CANARYTRUTH"} if part == 2 else set())
            QTest.keyClick(review.page, key)
            QTest.keyClick(review.page, Qt.Key.Key_Return)
        qtbot.waitUntil(review.done.isVisible, timeout=PATIENCE_MS)
        said = "Return the answers; part 2 comes in another file."
        assert (said in review.done.words.text()) == (part == 1)
        write_answers(settings.store, SessionId(part), answers)
        home.window.open_paths([answers])
        told = f"Send zoe-part-2{SEALED_ENDING} to Zoe: it holds part 2."
        words = told if part == 1 else f"merged into session {session}."
        qtbot.waitUntil(partial(says, at_home, words), timeout=PATIENCE_MS)
        sealed = tmp_path / f"zoe-part-2{SEALED_ENDING}"
    with open_store(origin) as store:
        items = dataset_named(store, PANEL.dataset).items
    assert [one.reference["reviews"] for one in items] == [[[READER, []]]] * 3


def says(review: ReviewWorkspace, words: str) -> bool:
    return review.start.problem.text().endswith(words)


def words_in(review: ReviewWorkspace) -> Iterator[str]:
    """Yield every word that the page of a case shows, keeps or reads."""
    place = Searched(review.page, review.page.image, review._context.settings, Reads())
    for name in ("widgets", "lists", "objects"):
        for _, text in CHANNELS[name](place):
            yield from text.split()


def test_that_a_session_is_exported_from_the_menu_in_every_form(
    qtbot: QtBot, origin: Path, tmp_path: Path
) -> None:
    open_task(origin, PANEL, READER)
    made = Furnished(Settings(tmp_path, origin))
    qtbot.addWidget(made.window)
    made.window.show()
    with_review(made)
    made.context.actions.run("file.export_session")
    page = export_page(qtbot, made)
    assert READER in page.session.currentText()
    assert able(page) == [
        "Sealed session",
        "Readings and agreement",
        "Certificate",
        "What was on screen",
    ]
    sealed = tmp_path / f"s{SEALED_ENDING}"
    written(qtbot, page, sealed)
    assert page.foot.sentence.text() == f"3 cases, 3 images in {sealed.name}."
    there = Settings(tmp_path / "there", tmp_path / "there.sqlite")
    assert open_sealed(there, sealed) == 1
    page.session.setCurrentIndex(1)  # that of another reader, who has answered
    assert page.foot.sentence.text() == ""
    written(qtbot, page, sealed)
    assert "has answers already" in page.foot.sentence.text()
    page.kinds[2].click()
    written(qtbot, page, tmp_path / "out")
    assert "readings.csv" in page.foot.sentence.text()
    assert (tmp_path / "out" / "readings.csv").exists()
    page.kinds[3].click()
    written(qtbot, page, tmp_path / "s.json")
    assert page.foot.sentence.text() == "s.json and s.html"
    page.kinds[4].click()
    written(qtbot, page, tmp_path / "s.csv")
    assert "Nothing on screen was recorded" in page.foot.sentence.text()
    page.close()


def test_that_nothing_is_exported_where_no_session_can_be_read(
    qtbot: QtBot, tmp_path: Path
) -> None:
    store = tmp_path / "damaged.sqlite"
    store.write_bytes(b"no store at all " * 512)
    page = ExportSession(store)
    qtbot.addWidget(page)
    qtbot.waitUntil(lambda: bool(page.foot.sentence.text()), timeout=PATIENCE_MS)
    assert not page.foot.go.isEnabled()


def export_page(qtbot: QtBot, made: Furnished) -> ExportSession:
    (page,) = made.window.findChildren(ExportSession)
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=PATIENCE_MS)
    return page


def able(page: ExportSession) -> list[str]:
    return [kind.text() for kind in page.kinds if kind.isEnabled()]


def written(qtbot: QtBot, page: ExportSession, out: Path) -> None:
    """Press Export, choose a path in its dialog, and wait."""
    page.foot.go.click()
    (dialog,) = page.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(out))
    dialog.close()
    assert not page.foot.go.isEnabled()
    qtbot.waitUntil(page.foot.go.isEnabled, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not page.findChildren(QFileDialog), timeout=PATIENCE_MS)
