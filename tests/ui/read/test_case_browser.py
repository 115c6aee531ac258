"""The case browser while files are being found: nothing moves under the eye."""

from dataclasses import replace
from pathlib import Path
from threading import Event

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from viewer.domain.case import ImageHeader, ImageRef, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.services.viewing.decoding import LocalDecoder
from viewer.services.viewing.open_case import OtherFile
from viewer.ui.panels.read import thumbnails as thumbnails_module
from viewer.ui.panels.read.case_browser import CaseBrowser, ImageChosen, OtherFiles
from viewer.ui.panels.read.case_rows import CaseRow
from viewer.ui.panels.read.case_tree import CaseTree
from viewer.ui.panels.read.hanging import CaseRows, Stack, StudyRows
from viewer.ui.panels.read.thumbnails import ThumbnailMade, Thumbnails


class Greys(LocalDecoder):
    """Makes grey thumbnails, of which one cannot be made; notes which."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def thumbnail(self, ref: ImageRef, side: int) -> Raster:
        self.made.append(ref.path.name)
        if ref.path.name == "bad.dcm":
            raise UnreadableInputError("bad.dcm is damaged.", "Export it again.")
        return Raster(np.zeros((side, side), np.uint8))


def _header(name: str, view: View = View.UNKNOWN) -> ImageHeader:
    geometry = ImageGeometry(SizePx(4, 6))
    return ImageHeader(ImageRef(Path(name)), geometry, 1, "DX", view, "p", "s", name)


def _stack(name: str, *names: str, view: View = View.UNKNOWN) -> Stack:
    images = tuple(_header(n, view) for n in (name, *names))
    return Stack(name, "DX", images, name)


def _case(key: str, *stacks: Stack) -> CaseRows:
    return CaseRows(key, key, (StudyRows("s", "2020-01-01", stacks),))


@pytest.fixture
def decoder() -> Greys:
    return Greys()


@pytest.fixture
def browser(qtbot: QtBot, decoder: Greys) -> CaseBrowser:
    browser = CaseBrowser(decoder)
    qtbot.addWidget(browser)
    browser.resize(300, 500)
    browser.show()
    return browser


def _listed(tree: CaseTree) -> list[str]:
    return [row.stack.key for row in tree.rows()]


def _top(tree: CaseTree, row: CaseRow) -> int:
    return tree.visualItemRect(row).top()


def test_that_what_is_chosen_and_seen_stays_while_rows_come_in_above(
    browser: CaseBrowser,
) -> None:
    later = _case("b", *(_stack(f"b{n:02}") for n in range(30)))
    browser.show_cases([later])
    tree = browser.tree
    tree.verticalScrollBar().setValue(900)
    row = tree.itemAt(QPoint(60, 100))
    assert isinstance(row, CaseRow)
    tree.setCurrentItem(row)
    before = _top(tree, row)
    earlier = _case("a", *(_stack(f"a{n:02}") for n in range(20)))
    browser.show_cases([earlier, later])
    assert tree.current_row is row
    assert _top(tree, row) == before
    assert _listed(tree) == [f"a{n:02}" for n in range(20)] + [
        f"b{n:02}" for n in range(30)
    ]


def test_that_a_stack_which_grows_stays_one_row_and_says_so(
    qtbot: QtBot, browser: CaseBrowser
) -> None:
    browser.show_cases([_case("p", _stack("ct", "2"))])
    assert browser.choose(ImageRef(Path("2")))
    with qtbot.waitSignal(browser.row_grew) as grown:
        browser.show_cases([_case("p", _stack("ct", "1", "2", "3"))])
    event = (grown.args or [None])[0]
    assert isinstance(event, ImageChosen)
    assert len(event.chosen.stack.images) == 4
    (row,) = browser.tree.rows()
    assert "4 images" in row.text(0)


def test_that_a_lateral_found_later_is_told_of(
    qtbot: QtBot, browser: CaseBrowser
) -> None:
    frontal = _stack("f", view=View.FRONTAL)
    browser.show_cases([_case("p", frontal)])
    browser.choose_first()
    with qtbot.waitSignal(browser.row_grew):
        browser.show_cases([_case("p", frontal, _stack("l", view=View.LATERAL))])
    with qtbot.assertNotEmitted(browser.row_grew):
        browser.show_cases([_case("p", frontal, _stack("l", view=View.LATERAL))])


def test_that_a_closed_case_goes_and_the_empty_page_comes_back(
    browser: CaseBrowser,
) -> None:
    browser.show_cases([_case("a", _stack("1")), _case("b", _stack("2"))])
    browser.show_cases([_case("b", _stack("2"))])
    assert _listed(browser.tree) == ["2"]
    assert browser.filter.isVisible()
    browser.show_cases([])
    assert not browser.filter.isVisible()


def test_that_rows_found_later_are_filtered_too(browser: CaseBrowser) -> None:
    browser.show_cases([_case("a", _stack("one"))])
    browser.filter.setText("two")
    assert browser.unmatched.isVisible()
    browser.show_cases([_case("a", _stack("one"), _stack("two"))])
    shown = [r.stack.key for r in browser.tree.rows() if not r.isHidden()]
    assert shown == ["two"]
    browser.filter.setText("nowhere")
    browser.unmatched.click()
    assert browser.filter.text() == ""
    assert not browser.unmatched.isVisible()


def test_that_thumbnails_are_made_only_of_what_is_on_the_screen(
    qtbot: QtBot, browser: CaseBrowser, decoder: Greys
) -> None:
    names = [f"{n:03}" for n in range(100)]
    browser.show_cases([_case("p", *(_stack(name) for name in names))])
    qtbot.waitUntil(lambda: len(decoder.made) > 3)
    qtbot.wait(200)
    assert decoder.made == names[: len(decoder.made)]
    assert len(decoder.made) < 12
    bar = browser.tree.verticalScrollBar()
    bar.setValue(bar.maximum())
    qtbot.waitUntil(lambda: names[-1] in decoder.made)
    assert "050" not in decoder.made


def test_that_an_image_without_thumbnail_says_why(
    qtbot: QtBot, browser: CaseBrowser
) -> None:
    browser.show_cases([_case("p", _stack("bad.dcm"))])
    row = next(browser.tree.rows())
    qtbot.waitUntil(lambda: "cannot be read" in row.text(0))
    assert row.toolTip(0) == "bad.dcm is damaged. Export it again."


def test_that_what_scrolled_away_is_dropped(qtbot: QtBot) -> None:
    go, made = Event(), list[str]()

    def make(ref: ImageRef) -> Raster:
        go.wait(300)
        made.append(ref.path.name)
        return Raster(np.zeros((2, 2), np.uint8))

    thumbnails = Thumbnails(make)
    told: list[ThumbnailMade] = []
    thumbnails.made.connect(told.append)
    thumbnails.want([ImageRef(Path(name)) for name in "abc"])
    thumbnails.want([ImageRef(Path(name)) for name in "xy"])
    go.set()
    qtbot.waitUntil(lambda: len(told) == 3)
    assert made == ["a", "x", "y"]


def test_that_thumbnails_do_not_wait_for_an_image_for_ever(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thumbnails_module, "_LONGEST_MS", 300)
    thumbnails = Thumbnails(lambda _: Raster(np.zeros((2, 2), np.uint8)))
    told: list[ThumbnailMade] = []
    thumbnails.made.connect(told.append)
    thumbnails.hold()
    thumbnails.want([ImageRef(Path("a"))])
    qtbot.wait(50)
    assert not told
    qtbot.waitUntil(lambda: len(told) == 1)


def test_that_other_files_are_listed_by_name_with_their_reason(
    qtbot: QtBot, browser: CaseBrowser
) -> None:
    browser.show_cases([_case("a", _stack("1"))])
    assert not browser.others.isVisible()
    other = OtherFile(Path("notes.txt"), "notes.txt is not an image.")
    browser.say("1 case", [other, replace(other, path=Path("b"))])
    assert browser.others.text() == "2 other files"
    browser.others.click()
    listed = browser.findChild(OtherFiles)
    assert isinstance(listed, OtherFiles)
    qtbot.addWidget(listed)
    row = listed.list.topLevelItem(0)
    assert row is not None
    assert (row.text(0), row.text(1)) == ("notes.txt", "notes.txt is not an image.")


def test_that_the_keyboard_goes_from_the_filter_to_the_list_and_to_the_image(
    qtbot: QtBot, browser: CaseBrowser
) -> None:
    browser.show_cases([_case("a", _stack("one"), _stack("two"), _stack("twin"))])
    browser.choose_first()
    browser.activateWindow()
    browser.filter.setFocus()
    QTest.keyClicks(browser.filter, "tw")
    with qtbot.waitSignal(browser.image_chosen) as told:
        QTest.keyClick(browser.filter, Qt.Key.Key_Down)
    assert told.args[0].chosen.stack.key == "two"
    assert browser.tree.hasFocus()
    with qtbot.waitSignal(browser.image_chosen) as told:
        QTest.keyClick(browser.tree, Qt.Key.Key_Down)
    assert told.args[0].chosen.stack.key == "twin"
    with qtbot.waitSignal(browser.image_entered):
        QTest.keyClick(browser.tree, Qt.Key.Key_Return)
    browser.filter.clear()
    with qtbot.waitSignal(browser.image_entered):
        QTest.keyClick(browser.filter, Qt.Key.Key_Return)
    assert browser.current_case == "a"
