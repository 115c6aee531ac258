"""Presentation states of an opened folder, chosen from a list (PS3.3 A.33)."""

from pathlib import Path

import numpy as np
import pydicom
import pytest
from PySide6.QtCore import QEvent, QSizeF
from PySide6.QtGui import QImage, QScreen
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from tests.helpers.make_presentation import graphic, item, window, write_state
from tests.helpers.reference_pipeline import windowed
from tests.ui.bir.conftest import COLUMNS, ROWS, Open
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.picture import picture_of
from viewer.ui.workspaces.read import ReadWorkspace

AREA = item(
    DisplayedAreaTopLeftHandCorner=[51, 41],
    DisplayedAreaBottomRightHandCorner=[150, 120],
)


@pytest.fixture
def folder(radiograph: Path) -> Path:
    """The radiograph, with three states: inverse, turned with graphics, and shut."""
    beside = radiograph.parent
    write_state(
        beside / "1.dcm", radiograph, ContentLabel="INVERSE",
        SoftcopyVOILUTSequence=[window(100, 120)], PresentationLUTShape="INVERSE",
    )  # fmt: skip
    text = item(
        UnformattedTextValue="nodule", AnchorPointVisibility="N", AnchorPoint=[90, 70],
        AnchorPointAnnotationUnits="PIXEL",
    )  # fmt: skip
    marked = item(
        GraphicObjectSequence=[graphic("POLYLINE", (60, 60), (120, 100))],
        TextObjectSequence=[text],
    )
    write_state(
        beside / "2.dcm", radiograph, ContentLabel="TURNED", ImageRotation=90,
        ImageHorizontalFlip="N", DisplayedAreaSelectionSequence=[AREA],
        GraphicAnnotationSequence=[marked],
    )  # fmt: skip
    write_state(
        beside / "3.dcm", radiograph, ContentLabel="SHUT", ShutterShape="RECTANGULAR",
        ShutterLeftVerticalEdge=50, ShutterRightVerticalEdge=150,
        ShutterUpperHorizontalEdge=40, ShutterLowerHorizontalEdge=120,
    )  # fmt: skip
    return beside


def _choose(qtbot: QtBot, context: AppContext, view: ImageView, name: str) -> None:
    """Choose a state from the list by its name."""
    context.actions["image.presentation"].trigger()
    qtbot.waitUntil(lambda: bool(view.findChildren(QMenu)))
    (menu,) = view.findChildren(QMenu)
    (action,) = [each for each in menu.actions() if each.text().startswith(name)]
    action.trigger()
    menu.close()
    qtbot.waitUntil(lambda: not view.findChildren(QMenu))


def _corner(view: ImageView) -> str:
    assert view._annotations is not None
    lines = [line.text for line in view._annotations._lines]
    return next((text for text in lines if text.startswith("Presentation")), "")


def _wait(qtbot: QtBot, view: ImageView, words: str) -> None:
    qtbot.waitUntil(lambda: _corner(view) == words)


def _grey(picture: QImage) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    grey = picture.convertToFormat(QImage.Format.Format_Grayscale8)
    rows = np.frombuffer(grey.constBits(), np.uint8)
    return rows.reshape(grey.height(), grey.bytesPerLine())[:, : grey.width()]


def _pixels(view: ImageView) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    """Return the image as it is painted, each pixel once."""
    view.one_to_one()
    assert view._display is not None
    seen = view._camera.viewport(view._turned.size_before)
    return view._display.frame(seen, view._turned).pixels


def test_that_a_state_s_grey_scale_is_applied_and_said_on_the_image(
    qtbot: QtBot, opened: Open, context: AppContext, folder: Path
) -> None:
    view = opened(folder)
    before = _pixels(view)
    _choose(qtbot, context, view, "INVERSE")
    _wait(qtbot, view, "Presentation state INVERSE (window, inverse)")
    stored = pydicom.dcmread(folder / "film.dcm").pixel_array
    expected = 255 - windowed(stored.astype(float), 100, 120, "LINEAR")
    assert np.abs(_pixels(view) - expected).max() <= 1
    assert view.shows_low_bright
    assert not view.inverted  # by the reader; Reset goes back to the state
    view.invert()
    view.reset()
    assert np.abs(_pixels(view) - expected).max() <= 1
    _choose(qtbot, context, view, "None")
    _wait(qtbot, view, "")
    assert (_pixels(view) == before).all()


def test_that_an_image_is_turned_and_framed_and_its_graphics_are_drawn(
    qtbot: QtBot, opened: Open, context: AppContext, folder: Path
) -> None:
    view = opened(folder)
    _choose(qtbot, context, view, "TURNED")
    said = "Presentation state TURNED (turned, part of the image, 1 graphic, 1 text)"
    _wait(qtbot, view, said)
    assert view.orientation == 6
    assert view.centre.x == pytest.approx(100, abs=1)
    assert view.centre.y == pytest.approx(80, abs=1)
    # 100 × 80 pixels, turned: 80 across and 100 down fill the view in one direction.
    fills = min(view.area.width() / 80, view.area.height() / 100)
    assert view.zoom == pytest.approx(fills, rel=0.02)
    drawn = _grey(picture_of(view, identified=True)).astype(int)
    unnamed = _grey(picture_of(view, identified=False)).astype(int)
    view.hide_overlays(hidden=True)
    plain = _grey(picture_of(view, identified=True)).astype(int)
    view.hide_overlays(hidden=False)
    differs = np.abs(drawn - plain) > 40
    ratio = drawn.shape[0] / view.area.height()
    for native in ((60, 60), (90, 80), (119, 99)):
        at = view.to_view(type(view.centre)(*native)) * ratio
        x, y = round(at.x()), round(at.y())
        assert differs[y - 4 : y + 5, x - 4 : x + 5].any(), native
    # The text may name the patient, and is not in a picture without names.
    at = view.to_view(type(view.centre)(90, 70)) * ratio
    x, y = round(at.x()), round(at.y())
    text = slice(y, y + 14), slice(x, x + 40)
    assert (np.abs(drawn - plain)[text] > 40).any()
    assert not (np.abs(unnamed - plain)[text] > 40).any()


def test_that_a_shutter_hides_pixels_and_measures_them_all_the_same(
    qtbot: QtBot, opened: Open, context: AppContext, read: ReadWorkspace, folder: Path
) -> None:
    view = opened(folder)
    _choose(qtbot, context, view, "SHUT")
    _wait(qtbot, view, "Presentation state SHUT (shutter)")
    view.hide_overlays(hidden=False)
    picture = _grey(picture_of(view, identified=False))
    ratio = picture.shape[0] / view.area.height()
    at = view.to_view(type(view.centre)(COLUMNS - 5, ROWS / 2)) * ratio
    assert picture[round(at.y()), round(at.x())] == 0
    shown = read.lightbox.active.shown
    assert shown is not None
    assert shown.image.padding is None


def test_that_a_state_stays_with_its_image(
    qtbot: QtBot, opened: Open, context: AppContext, read: ReadWorkspace, series: Path
) -> None:
    first = min(series.iterdir())
    write_state(
        series / "state.dcm", first, SoftcopyVOILUTSequence=[window(1, 1200)],
        RescaleSlope=1, RescaleIntercept=-1024,
    )  # fmt: skip
    view = opened(series)
    shown = view._shown
    assert shown is not None
    while shown.ref.path != first:
        with qtbot.waitSignal(read.lightbox.active.image_shown):
            view.scroll_by(1)
        shown = view._shown
        assert shown is not None
    _choose(qtbot, context, view, "READ")
    _wait(qtbot, view, "Presentation state READ (window)")
    view.scroll_by(1)
    qtbot.waitUntil(lambda: not _corner(view))
    view.scroll_by(-1)
    _wait(qtbot, view, "Presentation state READ (window)")


def test_that_an_image_without_states_says_so(
    opened: Open, context: AppContext, radiograph: Path, qtbot: QtBot
) -> None:
    opened(radiograph)
    with qtbot.waitSignal(context.notices.posted) as told:
        context.actions["image.presentation"].trigger()
    assert told.args is not None
    assert "None of the opened files is a presentation state" in str(told.args[0])


def test_that_the_grid_stays_on_an_image_that_is_shown_by_a_state(
    qtbot: QtBot, opened: Open, context: AppContext, folder: Path
) -> None:
    view = opened(folder)
    if view._layers.grid is None:
        context.actions["overlays.grid"].trigger()
    grid = view._layers.grid
    assert grid is not None
    _choose(qtbot, context, view, "INVERSE")
    _wait(qtbot, view, "Presentation state INVERSE (window, inverse)")
    qtbot.waitUntil(lambda: view._layers.grid == grid)
    _choose(qtbot, context, view, "None")
    _wait(qtbot, view, "")
    qtbot.waitUntil(lambda: view._layers.grid == grid)


def _sized(folder: Path, mode: str, **more: object) -> None:
    area = item(
        DisplayedAreaTopLeftHandCorner=[51, 41],
        DisplayedAreaBottomRightHandCorner=[150, 120],
        PresentationSizeMode=mode,
        **more,
    )
    write_state(
        folder / "4.dcm", folder / "film.dcm", ContentLabel="SIZED",
        DisplayedAreaSelectionSequence=[area],
    )  # fmt: skip


def test_that_an_area_is_magnified_about_its_middle(
    qtbot: QtBot, opened: Open, context: AppContext, folder: Path
) -> None:
    _sized(folder, "MAGNIFY", PresentationPixelMagnificationRatio=2.5)
    view = opened(folder)
    _choose(qtbot, context, view, "SIZED")
    _wait(qtbot, view, "Presentation state SIZED (part of the image, magnified 2.5 ×)")
    assert view.zoom == pytest.approx(2.5)
    assert view.centre.x == pytest.approx(100, abs=1)
    assert view.centre.y == pytest.approx(80, abs=1)


def test_that_true_size_needs_a_screen_that_tells_its_own(
    qtbot: QtBot,
    opened: Open,
    context: AppContext,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _sized(folder, "TRUE SIZE", PresentationPixelSpacing=[0.5, 0.5])
    view = opened(folder)
    monkeypatch.setattr(QScreen, "physicalSize", lambda _: QSizeF(400, 300))
    _choose(qtbot, context, view, "SIZED")
    _wait(qtbot, view, "Presentation state SIZED (part of the image, true size)")
    screen = view.screen()
    pitch = 400 / (screen.size().width() * screen.devicePixelRatio())
    assert view.zoom == pytest.approx(0.5 / pitch)
    monkeypatch.setattr(QScreen, "physicalSize", lambda _: QSizeF(200, 150))
    moved = QEvent(QEvent.Type.ScreenChangeInternal)
    QApplication.sendEvent(view, moved)
    qtbot.waitUntil(lambda: view.zoom == pytest.approx(0.5 / pitch * 2))
    monkeypatch.setattr(QScreen, "physicalSize", lambda _: QSizeF())
    QApplication.sendEvent(view, moved)
    missed = "not shown: true size, screen size unknown"
    _wait(qtbot, view, f"Presentation state SIZED (part of the image, {missed})")
