"""What tables of results have in common: headers in words, and how rows are copied."""

from collections.abc import Callable, Iterable
from typing import Final

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
)
from PySide6.QtGui import QAction, QGuiApplication, QKeyEvent, QKeySequence, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from viewer.domain.report import Table
from viewer.domain.study_words import PLACING, StudyWords
from viewer.services.exporting.export_table import table_as_csv, table_as_tsv
from viewer.ui.tables.columns import header_of, tip_of

Index = QModelIndex | QPersistentModelIndex
NOWHERE: Final = QModelIndex()
TEXT_ROLES: Final = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
AIR: Final = 8
"""The view's pixels beside a text: the cell with the keyboard draws a frame in them."""
_MEASURED: Final = 4
"""So many of a column's longest texts: some may be drawn in bold."""
_LEFT: Final = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT: Final = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class NumberModel(QAbstractTableModel):
    """A read-only table of results under headers in words."""

    columns: tuple[str, ...] = ()
    words: StudyWords = PLACING
    texts: frozenset[str] = frozenset()
    """The columns of texts, which stand at the left; numbers stand at the right."""

    def columnCount(self, parent: Index = NOWHERE) -> int:  # noqa: N802 - Qt's name
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def headerData(  # noqa: N802 - Qt's name
        self,
        section: int,
        orientation: Qt.Orientation,
        role: int = Qt.ItemDataRole.DisplayRole,
    ) -> object:
        """Return a column's title, its meaning as a tool tip, or its alignment."""
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        name = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return self.header(name)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip_of(name, self.words)
        aligned = role == Qt.ItemDataRole.TextAlignmentRole
        return self.alignment(name) if aligned else None

    def header(self, name: str) -> str:
        """Return the title of a column."""
        return header_of(name, self.words)

    def alignment(self, name: str) -> Qt.AlignmentFlag:
        """Return the alignment of a column."""
        return _LEFT if name in self.texts else _RIGHT


class NumberView(QTableView):
    """A table of results; whole rows are chosen, and copied by Ctrl+C or a click."""

    def __init__(self, called: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fitted, self._measured_in = False, ("", "")
        self.setAccessibleName(called)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setShowGrid(False)
        self.setAlternatingRowColors(True)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + AIR)
        header = self.horizontalHeader()
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setSortIndicatorClearable(True)
        header.setHighlightSections(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.offer("Copy rows", self.copy)
        self.offer("Copy rows as CSV", self.copy_as_csv)
        self.offer("Copy the whole table", self.copy_all)

    def table_of(self, rows: Iterable[int]) -> Table:
        """Return rows shown at full precision, under the names that files have."""
        raise NotImplementedError

    def offer(self, text: str, do: Callable[[], object]) -> QAction:
        """Add actions to the context menu."""
        action = QAction(text, self)
        action.triggered.connect(lambda _=False: do())
        self.addAction(action)
        return action

    def copy(self) -> None:
        """Put the selected rows on the clipboard, tab-separated, in the order shown."""
        _copy(table_as_tsv(self.table_of(self._selected())))

    def copy_as_csv(self) -> None:
        """Put the selected rows on the clipboard as the exported file has them."""
        _copy(table_as_csv(self.table_of(self._selected())))

    def copy_all(self) -> None:
        """Put every row shown on the clipboard, as :meth:`copy` does."""
        _copy(table_as_tsv(self.table_of(self._rows())))

    def event(self, event: QEvent) -> bool:
        """Handle Ctrl+C before the window's own shortcut does."""
        if isinstance(event, QKeyEvent) and event.matches(
            QKeySequence.StandardKey.Copy
        ):
            if event.type() == QEvent.Type.KeyPress:
                self.copy()
            event.accept()
            return True
        return super().event(event)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Measure the columns, in the font and style that they are drawn in."""
        super().showEvent(event)
        if not self._fitted:
            self.fit_columns()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Measure the columns again where their font or style is another one.

        Another theme has another sheet of the same style.
        """
        super().changeEvent(event)
        asked = event.type() in {QEvent.Type.FontChange, QEvent.Type.StyleChange}
        if asked and self._measured_in != self._look():
            self._fitted = False

    def _look(self) -> tuple[str, str]:
        """Return the font and the kind of style, which a text's width depends on."""
        return self.font().toString(), str(self.style().metaObject().className())

    def fit_columns(self) -> None:
        """Make columns as wide as their texts; those out of sight once they are seen.

        Hundreds of rows take a tenth of a second, and come while a batch runs.
        """
        self._fitted = self.isVisible()
        if self._fitted:
            self._measured_in = self._look()
            self.resizeColumnsToContents()

    def sizeHintForColumn(self, column: int) -> int:  # noqa: N802 - Qt's name
        """Return the width that shows every text whole, the focused one's too.

        Qt would ask each cell for everything it draws; only the longest are asked here.
        """
        cells = [self.model().index(row, column) for row in self._rows()]
        length = self.fontMetrics().horizontalAdvance
        by_text = {str(cell.data()): cell for cell in cells}
        longest = sorted(by_text, key=length, reverse=True)[:_MEASURED]
        widths = (self.sizeHintForIndex(by_text[text]).width() for text in longest)
        return max(widths, default=0) + AIR

    def _rows(self) -> range:
        return range(self.model().rowCount())

    def _selected(self) -> list[int]:
        return sorted(index.row() for index in self.selectionModel().selectedRows())


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
