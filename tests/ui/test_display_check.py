"""The display check shows its pattern pixel by pixel, on whichever screen it is."""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from tests.ui.canvas.conftest import pixels
from viewer.imaging.display_pattern import display_pattern
from viewer.ui.dialogs.display_check import CANNOT, DisplayCheck


def _page(qtbot: QtBot) -> DisplayCheck:
    page = DisplayCheck()
    qtbot.addWidget(page)
    page.show()
    qtbot.waitExposed(page)
    return page


def test_that_every_pixel_of_the_screen_has_its_own_value(qtbot: QtBot) -> None:
    page = _page(qtbot)
    view = page.pattern
    for width, height in ((600, 500), (811, 640)):
        view.setFixedSize(width, height)
        painted = pixels(view)
        wanted = display_pattern(view.screen_size).pixels
        assert painted.shape[:2] == wanted.shape
        differs = (painted != wanted[..., None]).any(axis=2)
        # labels alone are drawn over it
        assert differs.mean() < 0.02
        assert not differs[: height // 20].any()
        assert np.ptp(painted, axis=2).max() == 0


def test_that_the_page_says_what_it_cannot_tell(qtbot: QtBot) -> None:
    page = _page(qtbot)
    said = " ".join(label.text() for label in page.findChildren(QLabel))
    assert CANNOT in said
    assert "PS3.14" in said
    assert "One value of the pattern is one pixel." in page.screen_text.text()


def test_that_escape_leaves_the_whole_screen_first(qtbot: QtBot) -> None:
    page = _page(qtbot)
    page.whole.click()
    assert page.isFullScreen()
    assert not page.words.isVisible()
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert page.isVisible()
    assert page.words.isVisible()
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert not page.isVisible()
