"""The results as a table: sorted by a click, copied with Ctrl+C."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from PySide6.QtCore import (
    QItemSelectionModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from viewer.domain.report import Table
from viewer.domain.study_words import PLACING, StudyWords
from viewer.ui.tables.columns import SHOWN_FIRST
from viewer.ui.tables.number_table import NumberView
from viewer.ui.tables.results_model import VALUE_ROLE, ResultsModel, RowKey


class ResultsView(NumberView):
    """A run's results, row by row."""

    row_chosen = Signal(object)
    """RowKey of the current row, or None"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Results", parent)
        self.results = ResultsModel(self)
        self.shown = ResultsFilter(self.results, self)
        self.setModel(self.shown)
        self.setFont(_tabular(self.font()))
        self.setSortingEnabled(True)
        self.selectionModel().currentRowChanged.connect(self._announce)

    @property
    def key(self) -> RowKey | None:
        """The key of the current row."""
        index = self.currentIndex()
        if not index.isValid():
            return None
        return self.results.key(self.shown.mapToSource(index).row())

    def show_table(self, table: Table, words: StudyWords = PLACING) -> None:
        """Replace the results and keep the current row, if it is still there."""
        key = self.key
        same = self.results.show_table(table, words)
        self._order_columns()
        self.fit_columns()
        if same:
            self._announce()  # its trials may have changed
        else:
            self.choose(key)

    def show_only(self, wanted: dict[str, str]) -> None:
        """Filter, and keep the current row if it passes."""
        key = self.key
        if self.shown.show_only(wanted):
            self.fit_columns()
            self.choose(key)

    def choose(self, key: RowKey | None) -> None:
        """Make a row the current one; the first if it is not shown."""
        row = None if key is None else self.shown.row_of(key)
        flags = QItemSelectionModel.SelectionFlag
        index = self.shown.index(row or 0, 0)
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.scrollTo(index)

    def table_of(self, rows: Iterable[int]) -> Table:
        """Return the rows at full precision, with the column names of results.csv."""
        table, places = self.results.table, self.shown.source_rows()
        return replace(table, rows=tuple(table.rows[places[row]] for row in rows))

    def _order_columns(self) -> None:
        """Show rates before counts; what is copied keeps the order of results.csv."""
        header, names = self.horizontalHeader(), self.results.table.header
        shown = [name for name in SHOWN_FIRST if name in names]
        for place, name in enumerate(shown):
            header.moveSection(header.visualIndex(names.index(name)), place)

    def _announce(self) -> None:
        self.row_chosen.emit(self.key)


def _tabular(font: QFont) -> QFont:
    """Return a font with tabular figures."""
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


Index = QModelIndex | QPersistentModelIndex


class ResultsFilter(QSortFilterProxyModel):
    """The results, filtered by exact values of columns; rows without a value last."""

    def __init__(self, model: ResultsModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._wanted: Mapping[str, str] = {}
        self.setSourceModel(model)
        self.setSortRole(VALUE_ROLE)

    @property
    def wanted(self) -> Mapping[str, str]:
        """The value each filtered column must have."""
        return self._wanted

    def show_only(self, wanted: Mapping[str, str]) -> bool:
        """Show the rows whose columns have these values; "" lets every value pass.

        Return whether they are other values than before.
        """
        exact = {column: value for column, value in wanted.items() if value}
        if exact == self._wanted:
            return False
        self.beginFilterChange()
        self._wanted = exact
        self.endFilterChange(QSortFilterProxyModel.Direction.Rows)
        return True

    def source_rows(self) -> tuple[int, ...]:
        """Return the model's rows that are shown, in the order shown."""
        return tuple(
            self.mapToSource(self.index(row, 0)).row() for row in range(self.rowCount())
        )

    def row_of(self, key: RowKey) -> int | None:
        """Return where a row is shown, None if it is filtered out."""
        for shown_row, row in enumerate(self.source_rows()):
            if self._model.key(row) == key:
                return shown_row
        return None

    def filterAcceptsRow(  # noqa: N802 - Qt's name
        self,
        source_row: int,
        source_parent: Index,  # noqa: ARG002 - Qt's signature
    ) -> bool:
        """Tell whether a row has every wanted value."""
        record = self._model.record(source_row)
        return all(str(record[name]) == value for name, value in self._wanted.items())

    def lessThan(self, left: Index, right: Index) -> bool:  # noqa: N802 - Qt's name
        """Compare values, not their spelling; what has no value comes last."""
        a, b = left.data(VALUE_ROLE), right.data(VALUE_ROLE)
        if a is None or b is None:
            ascending = self.sortOrder() is Qt.SortOrder.AscendingOrder
            return (b if ascending else a) is None and a is not b
        if isinstance(a, int | float) and isinstance(b, int | float):
            return a < b
        return _natural(str(a)) < _natural(str(b))


def _natural(text: str) -> tuple[str, int, str]:
    """Return a key that puts ``grid=8`` before ``grid=16``."""
    name, _, rest = text.partition("=")
    digits = rest.partition("x")[0]
    return name.casefold(), int(digits) if digits.isdecimal() else -1, rest
