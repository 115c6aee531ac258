"""The palette: any command by a few letters of its name."""

import re
from enum import IntEnum
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.ui.application.action_set import Actions
from viewer.ui.application.action_spec import ActionSpec
from viewer.ui.widgets.plain_text import as_tip

_WIDTH: Final = 560
_HEIGHT: Final = 400
_BELOW_TOP: Final = 80
_DELIBERATE: Final = 4
"""Letters from which on a command that deletes something is offered."""
_MOVES: Final = {
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
}


class Rank(IntEnum):
    """How a query matches a command, the best first."""

    WORDS = 0
    """Each of its words is a word of the name."""
    PREFIXES = 1
    """Each begins a word of the name."""
    WITH_MENU = 2
    """Each begins a word of the name or of its menu's."""
    LETTERS = 3
    """Its letters are there in order."""


def rank(query: str, name: str, menu: str) -> Rank | None:
    """Return how well a query matches a command, None if it does not."""
    sought, named = _words(query), _words(name)
    if sought and set(sought) <= set(named):
        return Rank.WORDS
    if sought and _begin(sought, named):
        return Rank.PREFIXES
    if sought and _begin(sought, [*named, *_words(menu)]):
        return Rank.WITH_MENU
    return None if fuzzy_score(query, f"{name} {menu}") is None else Rank.LETTERS


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _begin(sought: list[str], words: list[str]) -> bool:
    return all(any(word.startswith(one) for word in words) for one in sought)


def fuzzy_score(query: str, text: str) -> int | None:
    """Return how well ``query`` matches ``text``, None if it does not.

    All letters of the query must occur in the text, in order. A letter right after the
    previous one scores 2 more, one that starts a word 3 more; case is ignored.
    """
    text = text.casefold()
    score, at = 0, -1
    for letter in query.casefold().replace(" ", ""):
        found = text.find(letter, at + 1)
        if found < 0:
            return None
        starts_word = found == 0 or not text[found - 1].isalnum()
        score += 1 + 2 * (found == at + 1) + 3 * starts_word
        at = found
    return score


class PaletteDialog(QDialog):
    """Lists the commands that are available now; Enter runs the chosen one."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._actions = actions
        self._choices = [
            (spec, action)
            for spec, action in actions
            if action.isEnabled() and not spec.held
        ]
        self.query = QLineEdit(self, placeholderText="Type a command")
        self.query.installEventFilter(self)
        self.query.textChanged.connect(self._fill)
        self.query.returnPressed.connect(self._run)
        self.list = QTreeWidget(self, columnCount=3)
        self.list.setRootIsDecorated(False)
        self.list.setHeaderHidden(True)
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setAccessibleName("Commands")
        self.query.setAccessibleName("Search the commands")
        self.list.itemClicked.connect(self._run)
        layout = QVBoxLayout(self)
        layout.addWidget(self.query)
        layout.addWidget(self.list)
        self.resize(_WIDTH, _HEIGHT)
        self._fill("")
        self.query.setFocus()

    def show_over(self, window: QWidget) -> None:
        """Show the palette near the top of a window, in its middle."""
        middle, top = window.geometry().center(), window.geometry().top()
        self.move(middle.x() - self.width() // 2, top + _BELOW_TOP)
        self.show()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's
        """Let the arrow keys move in the list while letters go to the query."""
        pressed = event.type() == QEvent.Type.KeyPress
        if pressed and isinstance(event, QKeyEvent) and event.key() in _MOVES:
            self.list.keyPressEvent(event)
            return True
        return super().eventFilter(watched, event)

    def _fill(self, query: str) -> None:
        self.list.clear()
        for spec, action in self.matches(query):
            key = self._actions.shown_key(spec)
            item = QTreeWidgetItem([action.text(), spec.menu, key])
            item.setIcon(0, action.icon())
            item.setToolTip(0, as_tip(spec.tip))
            item.setData(0, Qt.ItemDataRole.UserRole, action)
            self.list.addTopLevelItem(item)
        if not self.list.topLevelItemCount():
            nothing = QTreeWidgetItem(["No such command is available here."])
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addTopLevelItem(nothing)
            nothing.setFirstColumnSpanned(True)
            return
        self.list.setCurrentIndex(self.list.model().index(0, 0))

    def matches(self, query: str) -> list[tuple[ActionSpec, QAction]]:
        """Return the matching commands, the best first.

        Those that delete come last. Of one rank those run lately come first, then those
        whose letters fit best, then those that the table has first.
        """
        lately = {name: at for at, name in enumerate(self._actions.lately)}
        found = []
        for spec, action in self._choices:
            if spec.destructive and 0 < len(query) < _DELIBERATE:
                continue
            fit = rank(query, action.text(), spec.menu)
            if fit is not None:
                score = fuzzy_score(query, f"{action.text()} {spec.menu}") or 0
                used = lately.get(spec.id, len(lately))
                found.append(((spec.destructive, fit, used, -score), spec, action))
        found.sort(key=lambda entry: entry[0])
        return [(spec, action) for _, spec, action in found]

    def _run(self) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        action: QAction = item.data(0, Qt.ItemDataRole.UserRole)
        self.close()
        action.trigger()
