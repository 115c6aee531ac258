"""Small tables of a data set's contents, before it is registered."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
)

from viewer.ui.widgets.plain_text import as_tip


@dataclass(frozen=True, slots=True)
class Columns:
    """What stands over a table's columns, and which of them takes the room."""

    heads: tuple[str, ...]
    wide: int = 0


FINDINGS: Final = Columns(("Finding", "Present", "Absent", "With a reference"))
ITEMS: Final = Columns(("Items of kind", "Number"))
QUESTIONS: Final = Columns(("Questions", "Number"))
RULES: Final = Columns(("Rule", "Placed", "Lost", "Healthy with a box"))
BOXES: Final = Columns(("Boxes of", "Images", "Agreed", "Reported", "Placed"))
NOTICES: Final = Columns(("Notices", "First examples"), wide=1)
_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def read_only_table(columns: Columns) -> QTableWidget:
    """Return an empty table that nobody writes in."""
    table = QTableWidget(0, len(columns.heads))
    table.setTabKeyNavigation(False)
    table.setHorizontalHeaderLabels(columns.heads)
    table.setAccessibleName(columns.heads[0])
    table.verticalHeader().hide()
    table.setShowGrid(False)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
    header.setSectionResizeMode(columns.wide, QHeaderView.ResizeMode.Stretch)
    named = QTableWidgetItem(columns.heads[columns.wide])
    named.setTextAlignment(_LEFT)
    table.setHorizontalHeaderItem(columns.wide, named)
    return table


def fill(table: QTableWidget, rows: Sequence[tuple[str | int, ...]]) -> None:
    """Show rows in place of those before; numbers stand at the right."""
    table.setRowCount(len(rows))
    for row, cells in enumerate(rows):
        for column, value in enumerate(cells):
            item = QTableWidgetItem(f"{value:,}" if isinstance(value, int) else value)
            item.setToolTip(as_tip(str(value)))
            if isinstance(value, int):
                item.setTextAlignment(_RIGHT)
            table.setItem(row, column, item)
