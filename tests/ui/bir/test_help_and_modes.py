"""B35 and B36: help in the viewer, and the basic tools."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolBar
from pytestqt.qtbot import QtBot

from tests.helpers.window_parts import Furnished
from viewer.settings import Settings
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import Preferences
from viewer.ui.dialogs.settings_page import SettingsPage
from viewer.ui.panels.read.image_commands import BASIC, TOOLS
from viewer.ui.window.shortcuts_sheet import MOUSE, KeyLines, ShortcutsSheet
from viewer.ui.workspaces.read import ReadWorkspace


def test_b35_help_lists_every_key_and_what_the_mouse_does(
    qtbot: QtBot, settings: Settings
) -> None:
    made = Furnished(settings)
    qtbot.addWidget(made.window)
    made.window.show()
    made.window.activateWindow()
    qtbot.waitUntil(made.window.isActiveWindow)
    QTest.keyClick(made.window, Qt.Key.Key_F1)
    (sheet,) = made.window.findChildren(ShortcutsSheet)
    parts = sheet.findChildren(KeyLines)
    said = [text for part in parts for line in part.lines for text in line]
    actions = made.context.actions
    keyed = [spec for spec, _ in actions if spec.shortcut]
    assert keyed
    assert {spec.text for spec in keyed} <= set(said)
    assert {words for line in MOUSE for words in line} <= set(said)
    sheet.close()


def _bar(read: ReadWorkspace) -> QToolBar:
    (bar,) = [b for b in read.findChildren(QToolBar) if b.isVisible()]
    return bar


def _named(context: AppContext, names: tuple[str | tuple[str, ...], ...]) -> set[str]:
    return {
        context.actions[name].text()
        for group in names
        for name in ((group,) if isinstance(group, str) else group)
        if name and context.actions[name].isVisible()
    }


def test_b36_a_key_leaves_the_basic_tools_and_brings_all_back(
    read: ReadWorkspace, context: AppContext
) -> None:
    everything, basic = _named(context, TOOLS), _named(context, BASIC)
    read.addAction(context.actions["view.basic"])
    whole = _bar(read)
    QTest.keyClick(read, Qt.Key.Key_F10)
    assert context.actions["view.basic"].isChecked()
    offered = {action.text() for action in _bar(read).actions() if action.isVisible()}
    assert offered - {""} == basic
    assert "Polygon" in everything - basic
    context.actions["tool.polygon"].trigger()  # its key works as before
    assert context.actions["tool.polygon"].isChecked()
    QTest.keyClick(read, Qt.Key.Key_F10)
    assert _bar(read) is whole
    assert not context.actions["view.basic"].isChecked()


def test_b36_the_basic_tools_are_a_preference_that_is_kept(
    read: ReadWorkspace, context: AppContext
) -> None:
    context.actions["edit.settings"].trigger()
    (dialog,) = read.findChildren(SettingsPage)
    dialog.boxes["basic_mode"].click()
    assert context.actions["view.basic"].isChecked()
    kept = read.choices
    preferences.use(Preferences())
    read.recall(kept)
    assert preferences.current().basic_mode
