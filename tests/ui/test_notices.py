"""Notices: two sentences and Details, one at a time, in nobody's way."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from viewer.domain.errors import WrongUseError
from viewer.ui.application.action_set import Actions
from viewer.ui.application.notices import Notice, Notices, Offer
from viewer.ui.application.preferences import Keymap
from viewer.ui.panels.measure import han_notice
from viewer.ui.panels.measure.han_notice import tell_of_han
from viewer.ui.window.notice_bar import NoticeBar


def _bar(qtbot: QtBot) -> tuple[Notices, NoticeBar]:
    notices = Notices()
    bar = NoticeBar(notices, Actions())
    qtbot.addWidget(bar)
    return notices, bar


def test_that_an_error_shows_its_two_sentences(qtbot: QtBot) -> None:
    notices, bar = _bar(qtbot)
    assert bar.isHidden()
    notices.error(WrongUseError("The file is empty.", "Choose another."))
    assert not bar.isHidden()
    assert bar.text.text() == "The file is empty. Choose another."
    assert bar.details_button.isHidden()


def test_that_chinese_without_a_font_is_told_once(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    notices, bar = _bar(qtbot)
    tell_of_han(notices, ["A cough.", "Äußerst σπάνιο"])
    assert bar.isHidden()
    monkeypatch.setattr(han_notice, "has_han_font", lambda: True)
    tell_of_han(notices, ["肺炎"])
    assert bar.isHidden()
    monkeypatch.setattr(han_notice, "has_han_font", lambda: False)
    tell_of_han(notices, ["A cough.", "肺炎"])
    assert "no font on this machine" in bar.text.text()
    assert "fonts-noto-cjk" in bar.text.text()
    bar.dismiss()
    tell_of_han(notices, ["肺炎"])
    assert bar.isHidden()


def test_that_the_window_knows_its_own_fonts(qtbot: QtBot) -> None:
    bar = _bar(qtbot)[1]
    families = set(QFontDatabase.families())
    chinese = {n for n in families if QFontDatabase.writingSystems(n) and _is_han(n)}
    assert bar.isHidden()
    assert han_notice.has_han_font() == bool(chinese)


def _is_han(family: str) -> bool:
    system = QFontDatabase.WritingSystem
    found = QFontDatabase.writingSystems(family)
    return system.SimplifiedChinese in found or system.TraditionalChinese in found


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


def test_that_news_with_an_offer_stays_longer(qtbot: QtBot) -> None:
    notices, bar = _bar(qtbot)
    notices.posted.emit(Notice("Done.", warning=False))
    brief = bar.remaining_ms
    offer = Offer("Batch…", lambda: None)
    notices.posted.emit(Notice("Imported.", warning=False, offer=offer))
    assert bar.remaining_ms > 3 * brief > 0


def test_that_a_key_does_what_a_notice_offers(qtbot: QtBot) -> None:
    notices, actions = Notices(), Actions()
    window = QWidget()
    bar = NoticeBar(notices, actions, window)
    actions.handle(bar.handlers())
    window.addActions([actions["notice.act"], actions["notice.dismiss"]])
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    assert not actions["notice.act"].isEnabled()
    done: list[str] = []
    offer = Offer("Open results", lambda: done.append("opened"))
    notices.post(Notice("Run 1 is done.", warning=False, offer=offer))
    assert bar.key.text() == "Alt+N"
    actions.use_keys(Keymap(keys={"notice.act": "Alt+J"}))
    assert bar.key.text() == "Alt+J"
    actions.use_keys(Keymap())
    QTest.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.AltModifier)
    assert done == ["opened"]
    assert bar.isHidden()
    assert not actions["notice.dismiss"].isEnabled()


def test_that_a_key_shows_the_details_of_a_notice_and_another_dismisses_it(
    qtbot: QtBot,
) -> None:
    notices, actions = Notices(), Actions()
    bar = NoticeBar(notices, actions)
    actions.handle(bar.handlers())
    qtbot.addWidget(bar)
    notices.post(Notice("It failed.", "Try again.", "line 12"))
    actions["notice.act"].trigger()
    assert not bar.details.isHidden()
    actions["notice.dismiss"].trigger()
    assert bar.isHidden()
    notices.post(Notice("It failed."))
    assert not actions["notice.act"].isEnabled()
    assert actions["notice.dismiss"].isEnabled()
