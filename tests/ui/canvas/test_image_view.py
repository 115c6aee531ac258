from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QHelpEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from tests.ui.canvas.conftest import MakeShown, drag, pixels
from viewer.domain.annotation import CornerLine, CornerText
from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.image import (
    LookupTable,
    Photometric,
    PixelImage,
    VoiFunction,
    Window,
)
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.domain.mark import Mark, MarkKind
from viewer.imaging.luts import to_raster
from viewer.imaging.pyramid import Patch, Pyramid
from viewer.ui.canvas.events import CursorMoved, FilesDropped, Scrolled
from viewer.ui.canvas.image_view import ImageView

GREY = Photometric.MONOCHROME2


def turn(view: ImageView, steps: int, at: QPoint, *, ctrl: bool = False) -> None:
    keys = Qt.KeyboardModifier
    event = QWheelEvent(
        QPointF(at),
        QPointF(view.viewport().mapToGlobal(at)),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        keys.ControlModifier if ctrl else keys.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    view.wheelEvent(event)


@pytest.mark.parametrize("photometric", [GREY, Photometric.MONOCHROME1])
@pytest.mark.parametrize("window", [None, Window(700, 900)])
def test_that_the_screen_shows_what_a_model_is_sent(
    view: ImageView,
    make_shown: MakeShown,
    photometric: Photometric,
    window: Window | None,
) -> None:
    values = np.random.default_rng(1).integers(-500, 1500, (300, 280), np.int16)
    image = PixelImage(values, photometric, windows=(Window(100, 600),))
    view.clearFocus()
    view.show_image(make_shown(image))
    view.one_to_one()
    if window is not None:
        view.set_window(window)
    corner = view.to_view(PointPx(0, 0)).toPoint()
    # The middle third: no letter and no corner text reaches there.
    seen = pixels(view)[corner.y() + 100 :, corner.x() + 90 :][:100, :90]
    expected = to_raster(image, window).pixels[100:200, 90:180]
    np.testing.assert_array_equal(seen[..., 0], expected)
    np.testing.assert_array_equal(seen[..., 2], expected)


def test_that_an_image_is_shaded_once_however_often_it_is_painted(
    view: ImageView, make_shown: MakeShown, monkeypatch: pytest.MonkeyPatch
) -> None:
    shade, times = Pyramid.shade, list[Patch]()

    def counted(
        pyramid: Pyramid, patch: Patch, window: Window | None, *, inverted: bool
    ) -> npt.NDArray[np.uint8]:
        times.append(patch)
        return shade(pyramid, patch, window, inverted=inverted)

    monkeypatch.setattr(Pyramid, "shade", counted)
    view.show_image(make_shown())
    before = pixels(view)
    for _ in range(3):
        np.testing.assert_array_equal(pixels(view), before)
    assert len(times) == 1
    for change in (view.invert, view.reset, partial(view.turn, 6), view.one_to_one):
        change()
        assert (pixels(view) != before).any()
        before = pixels(view)
    assert len(times) == 5


def test_that_colour_is_shown_as_it_is(view: ImageView, make_shown: MakeShown) -> None:
    values = np.random.default_rng(1).integers(0, 256, (300, 281, 3)).astype(np.uint8)
    view.show_image(make_shown(PixelImage(values, Photometric.RGB)))
    view.one_to_one()
    corner = view.to_view(PointPx(0, 0)).toPoint()
    seen = pixels(view)[corner.y() + 100 :, corner.x() + 90 :][:100, :90]
    np.testing.assert_array_equal(seen, values[100:200, 90:180])
    assert view.window_shown is None


def test_that_dragging_up_brightens_and_right_widens(
    view: ImageView, make_shown: MakeShown
) -> None:
    view.show_image(make_shown())
    first = view.window_shown
    assert first is not None
    middle = QPoint(200, 200)
    drag(view, middle, QPoint(200, 150), Qt.MouseButton.LeftButton)
    up = view.window_shown
    assert up is not None
    assert up.center < first.center
    assert up.width == first.width
    drag(view, middle, QPoint(260, 200), Qt.MouseButton.LeftButton)
    right = view.window_shown
    assert right is not None
    assert right.width > up.width
    assert right.center == up.center


def test_that_dragging_up_brightens_an_inverted_image_too(
    view: ImageView, make_shown: MakeShown
) -> None:
    values = np.arange(90_000, dtype=np.int32).reshape(300, 300) % 1000
    image = PixelImage(values.astype(np.int16), Photometric.MONOCHROME1)
    view.show_image(make_shown(image))
    before = pixels(view).mean()
    drag(view, QPoint(200, 200), QPoint(200, 120), Qt.MouseButton.LeftButton)
    assert pixels(view).mean() > before


def test_that_a_window_never_gets_narrower_than_its_function_allows(
    view: ImageView, make_shown: MakeShown
) -> None:
    linear = PixelImage(np.eye(9, dtype=np.uint8), GREY, windows=(Window(5, 10),))
    view.show_image(make_shown(linear, series_key="a"))
    drag(view, QPoint(410, 200), QPoint(1, 200), Qt.MouseButton.LeftButton)
    assert view.window_shown is not None
    assert view.window_shown.width == 1.0
    tiny = Window(0.5, 0.01, VoiFunction.LINEAR_EXACT)
    values = np.eye(9, dtype=np.float32)
    image = PixelImage(values, GREY, windows=(tiny,))
    view.show_image(make_shown(image, series_key="b"))
    drag(view, QPoint(410, 200), QPoint(1, 200), Qt.MouseButton.LeftButton)
    assert 0 < view.window_shown.width < 0.01


def test_that_the_middle_button_pans(view: ImageView, make_shown: MakeShown) -> None:
    view.show_image(make_shown())
    under = view.to_native(QPoint(200, 200))
    drag(view, QPoint(200, 200), QPoint(170, 260), Qt.MouseButton.MiddleButton)
    now = view.to_native(QPoint(170, 260))
    assert abs(now.x - under.x) < 1e-6
    assert abs(now.y - under.y) < 1e-6


def test_that_the_right_button_zooms_about_the_point_pressed(
    view: ImageView, make_shown: MakeShown
) -> None:
    view.show_image(make_shown())
    before, under = view.zoom, view.to_native(QPoint(150, 120))
    drag(view, QPoint(150, 120), QPoint(150, 220), Qt.MouseButton.RightButton)
    now = view.to_native(QPoint(150, 120))
    assert view.zoom > before
    assert abs(now.x - under.x) * view.zoom <= 1.5
    assert abs(now.y - under.y) * view.zoom <= 1.5


def test_that_the_wheel_zooms_a_single_image_at_the_cursor(
    view: ImageView, make_shown: MakeShown
) -> None:
    view.show_image(make_shown())
    before, under = view.zoom, view.to_native(QPoint(250, 90))
    turn(view, 1, QPoint(250, 90))
    now = view.to_native(QPoint(250, 90))
    assert view.zoom == pytest.approx(before * 1.2)
    assert abs(now.x - under.x) * view.zoom <= 0.5 + 1e-9
    assert abs(now.y - under.y) * view.zoom <= 0.5 + 1e-9


@pytest.mark.parametrize("header", [{"frames": 20}, {"modality": "CT"}])
def test_that_the_wheel_scrolls_a_stack_and_zooms_it_with_ctrl(
    view: ImageView, make_shown: MakeShown, qtbot: QtBot, header: dict[str, object]
) -> None:
    view.show_image(make_shown(**header))
    before = view.zoom
    with qtbot.waitSignal(view.scrolled) as told:
        turn(view, -2, QPoint(100, 100))
    assert told.args == [Scrolled(2)]
    assert view.zoom == before
    turn(view, 1, QPoint(100, 100), ctrl=True)
    assert view.zoom > before


def test_that_the_next_slice_keeps_window_and_zoom(
    view: ImageView, make_shown: MakeShown
) -> None:
    view.show_image(make_shown(modality="CT"))
    view.set_window(Window(40, 400))
    view.zoom_by(3.0)
    zoom = view.zoom
    view.show_image(make_shown(modality="CT", ref=ImageRef(Path("next.dcm"))))
    assert view.window_set == Window(40, 400)
    assert view.zoom == zoom


def test_that_another_series_starts_with_its_own_window_and_whole(
    view: ImageView, make_shown: MakeShown
) -> None:
    view.show_image(make_shown())
    zoom = view.zoom
    view.set_window(Window(40, 400))
    view.zoom_by(3.0)
    view.show_image(make_shown(series_key="another"))
    assert view.window_set is None
    assert view.zoom == zoom


def test_that_reset_restores_window_zoom_and_sense_and_removes_marks(
    view: ImageView, make_shown: MakeShown
) -> None:
    view.show_image(make_shown())
    first, start = view.window_shown, pixels(view)
    view.set_window(Window(40, 400))
    view.invert()
    view.zoom_by(3.0)
    view.marks.add(Mark(MarkKind.LENGTH, (PointPx(10, 10), PointPx(50, 50))))
    view.reset()
    assert view.window_shown == first
    assert view.marks.marks == ()
    np.testing.assert_array_equal(pixels(view), start)


def test_that_a_files_lookup_table_is_kept_until_the_window_is_moved(
    view: ImageView, make_shown: MakeShown
) -> None:
    table = LookupTable((np.arange(100, dtype=np.uint16) ** 2), 0, 14)
    values = np.arange(90_000, dtype=np.int32).reshape(300, 300) % 100
    image = PixelImage(values.astype(np.uint8), GREY, voi_luts=(table,))
    view.show_image(make_shown(image))
    view.one_to_one()
    start = pixels(view)
    first = view.window_shown
    assert first is not None
    view.set_window(first)
    np.testing.assert_array_equal(pixels(view), start)
    view.set_window(replace(first, width=50.0))
    assert (pixels(view) != start).any()


def test_that_the_value_under_the_cursor_comes_with_its_unit(
    view: ImageView, make_shown: MakeShown, qtbot: QtBot
) -> None:
    values = np.arange(40_000, dtype=np.int32).reshape(200, 200).astype(np.int16)
    image = PixelImage(values, GREY, units="HU")
    view.show_image(make_shown(image))
    view.one_to_one()
    at = view.to_view(PointPx(12.25, 34.25)).toPoint()
    # A cursor that another test left there would not move.
    QTest.mouseMove(view.viewport(), at + QPoint(9, 9))
    with qtbot.waitSignal(view.cursor_moved) as told:
        QTest.mouseMove(view.viewport(), at)
    event = told.args[0]
    assert isinstance(event, CursorMoved)
    assert event.value_text == f"{values[34, 12]} HU"
    assert event.point is not None
    assert (int(event.point.x), int(event.point.y)) == (12, 34)


def test_that_the_value_is_that_of_the_image_that_is_shown_now(
    view: ImageView, make_shown: MakeShown, qtbot: QtBot
) -> None:
    told: list[CursorMoved] = []
    view.cursor_moved.connect(told.append)
    images = [PixelImage(np.full((200, 200), n, np.int16), GREY) for n in (7, 9)]
    view.show_image(make_shown(images[0]))
    at = view.viewport().rect().center()
    QTest.mouseMove(view.viewport(), at + QPoint(9, 9))
    QTest.mouseMove(view.viewport(), at)
    qtbot.waitUntil(lambda: bool(told) and told[-1].value_text.startswith("7"))
    view.show_image(make_shown(images[1]))
    assert told[-1].value_text.startswith("9")


def test_that_the_whole_image_stays_whole_in_a_smaller_view(
    view: ImageView, make_shown: MakeShown
) -> None:
    view.show_image(make_shown())
    view.resize(260, 300)
    for corner in (PointPx(0, 0), PointPx(500, 600)):
        at = view.to_view(corner)
        assert -1 <= at.x() <= 261
        assert -1 <= at.y() <= 301


def test_that_pixels_taller_than_wide_are_shown_so(
    view: ImageView, make_shown: MakeShown
) -> None:
    spacing = Spacing(2.0, 1.0, SpacingMeaning.PATIENT)
    geometry = ImageGeometry(SizePx(100, 100), spacing)
    image = PixelImage(np.zeros((100, 100), np.uint8), GREY, geometry=geometry)
    view.show_image(make_shown(image))
    extent = view.to_view(PointPx(100, 100)) - view.to_view(PointPx(0, 0))
    assert extent.y() == pytest.approx(2 * extent.x())


def test_that_dropped_files_are_told(view: ImageView, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/images/a.dcm"), QUrl("https://example.org/b")])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    with qtbot.waitSignal(view.files_dropped) as told:
        view.dropEvent(event)
    assert told.args == [FilesDropped((Path("/images/a.dcm"),))]


def test_that_an_empty_view_says_what_to_do_and_bears_every_gesture(
    view: ImageView,
) -> None:
    assert pixels(view).any()
    drag(view, QPoint(9, 9), QPoint(99, 99), Qt.MouseButton.LeftButton)
    turn(view, 1, QPoint(50, 50))
    for act in (view.fit, view.one_to_one, view.invert, view.reset, view.clear):
        act()
    view.set_window(Window(1, 2))
    view.marks.add(Mark(MarkKind.LENGTH, (PointPx(0, 0), PointPx(9, 9))))
    view.marks.delete_chosen()
    view.marks.remove_all()
    assert view.window_shown is None
    assert view.marks.texts == ()


def test_that_corner_text_says_where_it_was_read(
    view: ImageView, make_shown: MakeShown
) -> None:
    born = CornerLine("born 1970-01-31", "PatientBirthDate (0010,0030)")
    corners = CornerText((born,), window_source="WindowCenter (0028,1050)")
    view.show_image(replace(make_shown(), corners=corners))
    corner, zoom, window = QPoint(12, 12), QPoint(12, 350), QPoint(12, 334)
    assert view.tip_at(QPointF(corner)) == "PatientBirthDate (0010,0030)"
    assert view.tip_at(QPointF(zoom)) == "Screen pixels per image pixel"
    assert view.tip_at(QPointF(window)) == "WindowCenter (0028,1050)"
    view.set_window(Window(500, 321))
    assert view.tip_at(QPointF(window)).startswith("Not from the file")
    assert view.tip_at(QPointF(200, 150)) == ""
    tip = QHelpEvent(QEvent.Type.ToolTip, corner, view.mapToGlobal(corner))
    QApplication.sendEvent(view.viewport(), tip)
    assert QToolTip.text() == "PatientBirthDate (0010,0030)"


def test_that_a_screen_of_another_density_shows_the_same_part(
    view: ImageView, make_shown: MakeShown, monkeypatch: pytest.MonkeyPatch
) -> None:
    view.show_image(make_shown())
    whole = view.zoom
    monkeypatch.setattr(ImageView, "ratio", 2.0)
    QApplication.sendEvent(view, QEvent(QEvent.Type.DevicePixelRatioChange))
    assert view.zoom == pytest.approx(2 * whole, rel=0.01)
    view.look_at(PointPx(100, 200), 4.0)
    left, right = view.seen.x0, view.seen.x1
    monkeypatch.setattr(ImageView, "ratio", 1.0)
    QApplication.sendEvent(view, QEvent(QEvent.Type.DevicePixelRatioChange))
    assert view.zoom == 2.0
    assert (view.seen.x0, view.seen.x1) == pytest.approx((left, right), abs=1)
