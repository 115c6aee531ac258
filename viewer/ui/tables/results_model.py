"""The results of a run as a Qt table, sorted by value."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt

from viewer.domain.report import Table
from viewer.domain.study_words import MACRO, NO_COUNTS, PLACING, StudyWords
from viewer.ui.tables.columns import shown
from viewer.ui.tables.number_table import NOWHERE, TEXT_ROLES, Index, NumberModel
from viewer.ui.widgets.plain_text import in_role

_COUNTS: Final = frozenset({"k", "partial"})
"""Numbers of trials that are the numerators of rates."""
EMPTY: Final = Table("results", (), ())
VALUE_ROLE: Final = Qt.ItemDataRole.UserRole
"""The role under which a cell holds its value as results.csv has it."""


@dataclass(frozen=True, slots=True)
class RowKey:
    """The key of a row of results.csv."""

    finding: str
    view: str
    condition: str
    model: str


def _rows_of(table: Table) -> tuple[object, ...]:
    """Return what a table has rows and columns of."""
    at = [n for n, name in enumerate(table.header) if name in _KEYS]
    return table.header, tuple(tuple(row[n] for n in at) for row in table.rows)


_KEYS: Final = frozenset(RowKey.__dataclass_fields__)


class ResultsModel(NumberModel):
    """A read-only table over the rows of results.csv."""

    table = EMPTY
    texts = _KEYS

    def show_table(self, table: Table, words: StudyWords = PLACING) -> bool:
        """Replace the table, and the words of the study that it is of.

        Of the same rows only the numbers change, so that the chosen one stays so;
        return whether they are the same.
        """
        same = words == self.words and _rows_of(table) == _rows_of(self.table)
        if same and table.rows:
            self.table = table
            last = self.index(len(table.rows) - 1, len(table.header) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
            return True
        self.beginResetModel()
        self.table, self.words, self.columns = table, words, table.header
        self.endResetModel()
        return False

    def key(self, row: int) -> RowKey:
        """Return the finding, view, condition and model of a row."""
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

    def _value(self, index: Index) -> object:
        return self.table.rows[index.row()][index.column()]

    def _text(self, index: Index) -> str:
        column = self.table.header[index.column()]
        if column in _COUNTS and self.record(index.row())["finding"] == MACRO:
            return NO_COUNTS
        return shown(column, self._value(index), self.words)

    def rowCount(self, parent: Index = NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Return the number of rows."""
        return 0 if parent.isValid() else len(self.table.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, also as its tip, its value or its alignment."""
        if not index.isValid():
            return None
        if role == VALUE_ROLE:
            return self._value(index)
        if role in TEXT_ROLES:
            return in_role(self._text(index), role)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(self.columns[index.column()])
        return None
