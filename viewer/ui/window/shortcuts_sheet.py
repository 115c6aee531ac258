"""The list of shortcuts (F1), made from the table of actions."""

from itertools import groupby

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

_COLUMNS = 3


class ShortcutsSheet(QDialog):
    """Every command that has a key, by menu."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Shortcuts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        specs = [spec for spec, _ in actions if spec.shortcut]
        menus = [(name, list(group)) for name, group in groupby(specs, _menu)]
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


def _block(name: str, specs: list[ActionSpec]) -> QWidget:
    block = QWidget()
    grid = QGridLayout(block)
    grid.setContentsMargins(0, 0, 0, 8)
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(theme.STEP)
    title = Label(name)
    title.setFont(theme.title_font(title.font()))
    grid.addWidget(title, 0, 0, 1, 2)
    for line, spec in enumerate(specs, start=1):
        grid.addWidget(Label(spec.text), line, 0)
        keys = Label(shortcut_text(spec))
        keys.setEnabled(False)
        grid.addWidget(keys, line, 1, Qt.AlignmentFlag.AlignRight)
    grid.setColumnStretch(0, 1)
    return block
