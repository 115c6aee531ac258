"""Going about a whole slide by mouse, keyboard and the line over it."""

import struct
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event, get_ident

import numpy as np
import numpy.typing as npt
import pytest
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.make_slide import (
    TILE,
    Pixels,
    pyramid,
    tissue,
    write_dicom_slide,
    write_svs,
)
from tests.helpers.public_files import shared_data
from viewer.domain.case import ImageRef, Study
from viewer.domain.geometry import PointPx
from viewer.readers.catalog import scan
from viewer.services.viewing.decoding import LocalDecoder
from viewer.ui.application import preferences
from viewer.ui.application.app_context import AppContext
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.minimap import Minimap
from viewer.ui.canvas.overlays.scale_bar import scale_bar
from viewer.ui.canvas.slide_tiles import SlideTiles
from viewer.ui.panels.read.grid_choice import GridChoice
from viewer.ui.panels.read.hanging import Chosen, rows_of, stacks_of
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.opening import Opening, Wanted
from viewer.ui.panels.read.slide_navigation import SlideNavigation
from viewer.ui.workspaces.read import ReadWorkspace

pytest.importorskip("openslide")


@cache
def levels() -> list[Pixels]:
    return pyramid(tissue(3000, 5000), 2)


class _Window(QWidget):
    """A lightbox with the line over it; choosing hangs at once."""

    def __init__(self, study: Study) -> None:
        super().__init__()
        self.stacks = stacks_of(study)
        self.lightbox = Lightbox()
        self.slides = SlideNavigation(self.lightbox, self.choose, self)
        column = QVBoxLayout(self)
        column.addWidget(self.slides.bar)
        column.addWidget(self.lightbox, 1)

    def choose(self, ref: ImageRef) -> None:
        for stack in self.stacks:
            refs = [image.ref for image in stack.images]
            if ref in refs:
                self.lightbox.hang(Chosen(stack, self.stacks, refs.index(ref)))

    @property
    def frame(self) -> int | None:
        shown = self.lightbox.active.shown
        return shown.ref.frame if shown else None

    @property
    def tiles(self) -> SlideTiles:
        tiles = self.lightbox.view._tiles
        assert tiles is not None
        return tiles

    def at(self, x: float, y: float) -> QPoint:
        return self.lightbox.view.to_view(PointPx(x, y)).toPoint()


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    facts = "|AppMag = 20|MPP = 0.5"
    return write_svs(tmp_path_factory.mktemp("slide") / "a.svs", levels(), facts)


@pytest.fixture
def window(qtbot: QtBot, path: Path) -> _Window:
    (case,) = scan([path])
    window = _Window(case.studies[0])
    qtbot.addWidget(window)
    window.resize(900, 700)
    window.show()
    window.choose(ImageRef(path, 0))
    qtbot.waitUntil(lambda: window.frame == 0)
    return window


def test_that_the_line_over_a_slide_offers_its_magnifications(window: _Window) -> None:
    bar = window.slides.bar
    offered = [bar.scales.itemText(n) for n in range(bar.scales.count())]
    assert offered == ["Whole slide", "1x", "2.5x", "5x", "10x", "20x"]
    assert bar.isVisible()
    assert bar.scales.placeholderText() == "Whole slide"


def test_that_a_double_click_magnifies_what_is_under_it(
    window: _Window, qtbot: QtBot
) -> None:
    view = window.lightbox.view
    QTest.mouseDClick(
        view.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        window.at(1000, 600),
    )
    assert (view.centre.x, view.centre.y) == pytest.approx((1000, 600), abs=2)
    assert window.slides.bar.scales.currentText() == "5x"
    qtbot.waitUntil(lambda: not window.tiles.missing)


def test_that_enter_looks_closer_up_to_the_scan(window: _Window, qtbot: QtBot) -> None:
    view, bar = window.lightbox.view, window.slides.bar
    QTest.mouseMove(view.viewport(), window.at(1200, 700))
    qtbot.wait(20)
    for name in ("5x", "10x", "20x", "20x"):
        QTest.keyClick(view, Qt.Key.Key_Return)
        assert bar.scales.currentText() == name
    assert view.zoom == pytest.approx(5000 / 2048)
    view.zoom_by(1.3)
    assert bar.scales.currentIndex() == -1
    assert bar.scales.placeholderText() == "26x"


def test_that_a_right_click_offers_every_magnification_there(window: _Window) -> None:
    spot = window.at(700, 800)
    QTest.mouseClick(
        window.lightbox.view.viewport(),
        Qt.MouseButton.RightButton,
        Qt.KeyboardModifier.NoModifier,
        spot,
    )
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    texts = [action.text() for action in menu.actions()]
    names = ("1x", "2.5x", "5x", "10x", "20x")
    assert texts == ["Whole slide", *(f"{name} here" for name in names)]
    menu.actions()[-1].trigger()
    menu.close()
    centre = window.lightbox.view.centre
    assert (centre.x, centre.y) == pytest.approx((700, 800), abs=2)
    assert window.slides.bar.scales.currentText() == "20x"


def test_that_a_closer_look_at_a_field_goes_on_with_the_slide_around_it(
    window: _Window, qtbot: QtBot
) -> None:
    window.choose(ImageRef(window.stacks[0].images[0].ref.path, 4))
    qtbot.waitUntil(lambda: window.frame == 4)
    assert window.slides.bar.place.text() == "10x, field 1 of 2"
    QTest.mouseMove(window.lightbox.view.viewport(), window.at(1900, 1400))
    qtbot.wait(20)
    QTest.keyClick(window.lightbox.view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.frame == 0)
    assert window.slides.bar.scales.currentText() == "20x"
    centre = window.lightbox.view.centre
    at = 2048 / 5000 * 2
    assert (centre.x, centre.y) == pytest.approx((1900 * at, 1400 * at), abs=3)


def test_that_what_is_seen_at_1_to_1_is_the_scan(window: _Window, qtbot: QtBot) -> None:
    window.lightbox.set_grid(GridChoice(shown=False))
    view = window.lightbox.view
    view.one_to_one()
    view.viewport().repaint()
    qtbot.waitUntil(lambda: not window.tiles.missing)
    seen = view.viewport().grab().toImage()
    corner = view._camera.to_native(200, 300)
    x, y = round(corner.x * 5000 / 2048), round(corner.y * 3000 / 1229)
    for step in range(0, 400, 50):
        colour = seen.pixelColor(200 + step, 300)
        shown = (colour.red(), colour.green(), colour.blue())
        assert shown == tuple(levels()[0][y, x + step])
    assert window.tiles.value_at(corner) == "R {} G {} B {}".format(*levels()[0][y, x])


def _says(window: _Window, words: str) -> bool:
    annotations = window.lightbox.view._annotations
    assert annotations is not None
    return words in [line.text for line in annotations._lines]


def test_that_tiles_come_without_the_window_waiting(
    window: _Window, qtbot: QtBot
) -> None:
    viewport, view = window.lightbox.active, window.lightbox.view
    held, threads = Event(), set[int]()
    read = viewport._decoder.tile

    def slow(ref: ImageRef, *, as_scanned: bool) -> npt.NDArray[np.uint8]:
        threads.add(get_ident())
        held.wait(10)
        return read(ref, as_scanned=as_scanned)

    viewport._decoder.tile = slow  # type: ignore[method-assign]
    view.one_to_one()
    qtbot.waitUntil(lambda: bool(threads))
    rough = view.viewport().grab().toImage()  # painted while no tile is there
    colours = {rough.pixel(x, 300) for x in range(100, 800, 10)}
    assert len(colours) > 10
    view.redraw()
    assert _says(window, "Reading finer pixels…")
    held.set()
    qtbot.waitUntil(lambda: not window.tiles.missing)
    assert get_ident() not in threads
    qtbot.waitUntil(lambda: not _says(window, "Reading finer pixels…"))


def test_that_tiles_that_cannot_be_read_are_hatched_and_counted(
    window: _Window, qtbot: QtBot, path: Path, tmp_path: Path
) -> None:
    data, size = path.read_bytes(), TILE * TILE * 3
    starts, beyond = struct.pack("<II", 8, 8 + size), struct.pack("<I", 0xFFFFFF00)
    assert data.count(starts) == 1  # the table of the scan's tiles
    broken = tmp_path / "broken.svs"
    broken.write_bytes(data.replace(starts, beyond + starts[4:]))
    window.stacks = stacks_of(scan([broken])[0].studies[0])
    window.choose(ImageRef(broken, 0))
    view = window.lightbox.view
    shown = window.lightbox.active
    qtbot.waitUntil(lambda: window.frame == 0 and shown.shown is not None)
    qtbot.waitUntil(lambda: view.scan_zoom is not None)
    view.look_at(PointPx(0, 0), view.scan_zoom or 0.0)
    qtbot.waitUntil(lambda: window.tiles.broken == 1 and not window.tiles.missing)
    assert _says(window, "1 tile cannot be read")
    hatch = view.viewport().grab().toImage()
    middle = view.viewport().rect().center()
    greys = {
        hatch.pixelColor(middle.x() + n, middle.y() + 40).name() for n in range(16)
    }
    assert "#808080" in greys


def test_that_a_drag_with_the_right_button_still_zooms(window: _Window) -> None:
    view = window.lightbox.view
    before, surface = view.zoom, view.viewport()
    QTest.mousePress(surface, Qt.MouseButton.RightButton, pos=QPoint(300, 300))
    QTest.mouseMove(surface, QPoint(300, 200))
    QTest.mouseRelease(surface, Qt.MouseButton.RightButton, pos=QPoint(300, 200))
    assert QApplication.activePopupWidget() is None
    assert view.zoom != before


def test_that_another_magnification_keeps_the_middle_of_the_view(
    window: _Window,
) -> None:
    bar, view = window.slides.bar, window.lightbox.view
    view.look_at(PointPx(700, 500), 1.0)
    bar.scales.activated.emit(5)
    assert (view.centre.x, view.centre.y) == pytest.approx((700, 500), abs=2)
    assert bar.scales.currentText() == "20x"
    bar.scales.activated.emit(0)
    assert view.fitted
    assert bar.scales.placeholderText() == "Whole slide"


def test_that_keys_choose_the_magnification(
    qtbot: QtBot, read: ReadWorkspace, path: Path
) -> None:
    read.open_paths([path])
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    bar, view = read._slides.bar, read.lightbox.view
    for key, name in (("1", "1x"), ("4", "10x"), ("5", "20x")):
        read.handlers()[f"preset.{key}"]()
        assert bar.scales.currentText() == name
    read.handlers()["preset.6"]()
    assert bar.hint.text() == "Scanned at 20x, no higher magnification"
    read.handlers()["preset.0"]()
    assert view.fitted
    assert read.lightbox.tool is Tool.PAN


def test_that_the_scale_bar_of_a_slide_is_in_micrometres(window: _Window) -> None:
    shown = window.lightbox.active.shown
    assert shown is not None
    bar = scale_bar(shown.image.geometry.spacing, 1.0)
    assert bar is not None
    assert bar.text == "100 µm"
    assert bar.length == pytest.approx(100 / (0.5 * 5000 / 2048))


def test_that_the_rows_of_a_slide_are_its_magnifications(path: Path) -> None:
    (rows,) = rows_of(scan([path]))
    assert rows.words == "a.svs"
    (study,) = rows.studies
    assert study.words == "Whole slide, scanned at 20x"
    assert [(stack.name, stack.words) for stack in study.stacks] == [
        ("Overview", "SM · 2048 × 1229"),
        ("1.25x", "SM · 312 × 188"),
        ("2.5x", "SM · 625 × 375"),
        ("5x", "SM · 1250 × 750"),
        ("10x", "SM · 2 fields"),
        ("20x", "SM · 6 fields"),
    ]


def test_that_a_study_in_place_of_a_patient_is_not_called_one(tmp_path: Path) -> None:
    write_dicom_slide(tmp_path, levels()[1:], 0.5, PatientID="")
    (rows,) = rows_of(scan([tmp_path]))
    assert rows.words == "No patient named"
    (rows,) = rows_of(scan([write_svs(tmp_path / "7.5", levels()[1:])]))
    assert rows.words == "7.5"


def test_that_one_level_of_a_dicom_slide_counts_as_the_slide(
    tmp_path: Path, qtbot: QtBot
) -> None:
    scan_file, level = write_dicom_slide(tmp_path, levels()[:2], 0.5)
    opening = Opening(LocalDecoder(), opening_parent := QObject())
    wanted = Wanted((level,), show=True)
    with qtbot.waitSignal(opening.found):
        opening.open(wanted)
    assert wanted.paths == (scan_file,)
    assert opening.paths == (scan_file,)
    opening_parent.deleteLater()


def _drag(view: QWidget, start: QPoint, end: QPoint) -> None:
    left = Qt.MouseButton.LeftButton
    QTest.mousePress(view, left, pos=start)
    QTest.mouseMove(view, end)
    QTest.mouseRelease(view, left, pos=end)


def test_that_the_small_picture_shows_where_the_view_lies_and_leads_there(
    window: _Window,
) -> None:
    view = window.lightbox.view
    small = view.findChild(Minimap)
    assert isinstance(small, Minimap)
    assert not small.isVisible()
    view.look_at(PointPx(500, 300), 2.0)
    assert small.isVisible()
    assert small.width() / small.height() == pytest.approx(2048 / 1229, rel=0.02)
    scale = small.width() / 2048
    middle = small.frame.center()
    assert (middle.x(), middle.y()) == pytest.approx((500 * scale, 300 * scale), abs=1)
    seen = view.seen
    assert small.frame.width() == pytest.approx((seen.x1 - seen.x0) * scale, abs=1)
    spot = QPoint(round(1500 * scale), round(900 * scale))
    QTest.mouseClick(small, Qt.MouseButton.LeftButton, pos=spot)
    half_a_pixel = 0.5 / scale + 1
    centre = (view.centre.x, view.centre.y)
    assert centre == pytest.approx((1500, 900), abs=half_a_pixel)
    assert view.zoom == 2.0
    _drag(small, spot, QPoint(round(1000 * scale), round(600 * scale)))
    centre = (view.centre.x, view.centre.y)
    assert centre == pytest.approx((1000, 600), abs=half_a_pixel)
    preferences.use(replace(preferences.current(), minimap=False))
    view.redraw()
    view.zoom_by(1.5)
    assert not small.isVisible()


def test_that_the_icc_profile_can_be_left_out_and_the_image_says_so(
    qtbot: QtBot, read: ReadWorkspace
) -> None:
    folder = shared_data("pathology", "wsi") / "CMU-1-Small-Region_dicom"
    path = folder / "volume_2220x2967.dcm"
    read.open_paths([path])
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    view = read.lightbox.view

    def says(words: str) -> bool:
        assert view._annotations is not None
        return any(words in line.text for line in view._annotations._lines)

    def shown() -> bytes:
        image = view.viewport().grab().toImage()
        return bytes(image.constBits())

    converted = shown()
    assert says("Colours by ICC profile")
    with qtbot.waitSignal(view.seen_changed):  # which paints the small picture anew
        read.handlers()["image.icc"]()
    qtbot.waitUntil(lambda: says("Colours as scanned, ICC profile left out"))
    assert shown() != converted
    read.handlers()["image.icc"]()
    qtbot.waitUntil(lambda: says("Colours by ICC profile"))
    assert shown() == converted


def test_that_a_slide_without_a_profile_says_so(
    qtbot: QtBot, read: ReadWorkspace, context: AppContext, path: Path
) -> None:
    read.open_paths([path])
    qtbot.waitUntil(lambda: read.lightbox.active.shown is not None)
    with qtbot.waitSignal(context.notices.posted) as told:
        read.handlers()["image.icc"]()
    assert "no ICC profile" in told.args[0].what
    assert not preferences.current().colours_as_scanned


def test_that_the_badge_counts_the_pixels_of_the_scan(
    qtbot: QtBot, window: _Window
) -> None:
    view = window.lightbox.view

    def badge() -> str:
        assert view._annotations is not None
        lines = [line.text for line in view._annotations._lines]
        return next(text for text in lines if text.startswith(("Pixels", "Reading")))

    view.one_to_one()
    qtbot.waitUntil(lambda: badge() == "Pixels as stored")
    view.zoom_by(0.5)
    qtbot.waitUntil(lambda: badge() == "Pixels reduced")
    (reduced,) = [stack for stack in window.stacks if stack.name == "5x"]
    field = reduced.images[0].ref
    window.choose(field)
    qtbot.waitUntil(lambda: window.frame == field.frame)
    view.one_to_one()
    assert badge() == "Pixels reduced"
