"""A button that chooses any number of values; none ticked means all."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import (
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from viewer.ui.widgets.plain_text import as_tip

_NARROWEST: Final = 64
_BESIDE: Final = 32
"""What frame and arrow take of the width."""


class _LastingMenu(QMenu):
    """A menu that stays open while its entries are ticked; Esc or a click closes it."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Tick the clicked entry, and stay open."""
        if not self._ticked(self.actionAt(event.position().toPoint())):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Tick with Space, and stay open; Enter ticks and closes."""
        if event.key() != Qt.Key.Key_Space or not self._ticked(self.activeAction()):
            super().keyPressEvent(event)

    def _ticked(self, action: QAction | None) -> bool:
        if action is None or not action.isCheckable():
            return False
        action.trigger()
        return True


class SomeOf(QPushButton):
    """The chosen values of a property; ``name`` is its accessible name."""

    changed = Signal()
    """Another choice was made."""

    def __init__(self, name: str, every: str, parent: QWidget | None = None) -> None:
        super().__init__(every, parent)
        self._every = every
        self._menu = _LastingMenu(self)
        self._ticks: dict[str, QAction] = {}
        self.setMenu(self._menu)
        self.setProperty("choice", True)
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(_NARROWEST)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return a size that shows a shortened text."""
        return QSize(_NARROWEST, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's
        """Shorten what does not fit; the menu has the whole of it."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        room, end = self.width() - _BESIDE, Qt.TextElideMode.ElideRight
        option.text = self.fontMetrics().elidedText(self.text(), end, room)
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)

    @property
    def values(self) -> tuple[str, ...]:
        """The values that pass; empty if all do."""
        return tuple(value for value, tick in self._ticks.items() if tick.isChecked())

    def offer(self, values: Sequence[str], words: Sequence[str]) -> None:
        """Offer values under display names; keep the choice if it is still there."""
        now = [(value, tick.text()) for value, tick in self._ticks.items()]
        # In a menu, a single & marks the letter that chooses an entry.
        texts = [text.replace("&", "&&") for text in words]
        if now == list(zip(values, texts, strict=True)):
            return  # the menu may be open
        chosen = self.values
        self._menu.clear()
        every = self._menu.addAction(self._every)
        every.triggered.connect(lambda: self._choose_anew(()))
        self._menu.addSeparator()
        self._ticks = {}
        for value, text in zip(values, texts, strict=True):
            tick = self._menu.addAction(text)
            tick.setCheckable(True)
            tick.setChecked(value in chosen)
            tick.triggered.connect(self._tell)
            self._ticks[value] = tick
        self._say()

    def rename(self, name: str, every: str) -> None:
        """Rename the property; keep the choice."""
        if every == self._every:
            return
        self._every = every
        self.setAccessibleName(name)
        if self._menu.actions():
            self._menu.actions()[0].setText(every)
        self._say()

    def choose(self, values: Sequence[str]) -> None:
        """Choose values, all of them if empty, without a signal."""
        for value, tick in self._ticks.items():
            tick.setChecked(value in values)
        self._say()

    def _choose_anew(self, values: Sequence[str]) -> None:
        self.choose(values)
        self.changed.emit()

    def _tell(self) -> None:
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        """Show the first ticked value and the number of further ones."""
        texts = [tick.text() for tick in self._ticks.values() if tick.isChecked()]
        more = f" + {len(texts) - 1}" if len(texts) > 1 else ""
        self.setText(f"{texts[0]}{more}" if texts else self._every)
        self.setToolTip(as_tip(", ".join(texts).replace("&&", "&")))
