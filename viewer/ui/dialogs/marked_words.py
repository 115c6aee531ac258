"""Words to read, with what was found in them marked."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit, QWidget

from viewer.ui import theme


class MarkedWords(QTextEdit):
    """Shows a text in pieces; what was found stands on the colour of a warning."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName("Words of the case")
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._pieces: tuple[tuple[str, bool], ...] = ()

    def show_pieces(self, pieces: Sequence[tuple[str, bool]]) -> None:
        """Show pieces, each with whether it is marked, from the first marked one."""
        if tuple(pieces) != self._pieces:
            self._pieces = tuple(pieces)
            self.paint_again()

    def paint_again(self) -> None:
        """Show the same in the colours of the theme in use."""
        self.clear()
        cursor, marked, first = self.textCursor(), _marked(), 0
        for words, found in self._pieces:
            first = first or (cursor.position() if found else 0)
            cursor.insertText(words, marked if found else QTextCharFormat())
        cursor.setPosition(first, QTextCursor.MoveMode.MoveAnchor)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()


def _marked() -> QTextCharFormat:
    style, colours = QTextCharFormat(), theme.current()
    style.setBackground(QColor(colours.warning))
    style.setForeground(QColor(colours.on_accent))
    return style
