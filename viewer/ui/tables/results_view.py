"""The results as a table: sorted by a click, copied with Ctrl+C."""

from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import QItemSelectionModel, Signal
from PySide6.QtGui import QFont, QShowEvent
from PySide6.QtWidgets import QWidget

from viewer.domain.report import Table
from viewer.domain.study_words import PLACING, StudyWords
from viewer.ui.tables.columns import SHOWN_FIRST
from viewer.ui.tables.filter_proxy import ResultsFilter
from viewer.ui.tables.number_table import NumberView
from viewer.ui.tables.results_model import ResultsModel, RowKey


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
        """What names the current row."""
        index = self.currentIndex()
        if not index.isValid():
            return None
        return self.results.key(self.shown.mapToSource(index).row())

    def show_table(self, table: Table, words: StudyWords = PLACING) -> None:
        """Replace the results and keep the current row, where it is still there."""
        key = self.key
        self.results.show_table(table, words)
        self._order_columns()
        self.resizeColumnsToContents()
        self.choose(key)

    def show_only(self, wanted: dict[str, str]) -> None:
        """Filter, and keep the current row, where it passes."""
        key = self.key
        self.shown.show_only(wanted)
        self.resizeColumnsToContents()
        self.choose(key)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Measure the columns anew, now with the font and style they are drawn in."""
        super().showEvent(event)
        self.resizeColumnsToContents()

    def choose(self, key: RowKey | None) -> None:
        """Make a row the current one; the first where it is not shown."""
        row = None if key is None else self.shown.row_of(key)
        flags = QItemSelectionModel.SelectionFlag
        index = self.shown.index(row or 0, 0)
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.scrollTo(index)

    def table_of(self, rows: Iterable[int]) -> Table:
        """Return rows shown at full precision under the names of results.csv."""
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
    """Return a font whose figures are all of one width."""
    font.setFeature(QFont.Tag("tnum"), 1)
    return font
