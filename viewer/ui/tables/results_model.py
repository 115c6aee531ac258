"""The results of a run as a Qt table, sorted and copied by value."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
)

from viewer.domain.report import Table
from viewer.domain.study_words import PLACING, StudyWords
from viewer.services.export_table import table_as_tsv
from viewer.ui.plain_text import in_role
from viewer.ui.tables.columns import header_of, shown, tip_of

Index = QModelIndex | QPersistentModelIndex
EMPTY: Final = Table("results", (), ())
_NOWHERE: Final = QModelIndex()
VALUE_ROLE: Final = Qt.ItemDataRole.UserRole
"""The role under which a cell holds its value as results.csv has it."""


@dataclass(frozen=True, slots=True)
class RowKey:
    """What names a row of results.csv."""

    finding: str
    view: str
    condition: str
    model: str


class ResultsModel(QAbstractTableModel):
    """A read-only table over the rows of results.csv."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table, self.words = EMPTY, PLACING

    def show_table(self, table: Table, words: StudyWords = PLACING) -> None:
        """Replace the table, and the words of the study that it is of."""
        self.beginResetModel()
        self.table, self.words = table, words
        self.endResetModel()

    def key(self, row: int) -> RowKey:
        """Return what names a row."""
        values = self.record(row)
        return RowKey(*(str(values[name]) for name in RowKey.__dataclass_fields__))

    def record(self, row: int) -> Mapping[str, object]:
        """Return a row's values by the column's name in results.csv."""
        return dict(zip(self.table.header, self.table.rows[row], strict=True))

    def distinct(self, column: str) -> tuple[str, ...]:
        """Return a column's different values in the order of the rows."""
        if column not in self.table.header:
            return ()
        at = self.table.header.index(column)
        return tuple(dict.fromkeys(str(row[at]) for row in self.table.rows))

    def rowCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.table.rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.table.header)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, also as its tip, its value or its alignment."""
        if not index.isValid():
            return None
        value = self.table.rows[index.row()][index.column()]
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole}:
            text = shown(self.table.header[index.column()], value, self.words)
            return in_role(text, role)
        if role == VALUE_ROLE:
            return value
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(self.table.header[index.column()])
        return None

    def headerData(  # noqa: N802 - Qt's name
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """Return a column's header in words, its meaning or its alignment."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        name = self.table.header[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return header_of(name, self.words)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_of(name, self.words)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(name)
        return None

    def as_tsv(self, rows: Iterable[int]) -> str:
        """Return rows at full precision under the names of results.csv.

        Fields are separated by tabs and lines end with a line feed, as spreadsheets
        paste them; None is empty.
        """
        return table_as_tsv(
            replace(self.table, rows=tuple(self.table.rows[row] for row in rows))
        )


def _alignment(column: str) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight
    if column in RowKey.__dataclass_fields__:
        side = Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
