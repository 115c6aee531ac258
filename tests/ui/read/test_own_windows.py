"""A viewport can have a window of its own, on another monitor, and come back."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from tests.helpers.tiny_study import write_images
from tests.helpers.window_story import Story, open_window
from viewer.domain.plain import plain
from viewer.settings import Settings
from viewer.ui.application.action_spec import Place
from viewer.ui.panels.read.own_windows import ViewportWindow
from viewer.ui.panels.read.viewport import Viewport

NAME = "hang.own_window"


@pytest.fixture
def story(qtbot: QtBot, settings: Settings, tmp_path: Path) -> Story:
    made = open_window(qtbot, settings, write_images(tmp_path / "films", 2))
    made.window.open_paths([made.folder])
    made.wait(lambda: made.read.lightbox.active.shown is not None)
    return made


def _take_out(story: Story) -> tuple[Viewport, ViewportWindow]:
    viewport = story.read.lightbox.active
    story.window.context.actions[NAME].trigger()
    window = viewport.window()
    assert isinstance(window, ViewportWindow)
    return viewport, window


def test_that_a_viewport_goes_to_its_own_window_and_back_by_the_same_key(
    story: Story,
) -> None:
    action = story.window.context.actions[NAME]
    viewport, window = _take_out(story)
    assert window.isVisible()
    assert viewport.isVisible()
    assert action.isChecked()
    assert "films" not in window.windowTitle()
    action.trigger()
    assert viewport.window() is story.window
    assert viewport.isVisible()
    assert not action.isChecked()


def test_that_its_window_closed_or_the_button_brings_a_viewport_back(
    story: Story,
) -> None:
    viewport, window = _take_out(story)
    window.close()
    assert viewport.window() is story.window
    viewport, _ = _take_out(story)
    buttons = story.read.lightbox.findChildren(QPushButton)
    next(b for b in buttons if b.text() == "Bring the viewport back").click()
    assert viewport.window() is story.window


def test_that_keys_and_commands_work_in_the_window(story: Story) -> None:
    viewport, window = _take_out(story)
    before = viewport.view.zoom
    window.activateWindow()
    story.wait(window.isActiveWindow)
    viewport.view.setFocus()
    QTest.keyClick(viewport.view, Qt.Key.Key_F, Qt.KeyboardModifier.ShiftModifier)
    assert viewport.view.zoom != before
    shown = viewport.shown
    QTest.keyClick(viewport.view, Qt.Key.Key_PageDown)
    story.wait(lambda: viewport.shown is not None and viewport.shown is not shown)
    asked: list[bool] = []
    story.window.context.actions["ask.ask"].triggered.connect(
        lambda: asked.append(True)
    )
    QTest.keyClick(viewport.view, Qt.Key.Key_Return)
    assert asked == [True]
    QTest.keyPress(viewport.view, Qt.Key.Key_H)
    assert not viewport.view._layers._root.isVisible()
    QTest.keyRelease(viewport.view, Qt.Key.Key_H)
    assert viewport.view._layers._root.isVisible()


def test_that_a_right_click_offers_it(story: Story) -> None:
    viewport = story.read.lightbox.active
    middle = viewport.view.viewport().rect().center()
    right = Qt.MouseButton.RightButton
    QTest.mouseClick(viewport.view.viewport(), right, pos=middle)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    action = story.window.context.actions[NAME]
    assert action in menu.actions()
    action.trigger()
    menu.close()
    assert isinstance(viewport.window(), ViewportWindow)


def test_that_the_window_is_seen_only_beside_images(story: Story) -> None:
    """Beside a review it could show what the review hides."""
    _, window = _take_out(story)
    story.window.enter(Place.REVIEW)
    assert not window.isVisible()
    story.window.enter(Place.READ)
    assert window.isVisible()


def test_that_a_smaller_layout_hides_it_and_a_larger_one_brings_it_up(
    story: Story,
) -> None:
    lightbox = story.read.lightbox
    lightbox.arrange(1, 2)
    second = lightbox.viewports[1]
    second.view.setFocus()
    story.wait(lambda: lightbox.active is second)
    _, window = _take_out(story)
    lightbox.arrange(1, 1)
    assert not window.isVisible()
    assert lightbox.active is lightbox.viewports[0]
    lightbox.arrange(1, 2)
    assert window.isVisible()


def test_that_windows_are_remembered_and_come_up_on_a_screen_that_exists(
    story: Story,
) -> None:
    _, window = _take_out(story)
    window.setGeometry(9_000, 7_000, 320, 300)  # of a monitor that is gone
    kept = plain(story.read.hanging.choice)
    story.window.context.actions[NAME].trigger()
    story.read.hanging.recall(kept)
    again = story.read.lightbox.viewports[0].window()
    assert isinstance(again, ViewportWindow)
    assert again.size().width() == 320
    screens = QGuiApplication.screens()
    assert any(s.availableGeometry().intersects(again.geometry()) for s in screens)
    assert plain(story.read.hanging.choice) != kept


def test_that_the_main_window_comes_up_on_a_screen_that_exists(
    qtbot: QtBot, settings: Settings, tmp_path: Path
) -> None:
    first = open_window(qtbot, settings, tmp_path)
    first.window.move(QPoint(9_000, 7_000))
    first.window.keep()
    second = open_window(qtbot, settings, tmp_path)
    place = second.window.geometry()
    screens = QGuiApplication.screens()
    assert any(s.availableGeometry().intersects(place) for s in screens)
