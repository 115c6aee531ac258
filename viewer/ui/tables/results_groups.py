"""Groups of predictions as a Qt table of any length; it sorts itself, by value."""

from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Qt

from viewer.services.results.view import By, ResultsView, natural
from viewer.ui.plain_text import in_role
from viewer.ui.tables.columns import shown
from viewer.ui.tables.number_table import NOWHERE, Index, NumberModel

_KEPT: Final = 1_000
"""Rows whose texts are at hand."""
_NOTHING: Final = ResultsView((), (), np.zeros((0, 9), np.int64))
_BY: Final = frozenset(by.value for by in By)
PLOT: Final = "plot"
"""The column in which the rate and its interval are drawn."""
ESTIMATE_ROLE: Final = Qt.ItemDataRole.UserRole
"""(rate, low, high) of the row, what there is none of None."""
_PARTIAL: Final = "partial"
"""The column that only answers which are places have."""
COLUMNS: Final = (
    *("k", "n", "hit_rate", "wilson_low", "wilson_high", PLOT),
    *("n_planned", "n_failed", "n_refused", "n_unparsed", "n_excluded", "n_pending"),
    *("answered_rate", "n_scored", _PARTIAL),
)
"""The numbers of a group as they stand in the table."""
_SHORT: Final = {"wilson_low": "95 % from"}
"""Headers that are shorter here than in the table of a run."""


class GroupsModel(NumberModel):
    """A read-only table over groups of predictions."""

    texts = frozenset({*_BY, PLOT})

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.groups = _NOTHING
        self.sorted_by: tuple[str, bool] = ("", False)
        """The column's name, "" for the order of the groups; whether descending."""
        self._records: dict[int, dict[str, object]] = {}
        self._order: npt.NDArray[np.intp] = np.zeros(0, np.intp)

    def show_groups(self, groups: ResultsView) -> None:
        """Replace the groups; the order that was chosen stays."""
        self.beginResetModel()
        self.groups, self.words = groups, groups.words
        self._records.clear()
        numbers = [name for name in COLUMNS if groups.words.places or name != _PARTIAL]
        self.columns = (*(by.value for by in groups.by), *numbers)
        self._arrange()
        self.endResetModel()

    def sort(
        self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder
    ) -> None:
        """Sort by a column's values; what has none comes last either way."""
        name = self.columns[column] if 0 <= column < len(self.columns) else ""
        name = "hit_rate" if name == PLOT else name
        self.layoutAboutToBeChanged.emit()
        kept = self.persistentIndexList()
        rows = [self.group_at(index.row()) for index in kept]
        self.sorted_by = name, order is Qt.SortOrder.DescendingOrder
        self._arrange()
        place = np.argsort(self._order)
        moved = [
            self.index(int(place[row]), index.column())
            for row, index in zip(rows, kept, strict=True)
        ]
        self.changePersistentIndexList(kept, moved)
        self.layoutChanged.emit()

    def group_at(self, row: int) -> int:
        """Return which group of the view stands in a row of the table."""
        return int(self._order[row])

    def row_of(self, key: tuple[str, ...]) -> int | None:
        """Return the table's row of a group, None where it is not there."""
        group = self.groups.row_of(key)
        if group is None:
            return None
        return int(np.flatnonzero(self._order == group)[0])

    def _arrange(self) -> None:
        name, descending = self.sorted_by
        n = len(self.groups.keys)
        if not name or name not in self.columns:
            self._order = np.arange(n)
            return
        values = self._sortable(name)
        order = np.argsort(-values if descending else values, kind="stable")
        self._order = order

    def _sortable(self, name: str) -> npt.NDArray[np.float64]:
        """Return numbers that sort as a column does, (groups,)."""
        if name not in _BY:
            return self.groups.column(name)
        at = self.groups.by.index(By(name))
        values = [key[at] for key in self.groups.keys]
        rank = {v: i for i, v in enumerate(sorted(set(values), key=natural))}
        return np.array([rank[value] for value in values], np.float64)

    def rowCount(self, parent: Index = NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Return the number of groups."""
        return 0 if parent.isValid() else len(self.groups.keys)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return a cell's text, its place, or what is drawn of its row."""
        if not index.isValid():
            return None
        name, group = self.columns[index.column()], self.group_at(index.row())
        if role == ESTIMATE_ROLE and name == PLOT:
            return self._estimate(group)
        if role in {Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole}:
            return "" if name == PLOT else in_role(self._shown(name, group), role)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.header(name)}: {self._shown(name, group)}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(name)
        return None

    def _shown(self, name: str, group: int) -> str:
        return shown(name, self._value(name, group), self.groups.words)

    def _value(self, name: str, group: int) -> object:
        name = "hit_rate" if name == PLOT else name
        if group not in self._records:  # painting goes row by row
            if len(self._records) >= _KEPT:
                self._records.clear()
            record = self.groups.record(group)
            self._records[group] = dict(zip(self.groups.header, record, strict=True))
        return self._records[group][name]

    def _estimate(self, group: int) -> tuple[object, ...]:
        names = ("hit_rate", "wilson_low", "wilson_high")
        return tuple(self._value(name, group) for name in names)

    def header(self, name: str) -> str:
        """Return what stands over a column."""
        return _SHORT.get(name) or super().header(name)

    def groups_in_order(self) -> list[int]:
        """Return the groups in the order of the table."""
        return [int(group) for group in self._order]
