"""B9-B14: windowing (IHE BIR 5.4)."""

from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint

from tests.ui.bir.conftest import LEFT, Open
from tests.ui.canvas.conftest import drag, pixels
from viewer.domain.image import Window
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import Preferences
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.image_view import ImageView


def _window(view: ImageView) -> Window:
    assert view.window_shown is not None
    return view.window_shown


def test_b09_dragging_right_widens_the_window(opened: Open, series: Path) -> None:
    view = opened(series)
    view.set_tool(Tool.WINDOW)
    before = _window(view)
    drag(view, QPoint(200, 200), QPoint(260, 200), LEFT)
    assert _window(view).width > before.width
    assert _window(view).center == before.center


def test_b10_dragging_up_brightens_unless_it_is_preferred_otherwise(
    opened: Open, series: Path
) -> None:
    view = opened(series)
    view.set_tool(Tool.WINDOW)
    before, dark = _window(view).center, pixels(view.viewport()).mean()
    drag(view, QPoint(200, 200), QPoint(200, 140), LEFT)
    assert _window(view).center < before
    assert pixels(view.viewport()).mean() > dark
    preferences.use(Preferences(up_darkens=True))
    middle = _window(view).center
    drag(view, QPoint(200, 200), QPoint(200, 140), LEFT)
    assert _window(view).center > middle


def test_b13_invert_swaps_black_and_white(
    opened: Open, context: AppContext, radiograph: Path
) -> None:
    view = opened(radiograph)
    assert view._display is not None
    frame = view._display.frame(view._camera.viewport(view.screen_size))
    before = frame.pixels.copy()
    context.actions["image.invert"].trigger()
    after = view._display.frame(view._camera.viewport(view.screen_size))
    np.testing.assert_array_equal(after.pixels, 255 - before)
