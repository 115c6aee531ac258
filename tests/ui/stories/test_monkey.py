"""A monkey at the window: seeded random keys, clicks, drags and commands."""

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QtMsgType
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QFileDialog,
    QLineEdit,
    QWidget,
)
from pytestqt.logging import Record
from pytestqt.qtbot import QtBot

from tests.helpers.window_story import Story, click, drag, open_story
from viewer.settings import Settings

_PLATFORM = "This plugin does not support"
"""How the platform without a screen begins what it says of itself."""
_OPENS_MENU = "qt_toolbar_ext_button"
"""Qt's own button at the end of a tool bar, whose menu waits for a person."""
_KEYS = (
    *(Qt.Key(key) for key in range(Qt.Key.Key_A, Qt.Key.Key_Z + 1)),
    *(Qt.Key(key) for key in range(Qt.Key.Key_0, Qt.Key.Key_9 + 1)),
    Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Tab,
    Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right,
    Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown,
    Qt.Key.Key_F1, Qt.Key.Key_F11, Qt.Key.Key_Delete, Qt.Key.Key_Backspace,
)  # fmt: skip
_HELD = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)
_CLICKED = (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
)


class QtLog(Protocol):
    """What pytest-qt's fixture qtlog offers."""

    @property
    def records(self) -> list[Record]:
        """What Qt said so far."""


class Monkey:
    """Does one random thing after another; the same seed does the same things."""

    def __init__(self, story: Story, seed: int) -> None:
        self._story = story
        self._random = random.Random(seed)
        self._ways: tuple[Callable[[], None], ...] = (
            self._press_key,
            self._click_something,
            self._give_command,
            self._drag_image,
            self._turn_wheel,
            self._close_what_lies_above,
        )
        self.longest_s = 0.0
        self.slowest = ""

    def act(self, times: int) -> None:
        """Do so many things, and let the window answer each."""
        for _ in range(times):
            way = self._random.choice(self._ways)
            start = time.perf_counter()
            way()
            QApplication.processEvents()
            self._note(time.perf_counter() - start, way.__name__)

    def _note(self, seconds: float, name: str) -> None:
        if seconds > self.longest_s:
            self.longest_s, self.slowest = seconds, name

    def _press_key(self) -> None:
        target = QApplication.focusWidget() or self._story.window
        key, held = self._random.choice(_KEYS), self._random.choice(_HELD)
        QTest.keyClick(target, key, held)

    def _click_something(self) -> None:
        above = QApplication.activePopupWidget() or QApplication.activeWindow()
        parts = (above or self._story.window).findChildren(QWidget)
        seen = [
            part
            for part in parts
            if isinstance(part, _CLICKED)
            and part.isVisible()
            and part.isEnabled()
            and part.objectName() != _OPENS_MENU
        ]
        if seen:
            part = self._random.choice(seen)
            target = part.viewport() if isinstance(part, QAbstractItemView) else part
            click(target, self._point_of(target))

    def _give_command(self) -> None:
        enabled = [a for _, a in self._story.window.desk.actions if a.isEnabled()]
        self._random.choice(enabled).trigger()

    def _drag_image(self) -> None:
        view = self._random.choice(self._story.read.pair.viewports).view
        if view.isVisible():
            area = view.viewport()
            drag(view, self._point_of(area), self._point_of(area))

    def _turn_wheel(self) -> None:
        view = self._story.read.pair.view
        at = QPointF(self._point_of(view.viewport()))
        turned = QPoint(0, self._random.choice((-240, -120, 120, 240)))
        none, keys = Qt.MouseButton.NoButton, self._random.choice(_HELD)
        phase = Qt.ScrollPhase.NoScrollPhase
        there = QPointF(view.viewport().mapToGlobal(at))
        event = QWheelEvent(at, there, QPoint(), turned, none, keys, phase, False)
        QApplication.sendEvent(view.viewport(), event)

    def _close_what_lies_above(self) -> None:
        """Close a menu, a list or a page, so that the window is reached again."""
        above = QApplication.activePopupWidget() or QApplication.activeWindow()
        if above is not None and above is not self._story.window:
            above.close()
        self._story.window.activateWindow()

    def _point_of(self, widget: QWidget) -> QPoint:
        size = widget.size()
        return QPoint(
            self._random.randrange(max(1, size.width())),
            self._random.randrange(max(1, size.height())),
        )


@pytest.fixture
def story(
    qtbot: QtBot,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Story]:
    """The window; what would leave it, or write anywhere, is answered by Cancel."""
    for name in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, name, lambda *_: ("", ""))
    made = open_story(qtbot, settings, tmp_path / "phantom")
    reopen = made.open_collection_again
    made.window.desk.actions.handle(
        {"file.quit": reopen, "file.open": reopen, "file.open_folder": reopen}
    )
    made.open_collection()
    yield made
    made.window.close()


def test_that_three_hundred_random_actions_raise_and_warn_of_nothing(
    story: Story, qtlog: QtLog
) -> None:
    Monkey(story, seed=3).act(300)
    assert _warnings(qtlog) == []


def _warnings(log: QtLog) -> list[str]:
    graver = {QtMsgType.QtWarningMsg, QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg}
    return [
        record.message
        for record in log.records
        if record.type in graver and not record.message.startswith(_PLATFORM)
    ]
