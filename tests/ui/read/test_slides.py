"""Going about a whole slide by mouse, keyboard and the line over it."""

from functools import cache
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from tests.helpers.make_slide import (
    Pixels,
    pyramid,
    tissue,
    write_dicom_slide,
    write_svs,
)
from viewer.domain.case import ImageRef, Study
from viewer.domain.geometry import PointPx
from viewer.readers.catalog import scan
from viewer.services.viewing.decoding import LocalDecoder
from viewer.ui.canvas.overlays.scale_bar import scale_bar
from viewer.ui.panels.read.hanging import Chosen, rows_of, stacks_of
from viewer.ui.panels.read.lightbox import Lightbox
from viewer.ui.panels.read.opening import Opening, Wanted
from viewer.ui.panels.read.slide_navigation import SlideNavigation

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
    assert offered == ["Overview", "1.25x", "2.5x", "5x", "10x · 2 fields",
                       "20x · 6 fields"]  # fmt: skip
    assert bar.isVisible()
    assert bar.scales.currentText() == "Overview"
    assert bar.hint.text() == "Double-click, or Enter, opens 10x there"


def test_that_a_double_click_on_the_overview_opens_the_field_there(
    window: _Window, qtbot: QtBot
) -> None:
    QTest.mouseDClick(
        window.lightbox.view.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
        window.at(2000, 600),
    )
    qtbot.waitUntil(lambda: window.frame == 5)  # the second field at 10x
    assert window.slides.bar.place.text() == "field 2 of 2"
    assert window.slides.bar.scales.currentText() == "10x · 2 fields"


def test_that_enter_looks_closer_where_the_cursor_is(
    window: _Window, qtbot: QtBot
) -> None:
    window.choose(ImageRef(window.stacks[0].images[0].ref.path, 4))
    qtbot.waitUntil(lambda: window.frame == 4)
    QTest.mouseMove(window.lightbox.view.viewport(), window.at(1900, 1400))
    qtbot.wait(20)
    QTest.keyClick(window.lightbox.view, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.frame == 6 + 3 + 1)  # row 2, column 2 at 20x
    QTest.keyClick(window.lightbox.view, Qt.Key.Key_Return)
    qtbot.wait(50)
    assert window.frame == 10
    assert window.slides.bar.hint.text() == ""


def test_that_a_right_click_offers_every_magnification_there(
    window: _Window, qtbot: QtBot
) -> None:
    spot = window.at(100, 1200)
    QTest.mouseClick(
        window.lightbox.view.viewport(),
        Qt.MouseButton.RightButton,
        Qt.KeyboardModifier.NoModifier,
        spot,
    )
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    texts = [action.text() for action in menu.actions()]
    assert texts == [
        "Open Overview",
        *(f"Open at {name} here" for name in ("1.25x", "2.5x", "5x", "10x", "20x")),
    ]
    menu.actions()[-1].trigger()
    menu.close()
    qtbot.waitUntil(lambda: window.frame == 9)  # row 2, column 1 at 20x


def test_that_a_drag_with_the_right_button_still_zooms(window: _Window) -> None:
    view = window.lightbox.view
    before, surface = view.zoom, view.viewport()
    QTest.mousePress(surface, Qt.MouseButton.RightButton, pos=QPoint(300, 300))
    QTest.mouseMove(surface, QPoint(300, 200))
    QTest.mouseRelease(surface, Qt.MouseButton.RightButton, pos=QPoint(300, 200))
    assert QApplication.activePopupWidget() is None
    assert view.zoom != before


def test_that_another_magnification_shows_the_middle_of_the_view(
    window: _Window, qtbot: QtBot
) -> None:
    bar = window.slides.bar
    bar.scales.activated.emit(5)
    qtbot.waitUntil(lambda: window.frame == 7)  # the middle of the slide at 20x
    assert window.slides.bar.scales.currentIndex() == 5
    bar.scales.activated.emit(0)
    qtbot.waitUntil(lambda: window.frame == 0)
    assert window.slides.bar.scales.currentIndex() == 0


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
        ("Overview", "SM · 1229 × 2048"),
        ("1.25x", "SM · 188 × 312"),
        ("2.5x", "SM · 375 × 625"),
        ("5x", "SM · 750 × 1250"),
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
