"""Words of cases that seem to name somebody are read, and decided about, on a page."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.quiz_study import quiz_dataset, quiz_in_catalog
from viewer.domain.errors import WrongUseError
from viewer.domain.privacy import ReviewDecision
from viewer.domain.run import ModelStopped
from viewer.services.privacy import word_review as module
from viewer.services.privacy.word_review import words_of_dataset
from viewer.settings import Settings
from viewer.store import cases
from viewer.store.database import open_store
from viewer.ui.application.app_context import AppContext, WorkerBridge
from viewer.ui.application.notices import Notice
from viewer.ui.dialogs.word_review import WordReview
from viewer.ui.dialogs.word_reviews import handlers, stopped_notice
from viewer.ui.widgets import theme

HISTORIES = (
    "Seen 🩻 by Dr. Miller for a cough.",
    "Mr. Smith was seen on March 9, 2019.",
)
NONE = "No text was found that seems to identify a person."


@pytest.fixture
def store(settings: Settings, tmp_path: Path) -> Iterator[Path]:
    """Register a data set of which two cases seem to name somebody, and one without."""
    with quiz_in_catalog(), open_store(settings.store) as opened:
        dataset = quiz_dataset(tmp_path / "pictures")
        named = [
            replace(item, facts={**item.facts, "history": words})
            for item, words in zip(dataset.items, HISTORIES, strict=False)
        ]
        rest = dataset.items[len(named) :]
        cases.add_dataset(opened, replace(dataset, items=(*named, *rest)))
        cases.add_dataset(opened, replace(dataset, name="plain"))
        yield settings.store


@pytest.fixture
def page(qtbot: QtBot, settings: Settings, store: Path) -> WordReview:
    assert store == settings.store
    page = WordReview(settings)
    page.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(page)
    page.show()
    page.read("quizzes")
    qtbot.waitUntil(lambda: page.cases.rowCount() == len(HISTORIES), timeout=20_000)
    return page


def _column(page: WordReview, column: int) -> list[str]:
    found = (page.cases.item(row, column) for row in range(page.cases.rowCount()))
    return [item.text() for item in found if item]


def _decisions(store: Path) -> list[ReviewDecision | None]:
    return [one.decision for one in words_of_dataset(store, "quizzes")]


def _marked(page: WordReview) -> list[str]:
    """Return the words that stand on the colour of a warning."""
    found, cursor = [], QTextCursor(page.words.document())
    block = page.words.document().begin()
    while block.isValid():
        for layout in block.textFormats():
            if layout.format.background().color() == QColor(theme.current().warning):
                cursor.setPosition(block.position() + layout.start)
                end = block.position() + layout.start + layout.length
                cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
                found.append(cursor.selectedText())
        block = block.next()
    return found


def test_that_cases_are_listed_with_what_was_found_marked_in_their_words(
    page: WordReview, qapp: QApplication
) -> None:
    assert _column(page, 1) == ["a name", "a name, a date"]
    assert _column(page, 2) == ["Waiting", "Waiting"]
    assert page.sentence.text() == "2 of 2 cases wait for a decision."
    assert HISTORIES[0] in page.words.toPlainText()
    assert _marked(page) == ["Dr. Miller"]
    page.cases.selectRow(1)
    assert _marked(page) == ["Mr. Smith", "March 9"]
    theme.apply(qapp, theme.LIGHT)
    page.setPalette(qapp.palette())
    assert _marked(page) == ["Mr. Smith", "March 9"]


def test_that_a_decision_is_kept_and_the_next_case_that_waits_follows(
    page: WordReview, store: Path, qtbot: QtBot
) -> None:
    page.clean.click()
    assert not page.clean.isEnabled()
    qtbot.waitUntil(lambda: _column(page, 2) == ["Identifies nobody", "Waiting"])
    assert _decisions(store) == [ReviewDecision.CLEAN, None]
    assert page.cases.currentRow() == 1
    assert page.sentence.text().startswith("1 case: identifies nobody. 1 of 2 cases")
    QTest.keyClick(page, Qt.Key.Key_L, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: _column(page, 2)[1] == "May not leave")
    assert _decisions(store) == [ReviewDecision.CLEAN, ReviewDecision.BLOCKED]


def test_that_all_are_decided_at_once_and_anew(
    page: WordReview, store: Path, qtbot: QtBot
) -> None:
    page.every.click()
    assert page.sentence.text() == "2 of 2 cases wait for a decision. 2 are selected."
    page.block.click()
    qtbot.waitUntil(lambda: _column(page, 2) == ["May not leave"] * 2)
    assert _decisions(store) == [ReviewDecision.BLOCKED] * 2
    qtbot.waitUntil(page.clean.isEnabled)
    page.clean.click()
    qtbot.waitUntil(lambda: _column(page, 2) == ["Identifies nobody"] * 2)
    assert _decisions(store) == [ReviewDecision.CLEAN] * 2
    page.read()
    settled = "0 of 2 cases wait for a decision."
    qtbot.waitUntil(lambda: page.sentence.text() == settled, timeout=20_000)
    assert page.cases.currentRow() == 0
    assert _marked(page) == ["Dr. Miller"]


def test_that_return_in_the_list_decides_nothing(page: WordReview, store: Path) -> None:
    QTest.keyClick(page.cases, Qt.Key.Key_Return)
    assert "keep" not in page._background_tasks
    assert _decisions(store) == [None, None]


def test_that_a_data_set_without_such_words_says_so(
    page: WordReview, qtbot: QtBot
) -> None:
    page.dataset.setCurrentText("plain")
    page.dataset.activated.emit(page.dataset.currentIndex())
    qtbot.waitUntil(lambda: page.sentence.text() == NONE, timeout=20_000)
    assert page.cases.rowCount() == 0
    assert page.words.toPlainText() == ""
    for button in (page.every, page.clean, page.block):
        assert not button.isEnabled()


def test_that_without_data_sets_the_page_says_where_they_come_from(
    qtbot: QtBot, settings: Settings
) -> None:
    page = WordReview(settings)
    qtbot.addWidget(page)
    page.read()
    qtbot.waitUntil(lambda: "Import data set" in page.sentence.text(), timeout=20_000)
    assert not page.dataset.isEnabled()


def test_that_what_cannot_be_kept_is_told(
    page: WordReview, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise WrongUseError("The store is read-only.", "Make it writable.")

    monkeypatch.setattr(module, "keep_words", refuse)
    page.clean.click()
    qtbot.waitUntil(lambda: "read-only" in page.sentence.text(), timeout=20_000)
    assert page.clean.isEnabled()
    assert _column(page, 2) == ["Waiting", "Waiting"]
    with pytest.raises(KeyError):
        page._fail(KeyError("a bug"))


def test_that_the_command_shows_one_page_and_a_notice_leads_to_it(
    qtbot: QtBot, settings: Settings, store: Path
) -> None:
    context, window = AppContext(settings, WorkerBridge(store)), QWidget()
    qtbot.addWidget(window)
    window.show()
    handlers(window, context)["dataset.words"]()
    (page,) = window.findChildren(WordReview)
    qtbot.waitUntil(lambda: page.sentence.text() == NONE, timeout=20_000)
    assert page.dataset.currentText() == "plain"
    stopped = ModelStopped(1, "", "A question was not sent.")
    assert stopped_notice(window, context, stopped) == Notice(stopped.sentence)
    waits = stopped_notice(window, context, replace(stopped, words_of="quizzes"))
    assert waits == stopped_notice(
        window, context, replace(stopped, words_of="quizzes")
    )
    assert waits != stopped_notice(window, context, replace(stopped, words_of="plain"))
    assert waits.offer is not None
    waits.offer.act()
    assert window.findChildren(WordReview) == [page]
    qtbot.waitUntil(lambda: page.cases.rowCount() == len(HISTORIES), timeout=20_000)
    assert page.dataset.currentText() == "quizzes"
    page.leave.click()
    assert not page.isVisible()
