"""What stands beside the images can be hidden with a key each, and all at once."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from viewer import app
from viewer.settings import Settings
from viewer.ui.window.main_window import MainWindow
from viewer.ui.workspaces.read import ReadWorkspace


@pytest.fixture
def window(settings: Settings, qtbot: QtBot) -> MainWindow:
    made = app.build_window(settings)
    qtbot.addWidget(made)
    app.furnish(made)
    made.resize(1280, 800)
    made.show()
    qtbot.waitExposed(made)
    return made


def _read(window: MainWindow) -> ReadWorkspace:
    read = window.findChild(ReadWorkspace)
    assert isinstance(read, ReadWorkspace)
    return read


def _seen(window: MainWindow) -> tuple[bool, bool, bool]:
    """Return whether cases, Ask and the tools are on the screen."""
    read = _read(window)
    tools = read._commands.tool_bars.isVisible()
    return read.browser.isVisible(), read.side.isVisible(), tools


def _press(window: MainWindow, key: Qt.Key) -> None:
    QTest.keyClick(window, key)


def test_that_each_panel_is_hidden_and_shown_by_its_key(window: MainWindow) -> None:
    before = _read(window).lightbox.width()
    _press(window, Qt.Key.Key_F7)
    assert _seen(window) == (False, True, True)
    _press(window, Qt.Key.Key_F8)
    assert _seen(window) == (False, False, True)
    QTest.qWait(50)
    assert _read(window).lightbox.width() > before + 500
    assert not window.context.actions["view.ask"].isChecked()
    _press(window, Qt.Key.Key_F7)
    _press(window, Qt.Key.Key_F8)
    assert _seen(window) == (True, True, True)
    QTest.qWait(50)
    assert _read(window).lightbox.width() == before


def test_that_images_stand_alone_until_the_key_is_pressed_again(
    window: MainWindow,
) -> None:
    _press(window, Qt.Key.Key_F8)
    _press(window, Qt.Key.Key_F11)
    assert _seen(window) == (False, False, False)
    _press(window, Qt.Key.Key_F11)
    assert _seen(window) == (True, False, True)
    _press(window, Qt.Key.Key_F11)
    _press(window, Qt.Key.Key_F7)
    assert _seen(window) == (True, False, True)


def test_that_going_to_the_filter_shows_the_cases(window: MainWindow) -> None:
    _press(window, Qt.Key.Key_F7)
    window.context.actions["edit.find"].trigger()
    assert _seen(window) == (True, True, True)
    assert _read(window).browser.isAncestorOf(window.focusWidget())


def test_that_hidden_panels_stay_hidden_at_the_next_start(
    window: MainWindow, settings: Settings, qtbot: QtBot
) -> None:
    _press(window, Qt.Key.Key_F8)
    window.close()
    again = app.build_window(settings)
    qtbot.addWidget(again)
    app.furnish(again)
    again.show()
    qtbot.waitExposed(again)
    assert _seen(again) == (True, False, True)
