"""Groups of predictions on the screen: each number leads to the trials it counts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import (
    QItemSelectionModel,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from viewer.domain.report import Table
from viewer.services.results.view import ResultsView
from viewer.ui import theme
from viewer.ui.tables.number_table import AIR, Index, NumberView
from viewer.ui.tables.results_groups import ESTIMATE_ROLE, PLOT, GroupsModel

_PLOT_WIDTH: Final = 120
_MEASURED_ROWS: Final = 200
"""Rows whose texts give a column its width; what is wider is cut short with dots."""
_WATERMARK_SHARE: Final = 0.10


@dataclass(frozen=True, slots=True)
class NumberChosen:
    """A person looks at a number: a group of the view, and a column's name."""

    group: int
    column: str


class _RatePainter(QStyledItemDelegate):
    """Draws a rate as a dot, its interval as a line, on a scale from 0 to 100 %."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:  # noqa: N802
        """Return room for the scale."""
        return QSize(_PLOT_WIDTH, super().sizeHint(option, index).height())

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: Index
    ) -> None:
        """Paint a row's rate; nothing where it has none."""
        super().paint(painter, option, index)
        rate, low, high = index.data(ESTIMATE_ROLE)
        inner = QRectF(option.rect).adjusted(AIR, 0, -AIR, 0)
        middle = inner.center().y()
        colours = theme.current()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.line), 1))
        for part in (0.0, 0.5, 1.0):
            x = inner.left() + part * inner.width()
            painter.drawLine(QPointF(x, middle - 6), QPointF(x, middle + 6))
        if rate is not None:
            ends = [QPointF(inner.left() + v * inner.width(), middle)
                    for v in (low, high, rate)]  # fmt: skip
            painter.setPen(QPen(QColor(colours.text), 1.5))
            painter.drawLine(ends[0], ends[1])
            painter.setBrush(QColor(colours.accent))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawEllipse(ends[2], 4, 4)
        painter.restore()


class GroupsView(NumberView):
    """A table of any length; arrows walk over its numbers."""

    number_chosen = Signal(object)
    """NumberChosen, or None where there is no row"""
    cases_wanted = Signal()
    """A person wants to look at the trials of the number, with Enter or two clicks."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Predictions", parent)
        self.model_ = GroupsModel(self)
        self.setModel(self.model_)
        self.setWordWrap(False)
        self._plot = _RatePainter(self)
        self._set_headers()
        self._quiet = False
        self.doubleClicked.connect(self.cases_wanted)
        self.selectionModel().currentChanged.connect(self._announce)

    @property
    def chosen(self) -> NumberChosen | None:
        """The number under the keyboard."""
        index = self.currentIndex()
        if not index.isValid():
            return None
        group = self.model_.group_at(index.row())
        return NumberChosen(group, self.model_.columns[index.column()])

    def show_groups(self, groups: ResultsView) -> None:
        """Replace the groups; the row, the column and the order stay where they can."""
        chosen, before = self.chosen, self.model_.groups
        key = None if chosen is None else before.keys[chosen.group]
        self._quiet = True
        self.model_.show_groups(groups)
        self._show_order()
        asked = (groups.by, groups.wanted)
        if (before.by, before.wanted) != asked or chosen is None:
            self._fit_columns()
        self.choose(key, chosen.column if chosen else "")
        self._quiet = False
        after = self.chosen
        if (
            chosen is None
            or after is None
            or (before.by, before.wanted) != asked
            or before.record(chosen.group) != groups.record(after.group)
        ):
            self.number_chosen.emit(after)

    def choose(self, key: tuple[str, ...] | None, column: str) -> None:
        """Make a group's number the current one; the first where it is not there."""
        row = None if key is None else self.model_.row_of(key)
        columns = self.model_.columns
        at = columns.index(column) if column in columns else self._first_number()
        flags = QItemSelectionModel.SelectionFlag
        index = self.model_.index(row or 0, at)
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.scrollTo(index)

    def sort_by(self, column: str, *, descending: bool) -> None:
        """Sort as was chosen in an earlier session."""
        self.model_.sorted_by = column, descending
        self._show_order()

    def table_of(self, rows: Iterable[int]) -> Table:
        """Return rows at full precision under the names of the exported file."""
        return self.model_.groups.table([self.model_.group_at(row) for row in rows])

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Go to the trials with Enter, else move as tables do."""
        if event.key() in {Qt.Key.Key_Return, Qt.Key.Key_Enter}:
            self.cases_wanted.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the table; across one whose trials are not all settled, a word."""
        super().paintEvent(event)
        if self.model_.groups.total.n_pending:
            painter = QPainter(self.viewport())
            colour = QColor(theme.current().text)
            colour.setAlphaF(_WATERMARK_SHARE)
            font = self.font()
            font.setPixelSize(max(24, min(96, self.viewport().width() // 10)))
            font.setBold(True)
            painter.setFont(font)
            painter.setPen(colour)
            middle = Qt.AlignmentFlag.AlignCenter
            painter.drawText(self.viewport().rect(), middle, "incomplete")

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Measure the columns anew, now with the font and style they are drawn in."""
        super().showEvent(event)
        self._fit_columns()

    def _fit_columns(self) -> None:
        for column, name in enumerate(self.model_.columns):
            painter = self._plot if name == PLOT else self.itemDelegate()
            self.setItemDelegateForColumn(column, painter)
        self.resizeColumnsToContents()

    def _first_number(self) -> int:
        """Return a column that leads to every trial of its row."""
        columns = self.model_.columns
        return 0 if self.model_.groups.by or not columns else columns.index("n")

    def _show_order(self) -> None:
        """Let the header show by what the table is sorted."""
        name, descending = self.model_.sorted_by
        columns = self.model_.columns
        order = Qt.SortOrder.DescendingOrder if descending else _ASCENDING
        header = self.horizontalHeader()
        header.blockSignals(True)
        at = columns.index(name) if name in columns else -1
        header.setSortIndicator(at, order)
        header.blockSignals(False)

    def _announce(self) -> None:
        if not self._quiet:
            self.number_chosen.emit(self.chosen)

    def _set_headers(self) -> None:
        header = self.horizontalHeader()
        header.setSortIndicatorShown(True)
        header.setSectionsClickable(True)
        header.setSectionsMovable(True)
        header.setResizeContentsPrecision(_MEASURED_ROWS)
        header.sortIndicatorChanged.connect(self.model_.sort)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)


_ASCENDING: Final = Qt.SortOrder.AscendingOrder
