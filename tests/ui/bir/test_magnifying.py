"""The magnifier, and interpolation of magnified images."""

from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest

from tests.ui.bir.conftest import LEFT, NONE, Open
from viewer.domain.image import Window
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.preferences import Preferences
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.lens import MAGNIFICATION, Lens


def _levels(view: ImageView) -> set[int]:
    """Return the grey levels along a row of the view."""
    assert view._display is not None
    frame = view._display.frame(view._camera.viewport(view.screen_size), view._turned)
    return set(frame.pixels[frame.pixels.shape[0] // 2].tolist())


def test_that_a_lens_shows_the_point_under_the_mouse_larger(
    opened: Open, context: AppContext, radiograph: Path
) -> None:
    view = opened(radiograph)
    context.actions["tool.magnifier"].trigger()
    at = QPoint(300, 250)
    under = view.to_native(at)
    QTest.mousePress(view.viewport(), LEFT, NONE, at)
    (lens,) = view.viewport().findChildren(Lens)
    assert lens.isVisible()
    assert lens.camera is not None
    assert lens.camera.scale == MAGNIFICATION * view.zoom
    middle = lens.camera.to_native(lens.width() / 2, lens.height() / 2)
    assert abs(middle.x - under.x) < 0.2
    assert abs(middle.y - under.y) < 0.2
    QTest.mouseRelease(view.viewport(), LEFT, NONE, at)
    assert not lens.isVisible()


def test_that_magnified_pixels_are_interpolated_unless_squares_are_preferred(
    opened: Open, scintigram: Path
) -> None:
    view = opened(scintigram)
    view.clamp(False)
    view.set_window(Window(250, 128))
    view.zoom_by(4.0)
    smooth = len(_levels(view))
    preferences.use(Preferences(nearest_pixel=True))
    view.redraw()
    assert len(_levels(view)) < smooth / 2
