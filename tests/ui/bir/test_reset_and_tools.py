"""B32 and B37: reset, and one tool at a time."""

from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from tests.ui.bir.conftest import LEFT, Open, click
from tests.ui.canvas.conftest import drag
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import Preferences
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.tools.catalog import CURSORS
from viewer.ui.dialogs.settings_page import SettingsPage
from viewer.ui.workspaces.read import ReadWorkspace


def test_b32_reset_restores_the_view_removes_marks_and_stays_on_the_slice(
    opened: Open, read: ReadWorkspace, context: AppContext, series: Path
) -> None:
    view = opened(series)
    first, zoom = view.window_shown, view.zoom
    QTest.keyClick(view, Qt.Key.Key_Down)
    view.set_tool(Tool.WINDOW)
    drag(view, QPoint(200, 200), QPoint(260, 240), LEFT)
    view.zoom_by(2.0)
    view.pan_by(30, 30)
    view.set_tool(Tool.LENGTH)
    click(view, 80, 60)
    click(view, 110, 80)
    context.actions["image.reset"].trigger()
    assert (view.window_shown, view.zoom) == (first, zoom)
    assert view.marks.marks == ()
    assert read.lightbox.active.position == 1
    context.undo.undo()
    assert len(view.marks.marks) == 1


def test_b32_a_preference_keeps_the_marks(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    preferences.use(Preferences(reset_keeps_marks=True))
    view.set_tool(Tool.LENGTH)
    click(view, 80, 60)
    click(view, 110, 80)
    context.actions["image.reset"].trigger()
    assert len(view.marks.marks) == 1


def test_b37_one_tool_is_pressed_and_the_cursor_shows_it(
    opened: Open, context: AppContext, series: Path
) -> None:
    view = opened(series)
    for tool in Tool:
        context.actions[f"tool.{tool.value}"].trigger()
        pressed = [
            spec.id
            for spec, action in context.actions
            if spec.group == "tool" and action.isChecked()
        ]
        assert pressed == [f"tool.{tool.value}"]
        assert view.viewport().cursor().shape() is CURSORS[tool]


def test_that_preferences_are_kept_for_the_next_start(
    read: ReadWorkspace,
) -> None:
    read.handlers()["edit.settings"]()
    (dialog,) = read.findChildren(SettingsPage)
    dialog.show_section("Mouse and tools")
    dialog.boxes["reset_keeps_marks"].click()
    kept = read.choices
    preferences.use(Preferences())
    read.recall(kept)
    assert preferences.current() == Preferences(reset_keeps_marks=True)
