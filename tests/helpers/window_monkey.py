"""A monkey at the window: seeded random keys, clicks, drags and commands.

Its events come one at a time, as a person's do: the event loop turns between them.
"""

import random
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import QWheelEvent
from PySide6.QtPrintSupport import QPrintDialog
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
from shiboken6 import isValid

from tests.helpers.window_story import Story, drag, tick
from viewer.ui.dialogs.batch import BatchDialog

_LOOK_MS = 100
"""So often an action that has the event loop turn is looked at."""
_MENU_S, _WAITED_S = 0.5, 60
"""An action that has the event loop turn for so long waits for a person."""
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
_WORDS = ("monkey", "7", "0.5", "grid", "")
_PLACES = ("window.measure", "window.review", "window.models")
_MODELS = ("uniform",)
"""A quick one: the models' own work is in another process, on the same processors."""
_WIDTHS, _HEIGHTS = (700, 1900), (500, 1200)


class Monkey:
    """Does one random thing after another; the same seed does the same things.

    ``files`` are opened now and then. Where ``waits`` is not empty, the program waited
    for a person: a dialog turned the event loop inside an action, and was closed. The
    menu of a tool button and the questions of the dialog that prints do so too, in Qt's
    own code; they get their Escape.
    """

    def __init__(self, story: Story, seed: int, files: Sequence[Path] = ()) -> None:
        self._story, self._files = story, files
        self._random = random.Random(seed)
        everyday = (
            self._press_key,
            self._click_something,
            self._give_command,
            self._drag_image,
            self._turn_wheel,
            self._close_what_lies_above,
        )
        often = (self._fill_in, self._change_workspace)
        rare = (self._resize, self._start_batch, self._ask, self._open_file)
        self._ways = (*(9 * everyday), *(3 * often), *rare)
        self.done: dict[str, int] = {}
        self.waits: list[str] = []
        self._since_s, self._acting = 0.0, False
        self._guard = QTimer(story.window, interval=_LOOK_MS)
        self._guard.timeout.connect(self._release)

    def act(self, times: int) -> None:
        """Do so many things, and let the window answer each."""
        self._guard.start()
        for _ in range(times):
            way = self._random.choice(self._ways)
            self._since_s, self._acting = time.perf_counter(), True
            way()
            self._acting = False
            self.done[way.__name__] = self.done.get(way.__name__, 0) + 1
            self._since_s = time.perf_counter()
            _turn()
            _leave_file_dialogs()
        self._guard.stop()

    def _release(self) -> None:
        """Close what waits inside an action; the guard's clock runs there too."""
        waited_s = time.perf_counter() - self._since_s
        menu = QApplication.activePopupWidget()
        asked = menu or _asked_of_printing()
        if self._acting and asked is not None and waited_s > _MENU_S:
            QTest.keyClick(asked, Qt.Key.Key_Escape)
        if waited_s < _WAITED_S:
            return
        above = menu or QApplication.activeModalWidget()
        what = f"waited for {above!r} of {above and above.parent()!r}\n"
        self.waits.append(what + "".join(traceback.format_stack(sys._getframe())))
        if above is not None:
            above.close()

    def _press_key(self) -> None:
        key, held = self._random.choice(_KEYS), self._random.choice(_HELD)
        QTest.keyPress(self._keyboard(), key, held)
        _turn()
        QTest.keyRelease(self._keyboard(), key, held)

    def _keyboard(self) -> QWidget:
        """Return what the keys go to."""
        return QApplication.focusWidget() or self._story.window

    def _click_something(self) -> None:
        above = QApplication.activePopupWidget() or QApplication.activeWindow()
        part = self._part_of(above or self._story.window)
        if isinstance(part, _CLICKED) and part.isEnabled():
            target = part.viewport() if isinstance(part, QAbstractItemView) else part
            _press_and_let_go(target, self._point_of(target))

    def _part_of(self, widget: QWidget) -> QWidget:
        """Return a part that has no visible parts or can be clicked.

        Down from one to the next: to look at all of them takes longer than many clicks.
        """
        while not isinstance(widget, _CLICKED):
            inner = [c for c in widget.children() if isinstance(c, QWidget)]
            seen = [one for one in inner if one.isVisible() and not one.isWindow()]
            if not seen:
                break
            widget = self._random.choice(seen)
        return widget

    def _give_command(self) -> None:
        enabled = [a for _, a in self._story.window.context.actions if a.isEnabled()]
        self._random.choice(enabled).trigger()

    def _drag_image(self) -> None:
        view = self._random.choice(self._story.read.lightbox.viewports).view
        if view.isVisible():
            area = view.viewport()
            drag(view, self._point_of(area), self._point_of(area), turn=_turn)

    def _turn_wheel(self) -> None:
        view = self._story.read.lightbox.view
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

    def _resize(self) -> None:
        width, height = self._random.randint(*_WIDTHS), self._random.randint(*_HEIGHTS)
        self._story.window.resize(width, height)

    def _ask(self) -> None:
        self._story.window.context.actions["ask.ask"].trigger()

    def _change_workspace(self) -> None:
        """Go where random commands rarely stay; each of them may lead to Read."""
        self._story.window.context.actions[self._random.choice(_PLACES)].trigger()

    def _fill_in(self) -> None:
        """Write over what a field holds, as a page may ask for before it goes on."""
        above = QApplication.activeWindow() or self._story.window
        fields = [f for f in above.findChildren(QLineEdit) if f.isVisible()]
        if fields:
            field, text = self._random.choice(fields), self._random.choice(_WORDS)
            field.setFocus()
            field.selectAll()
            for letter in text:
                _turn()
                QTest.keyClicks(self._keyboard(), letter)

    def _open_file(self) -> None:
        if self._files:
            self._story.window.open_paths([self._random.choice(self._files)])

    def _start_batch(self) -> None:
        """Run a small batch, as soon as the page Batch… knows what there is."""
        self._story.window.context.actions["file.batch"].trigger()
        page = self._story.window.findChild(BatchDialog)
        if isinstance(page, BatchDialog) and page.models.count():
            page.repeats.setValue(1)
            _turn()
            tick(page.models, *_MODELS)
            _turn()
            if isValid(page) and page.start.isEnabled():
                _press_and_let_go(page.start, page.start.rect().center())

    def _point_of(self, widget: QWidget) -> QPoint:
        size = widget.size()
        return QPoint(
            self._random.randrange(max(1, size.width())),
            self._random.randrange(max(1, size.height())),
        )


def _turn() -> None:
    """Let the window answer before the next event of the same action."""
    QApplication.processEvents()


def _press_and_let_go(widget: QWidget, at: QPoint) -> None:
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mousePress(widget, left, none, at)
    _turn()
    if isValid(widget):  # the press may have closed its window
        QTest.mouseRelease(widget, left, none, at)


def _asked_of_printing() -> QWidget | None:
    """Return the question that is asked in a dialog that prints, None without one."""
    box = QApplication.activeModalWidget()
    printing = box is not None and isinstance(box.parent(), QPrintDialog)
    return box if printing else None


def _leave_file_dialogs() -> None:
    """Cancel the dialogs that choose files, so that no file is written or read."""
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QFileDialog) and widget.isVisible():
            widget.reject()
