"""A monkey on the page of a case: what a reader may do, one thing after another."""

import random
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QLineEdit,
    QWidget,
)

from tests.helpers.blind_reading import BlindReading
from tests.helpers.read_answers import answer_of
from tests.helpers.window_story import click, drag
from viewer.domain.reading import TaskState
from viewer.services.readings import opening

if TYPE_CHECKING:
    from collections.abc import Callable

Part = TypeVar("Part", bound=QWidget)
_KEY: Final = Qt.Key
_LETTERS: Final = "aeinrst 0123"
"""No secret word has any of them."""
_KEYS: Final = (
    _KEY.Key_PageUp, _KEY.Key_PageDown, _KEY.Key_Left, _KEY.Key_Right, _KEY.Key_Up,
    _KEY.Key_Down, _KEY.Key_Space, _KEY.Key_Tab, _KEY.Key_Delete, _KEY.Key_Plus,
    _KEY.Key_Minus, _KEY.Key_F, _KEY.Key_G, _KEY.Key_I, _KEY.Key_M, _KEY.Key_C,
    _KEY.Key_H, _KEY.Key_Z, _KEY.Key_A, _KEY.Key_B, _KEY.Key_D, _KEY.Key_Y, _KEY.Key_1,
    _KEY.Key_2, _KEY.Key_3, _KEY.Key_4, _KEY.Key_5,
)  # fmt: skip
_SELECTABLE: Final = Qt.TextInteractionFlag.TextSelectableByMouse
_WIDTHS, _HEIGHTS = (900, 1800), (600, 1100)
_COMMANDS: Final = (
    "view.theme", "view.full_screen", "view.basic", "edit.undo", "edit.copy",
    "edit.settings", "edit.keys", "help.shortcuts", "help.about", "window.palette",
)  # fmt: skip


class ReadingMonkey:
    """Does one random thing after another; the same seed does the same things.

    One case in ten actions is answered and locked, and who is done is followed by
    another reader.
    """

    def __init__(self, reading: BlindReading, seed: int) -> None:
        self._reading, self._story = reading, reading.story
        self._random = random.Random(seed)
        often: tuple[Callable[[], None], ...] = (
            self._press, self._press, self._type, self._click, self._drag,
        )  # fmt: skip
        rarely = (
            self._answer, self._lock, self._undo, self._skip, self._pause,
            self._resize, self._command, self._copy, self._tip, self._menu,
        )  # fmt: skip
        self._ways = (*often, *often, *rarely)
        self.done: dict[str, int] = {}

    def act(self) -> None:
        """Do one thing, and let the window answer it."""
        self._close_what_lies_above()
        way = self._random.choice(self._ways)
        way()
        self.done[way.__name__] = self.done.get(way.__name__, 0) + 1
        QApplication.processEvents()
        self._settle()

    def _settle(self) -> None:
        review, page = self._story.review, self._story.page
        self._story.wait(lambda: page.ready or not review.reviewing)
        if not review.reviewing:
            self._reading.reads.listening = False
            review._back()
            self._reading.begin()

    def _close_what_lies_above(self) -> None:
        for widget in QApplication.topLevelWidgets():
            if widget.isVisible() and widget is not self._story.window:
                widget.close()
        self._story.window.activateWindow()

    @property
    def _focus(self) -> QWidget:
        focus, page = QApplication.focusWidget(), self._story.page
        inside = focus is not None and page.isAncestorOf(focus)
        return focus if inside and focus is not None else page.image

    def _press(self) -> None:
        target = self._focus
        if isinstance(target, QLineEdit):
            self._type()
        else:
            QTest.keyClick(target, self._random.choice(_KEYS))

    def _type(self) -> None:
        lines = [one for one in self._parts(QLineEdit) if not one.isReadOnly()]
        if lines:
            line = self._random.choice(lines)
            line.setFocus()
            QTest.keyClicks(line, self._random.choice(_LETTERS))

    def _click(self) -> None:
        bar = self._story.page.bar
        kept = (bar.withdraw, bar.leave, self._story.page.side.go)
        buttons = [one for one in self._parts(QAbstractButton) if one not in kept]
        if buttons:
            click(self._random.choice(buttons))

    def _parts(self, kind: type[Part]) -> list[Part]:
        found = self._story.page.findChildren(kind)
        return [one for one in found if one.isVisible() and one.isEnabled()]

    def _drag(self) -> None:
        image = self._story.page.image
        drag(image, self._point_of(image), self._point_of(image))

    def _answer(self) -> None:
        """Answer every question of the stage."""
        page, task = self._story.page, self._story.task
        if task.state is TaskState.LOCKED:
            return
        form = opening.session(self._reading.settings.store, self._reading.session).form
        for name, value in answer_of(form, task).items():
            if page.side.form.boxes[name].isEnabled():
                page.side.form.boxes[name].set_value(value)

    def _lock(self) -> None:
        if self._random.random() < 0.5:
            self._answer()
        self._story.page.go()

    def _undo(self) -> None:
        self._story.page.undo()

    def _skip(self) -> None:
        click(self._story.page.bar.skip)

    def _pause(self) -> None:
        """Leave the session, look at what there is to do, and go on."""
        self._reading.reads.listening = False
        self._story.page.bar.leave.click()
        QApplication.processEvents()
        self._reading.go_on()

    def _resize(self) -> None:
        window = self._story.window
        window.resize(self._random.randint(*_WIDTHS), self._random.randint(*_HEIGHTS))

    def _command(self) -> None:
        actions = self._story.window.context.actions
        action = actions[self._random.choice(_COMMANDS)]
        if action.isEnabled():
            action.trigger()
        above = QApplication.activeWindow()
        if above is not None and above is not self._story.window:
            QTest.keyClicks(above.focusWidget() or above, self._random.choice(_LETTERS))

    def _copy(self) -> None:
        """Select a text and copy it."""
        lines, labels = self._parts(QLineEdit), self._parts(QLabel)
        part = self._random.choice([*lines, *labels])
        if isinstance(part, QLineEdit):
            part.selectAll()
        elif isinstance(part, QLabel) and part.textInteractionFlags() & _SELECTABLE:
            part.setSelection(0, len(part.text()))
        QTest.keyClick(part, _KEY.Key_C, Qt.KeyboardModifier.ControlModifier)

    def _tip(self) -> None:
        part = self._random.choice(self._parts(QWidget))
        at = self._point_of(part)
        QApplication.sendEvent(
            part, QHelpEvent(QEvent.Type.ToolTip, at, part.mapToGlobal(at))
        )

    def _menu(self) -> None:
        part = self._random.choice(self._parts(QWidget))
        at = self._point_of(part)
        reason = QContextMenuEvent.Reason.Mouse
        QApplication.sendEvent(
            part, QContextMenuEvent(reason, at, part.mapToGlobal(at))
        )

    def _point_of(self, widget: QWidget) -> QPoint:
        return QPoint(
            self._random.randrange(max(1, widget.width())),
            self._random.randrange(max(1, widget.height())),
        )
