"""The results as a table: sorted by a click, copied with Ctrl+C."""

from typing import Final

from PySide6.QtCore import QEvent, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from viewer.domain.report import Table
from viewer.domain.study_words import PLACING, StudyWords
from viewer.ui.tables.columns import SHOWN_FIRST
from viewer.ui.tables.filter_proxy import ResultsFilter
from viewer.ui.tables.results_model import ResultsModel, RowKey

_ROOM: Final = 8
"""The view's pixels beside a text: the cell with the keyboard draws a frame in them."""


class ResultsView(QTableView):
    """A run's results, row by row."""

    row_chosen = Signal(object)
    """RowKey of the current row, or None"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.results = ResultsModel(self)
        self.shown = ResultsFilter(self.results, self)
        self.setAccessibleName("Results")
        self.setModel(self.shown)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setTabKeyNavigation(False)
        self.setFont(_tabular(self.font()))
        self._set_headers()
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

    def sizeHintForColumn(self, column: int) -> int:  # noqa: N802 - Qt's name
        """Return the width that shows every text whole, the focused one's too."""
        return super().sizeHintForColumn(column) + _ROOM

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

    def copy(self) -> None:
        """Put the selected rows on the clipboard, tab-separated, in the order shown."""
        chosen = sorted(index.row() for index in self.selectionModel().selectedRows())
        rows = self.shown.source_rows()
        text = self.results.as_tsv(rows[i] for i in chosen)
        QGuiApplication.clipboard().setText(text)

    def copy_all(self) -> None:
        """Put every row shown on the clipboard, as :meth:`copy` does."""
        text = self.results.as_tsv(self.shown.source_rows())
        QGuiApplication.clipboard().setText(text)

    def event(self, event: QEvent) -> bool:
        """Take Ctrl+C before the window's own shortcut does."""
        if isinstance(event, QKeyEvent) and event.matches(
            QKeySequence.StandardKey.Copy
        ):
            if event.type() == QEvent.Type.KeyPress:
                self.copy()
            event.accept()
            return True
        return super().event(event)

    def _order_columns(self) -> None:
        """Show rates before counts; what is copied keeps the order of results.csv."""
        header, names = self.horizontalHeader(), self.results.table.header
        shown = [name for name in SHOWN_FIRST if name in names]
        for place, name in enumerate(shown):
            header.moveSection(header.visualIndex(names.index(name)), place)

    def _announce(self) -> None:
        self.row_chosen.emit(self.key)

    def _set_headers(self) -> None:
        header = self.horizontalHeader()
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.setSortingEnabled(True)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 8)


def _tabular(font: QFont) -> QFont:
    """Return a font whose figures are all of one width."""
    font.setFeature(QFont.Tag("tnum"), 1)
    return font
