"""The first page of help: the key of every command, and what the mouse does."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.escapes import visible
from viewer.ui.application.action_set import Actions, as_displayed
from viewer.ui.application.action_spec import ActionSpec
from viewer.ui.application.actions import MENUS
from viewer.ui.application.keymap import RESERVED
from viewer.ui.widgets import theme
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import scrolled

_COLUMNS: Final = 4
"""The most that are used."""
_MARGIN: Final = 24
_GAP: Final = 32
_BETWEEN: Final = 24
"""Pixels between the longest words and the longest key."""
_BESIDE: Final = 60
"""What the screen has to have around the sheet, and the sheet around its columns."""
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
    """Every command that has a key, by menu, the keys that never change, the mouse."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Help: shortcuts")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menus = [
            (name, [(spec.text, actions.shown_key(spec)) for spec in group])
            for name, group in groupby(_keyed(actions), _menu)
        ]
        always = [(words, as_displayed(key)) for key, words in RESERVED.items()]
        room = self.screen().availableSize()
        groups = [*menus, ("Always", always), ("Mouse", MOUSE)]
        page = _page(groups, room.width() - _BESIDE)
        area = scrolled(page)
        area.setAccessibleName("Shortcuts")
        change = QPushButton("Change keys…")
        change.clicked.connect(actions["edit.keys"].trigger)
        foot, column = QHBoxLayout(), QVBoxLayout(self)
        foot.addWidget(caption(f"Keys of {actions.keymap.name}"), 1)
        foot.addWidget(change)
        column.addWidget(area)
        column.addLayout(foot)
        self.resize(
            min(page.sizeHint().width() + _BESIDE, room.width() - _BESIDE),
            min(page.sizeHint().height() + 2 * _BESIDE, room.height() - _BESIDE),
        )


def _keyed(actions: Actions) -> list[ActionSpec]:
    keyed = (spec for spec, _ in actions if actions.shown_key(spec))
    return sorted(keyed, key=lambda spec: MENUS.index(spec.menu))


def _menu(spec: ActionSpec) -> str:
    return spec.menu


def _page(groups: Sequence[tuple[str, _Lines]], room: int) -> QWidget:
    """Return the groups in as many columns as there is room for.

    Each is added to the column that is shortest.
    """
    page, blocks = QWidget(), [_block(name, lines) for name, lines in groups]
    row = QHBoxLayout(page)
    row.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
    row.setSpacing(_GAP)
    widest = max(block.sizeHint().width() for block in blocks)
    count = (room - 2 * _MARGIN + _GAP) // (widest + _GAP)
    columns = [QVBoxLayout() for _ in range(max(1, min(count, _COLUMNS)))]
    lengths = [0] * len(columns)
    for block, (_, lines) in zip(blocks, groups, strict=True):
        shortest = lengths.index(min(lengths))
        columns[shortest].addWidget(block)
        lengths[shortest] += len(lines) + 2
    for column in columns:
        column.addStretch(1)
        row.addLayout(column)
    return page


def _block(name: str, lines: _Lines) -> QWidget:
    block, heading = QWidget(), Label(name)
    heading.setFont(theme.title_font(heading.font()))
    column = QVBoxLayout(block)
    column.setContentsMargins(0, 0, 0, 8)
    column.setSpacing(theme.STEP)
    column.addWidget(heading)
    column.addWidget(KeyLines(lines))
    return block


class KeyLines(QWidget):
    """What is done at the left, the key or gesture for it at the right, muted.

    One widget for all: two hundred labels take a tenth of a second.
    """

    def __init__(self, lines: _Lines) -> None:
        super().__init__()
        self.lines = tuple((visible(words), visible(key)) for words, key in lines)
        self.setAccessibleName("; ".join(map(": ".join, self.lines)))
        length = self.fontMetrics().horizontalAdvance
        left, right = (max(map(length, column)) for column in zip(*lines, strict=True))
        self._pitch = self.fontMetrics().height() + theme.STEP
        high = len(lines) * self._pitch - theme.STEP
        self.setMinimumSize(left + _BETWEEN + right, high)
        self.setMaximumHeight(high)

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the lines as labels would."""
        painter, middle = QPainter(self), Qt.AlignmentFlag.AlignVCenter
        high, group = self.fontMetrics().height(), QPalette.ColorGroup
        sides = (
            (middle | Qt.AlignmentFlag.AlignLeft, group.Active),
            (middle | Qt.AlignmentFlag.AlignRight, group.Disabled),
        )
        for number, line in enumerate(self.lines):
            at = QRect(0, number * self._pitch, self.width(), high)
            for text, (side, shade) in zip(line, sides, strict=True):
                painter.setPen(
                    self.palette().color(shade, QPalette.ColorRole.WindowText)
                )
                painter.drawText(at, side, text)
        painter.end()
