"""B3: scrolling is active when a series opens."""

from pathlib import Path

from PySide6.QtCore import QPoint

from tests.ui.bir.conftest import LEFT, Open
from tests.ui.canvas.conftest import drag
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import Preferences
from viewer.ui.workspaces.read import ReadWorkspace


def _tool(context: AppContext) -> str:
    return next(
        spec.id
        for spec, action in context.actions
        if spec.group == "tool" and action.isChecked()
    )


def test_b03_scrolling_is_active_where_there_is_something_to_scroll(
    opened: Open,
    read: ReadWorkspace,
    context: AppContext,
    series: Path,
    radiograph: Path,
) -> None:
    view = opened(series)
    assert _tool(context) == "tool.scroll"
    drag(view, QPoint(200, 200), QPoint(200, 214), LEFT)
    assert read.lightbox.active.position == 2
    opened(radiograph)
    assert _tool(context) == "tool.window"  # a single image has nothing to scroll


def test_b03_a_tool_chosen_by_hand_is_kept_for_such_images(
    opened: Open, context: AppContext, series: Path, radiograph: Path
) -> None:
    opened(series)
    context.actions["tool.window"].trigger()
    opened(radiograph)
    opened(series)
    assert _tool(context) == "tool.window"
    context.actions["tool.length"].trigger()
    opened(radiograph)
    assert _tool(context) == "tool.length"


def test_b03_a_preference_leaves_the_window_active(
    opened: Open, context: AppContext, series: Path
) -> None:
    preferences.use(Preferences(scroll_first=False))
    opened(series)
    assert _tool(context) == "tool.window"
