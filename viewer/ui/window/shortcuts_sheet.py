"""Help (F1): every shortcut from the table of actions, and what the mouse does."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from viewer.ui.application.action_set import Actions, shortcut_text
from viewer.ui.application.action_spec import ActionSpec
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label

_COLUMNS = 4
_Lines = Sequence[tuple[str, str]]
MOUSE: Final = (
    ("Use the tool", "left drag"),
    ("Move the image", "middle drag"),
    ("Zoom", "right drag, Ctrl+wheel"),
    ("Scroll a series", "wheel"),
    ("Menu of a mark", "right click"),
    ("One image alone, all again", "double click"),
    ("Hang a series", "drag it into a viewport"),
    ("Erase with the brush", "Alt+left drag"),
    ("Size of the brush", "Shift+wheel"),
)
"""What the mouse does over an image."""


class ShortcutsSheet(QDialog):
    """Every command that has a key, by menu, and the mouse."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Shortcuts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        specs = [spec for spec, _ in actions if spec.shortcut]
        menus = [(name, _lines(group)) for name, group in groupby(specs, _menu)]
        menus.append(("Mouse", MOUSE))
        row = QHBoxLayout(self)
        row.setContentsMargins(24, 24, 24, 24)
        row.setSpacing(32)
        columns = [QVBoxLayout() for _ in range(_COLUMNS)]
        lengths = [0] * _COLUMNS
        for name, group in menus:
            shortest = lengths.index(min(lengths))
            columns[shortest].addWidget(_block(name, group))
            lengths[shortest] += len(group) + 2
        for column in columns:
            column.addStretch(1)
            row.addLayout(column)


def _menu(spec: ActionSpec) -> str:
    return spec.menu


def _lines(specs: Iterable[ActionSpec]) -> _Lines:
    return [(spec.text, shortcut_text(spec)) for spec in specs]


def _block(name: str, lines: _Lines) -> QWidget:
    block = QWidget()
    grid = QGridLayout(block)
    grid.setContentsMargins(0, 0, 0, 8)
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(theme.STEP)
    title = Label(name)
    title.setFont(theme.title_font(title.font()))
    grid.addWidget(title, 0, 0, 1, 2)
    for line, (words, gesture) in enumerate(lines, start=1):
        grid.addWidget(Label(words), line, 0)
        keys = Label(gesture)
        keys.setEnabled(False)
        grid.addWidget(keys, line, 1, Qt.AlignmentFlag.AlignRight)
    grid.setColumnStretch(0, 1)
    return block
