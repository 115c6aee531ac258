"""Notices: two sentences and Details, one at a time, in nobody's way."""

from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from viewer.domain.errors import WrongUseError
from viewer.ui.notice_bar import NoticeBar
from viewer.ui.notices import Notice, Notices


def _bar(qtbot: QtBot) -> tuple[Notices, NoticeBar]:
    notices = Notices()
    bar = NoticeBar(notices)
    qtbot.addWidget(bar)
    return notices, bar


def test_that_an_error_shows_its_two_sentences(qtbot: QtBot) -> None:
    notices, bar = _bar(qtbot)
    assert bar.isHidden()
    notices.error(WrongUseError("The file is empty.", "Choose another."))
    assert not bar.isHidden()
    assert bar.text.text() == "The file is empty. Choose another."
    assert bar.details_button.isHidden()


def test_that_details_open_on_demand_and_can_be_copied(qtbot: QtBot) -> None:
    notices, bar = _bar(qtbot)
    notices.post(Notice("It failed.", "Try again.", "line 12"))
    assert bar.details.isHidden()
    bar.details_button.click()
    assert not bar.details.isHidden()
    bar.copy_button.click()
    assert QGuiApplication.clipboard().text() == "It failed. Try again.\nline 12"


def test_that_what_went_wrong_waits_its_turn(qtbot: QtBot) -> None:
    notices, bar = _bar(qtbot)
    for what in ("First.", "Second.", "Second.", "First."):
        notices.post(Notice(what))
    assert bar.text.text() == "First."
    bar.close_button.click()
    assert bar.text.text() == "Second."
    bar.close_button.click()
    assert bar.isHidden()


def test_that_news_goes_by_itself_and_gives_way(qtbot: QtBot) -> None:
    notices, bar = _bar(qtbot)
    bar._clock.setInterval(10)
    notices.say("Written.")
    notices.post(Notice("It failed."))
    assert bar.text.text() == "It failed."
    bar.dismiss()
    notices.say("Written.")
    qtbot.waitUntil(bar.isHidden)
