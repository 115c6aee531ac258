"""B9-B14: windowing (IHE BIR 5.4)."""

from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu

from tests.helpers.make_dicom import dicom_dataset, save_dicom
from tests.ui.bir.conftest import LEFT, Open
from tests.ui.canvas.conftest import drag, pixels
from viewer.domain.image import Window
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import Preferences
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.workspaces.read import ReadWorkspace


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
    frame = view._display.frame(view._camera.viewport(view.screen_size), view._turned)
    before = frame.pixels.copy()
    context.actions["image.invert"].trigger()
    after = view._display.frame(view._camera.viewport(view.screen_size), view._turned)
    np.testing.assert_array_equal(after.pixels, 255 - before)


def test_b11_windows_apply_after_rescaling_unless_it_is_preferred_otherwise(
    opened: Open, context: AppContext, tmp_path: Path
) -> None:
    values = np.add.outer(np.arange(64), np.arange(64)).astype(np.uint16)
    folder = tmp_path / "mr"
    folder.mkdir()
    dataset = dicom_dataset(
        values,
        Modality="MR",
        WindowCenter=60,
        WindowWidth=100,
        RescaleSlope=2.5,
        RescaleIntercept=10,
    )
    save_dicom(dataset, folder / "mr.dcm")
    view = opened(folder)
    assert (_window(view).center, _window(view).width) == (60, 100)  # PS3.3
    preferences.use(Preferences(window_of_stored=True))
    view = opened(folder)
    assert (_window(view).center, _window(view).width) == (160, 250)  # IHE BIR 5.4
    view.set_window(Window(1, 2))
    context.actions["preset.1"].trigger()
    assert (_window(view).center, _window(view).width) == (160, 250)


def _names(context: AppContext) -> list[str]:
    actions = (context.actions[f"preset.{n}"] for n in range(3, 10))
    return [action.text() for action in actions if action.isVisible()]


def test_b12_presets_follow_the_modality_in_keys_and_popup(
    opened: Open,
    read: ReadWorkspace,
    context: AppContext,
    series: Path,
    radiograph: Path,
) -> None:
    view = opened(series)
    assert "Brain" in _names(context)
    context.actions["preset.3"].trigger()
    assert (_window(view).center, _window(view).width) == (-500, 1500)
    context.actions["preset.2"].trigger()
    assert (_window(view).center, _window(view).width) == (40, 400)
    context.actions["preset.2"].trigger()
    assert (_window(view).center, _window(view).width) == (-600, 1500)
    film = opened(radiograph)
    assert _names(context) == ["Lung", "Bone", "High contrast", "Low contrast"]
    context.actions["image.presets"].trigger()
    (menu,) = read.lightbox.view.findChildren(QMenu)
    offered = {action.text(): action for action in menu.actions()}
    assert not offered.keys() & {"Brain", "Liver"}
    offered["High contrast"].trigger()
    assert _window(film).width == 0.6 * 360
    menu.close()


def test_b14_nuclear_medicine_and_pet_start_at_zero(
    opened: Open, context: AppContext, scintigram: Path, series: Path
) -> None:
    view = opened(scintigram)
    clamp = context.actions["image.clamp"]
    assert clamp.isChecked()
    view.set_tool(Tool.WINDOW)
    for end in (QPoint(260, 150), QPoint(120, 260)):
        drag(view, QPoint(200, 200), end, LEFT)
        assert _window(view).center == _window(view).width / 2
    clamp.trigger()
    assert (_window(view).center, _window(view).width) == (300, 400)
    opened(series)
    assert not clamp.isChecked()
