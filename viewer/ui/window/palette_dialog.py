"""The palette (Ctrl+K): any command by a few letters of its name."""

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

from viewer.ui.application.action_set import Actions, shortcut_text
from viewer.ui.application.action_spec import ActionSpec
from viewer.ui.widgets.plain_text import as_tip

_WIDTH: Final = 560
_HEIGHT: Final = 400
_DELIBERATE: Final = 4
"""Letters from which on a command that deletes something is offered."""
_MOVES: Final = {
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
    Qt.Key.Key_PageUp,
    Qt.Key.Key_PageDown,
}


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
            item = QTreeWidgetItem([action.text(), spec.menu, shortcut_text(spec)])
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
        """Return the matching commands, the best first, those that delete last."""
        scored = [
            (fuzzy_score(query, f"{action.text()} {spec.menu}"), spec, action)
            for spec, action in self._choices
            if not (spec.destructive and 0 < len(query) < _DELIBERATE)
        ]
        fitting = [entry for entry in scored if entry[0] is not None]
        fitting.sort(key=lambda entry: (entry[1].destructive, -(entry[0] or 0)))
        return [(spec, action) for _, spec, action in fitting]

    def _run(self) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        action: QAction = item.data(0, Qt.ItemDataRole.UserRole)
        self.close()
        action.trigger()
