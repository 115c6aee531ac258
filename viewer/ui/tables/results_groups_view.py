"""Groups of predictions on the screen: each number leads to the trials it counts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import (
    QItemSelectionModel,
    QObject,
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
)
from PySide6.QtWidgets import (
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from viewer.domain.report import Table
from viewer.services.inspecting.predictions.view import By, ResultsView, natural
from viewer.ui.tables.columns import shown
from viewer.ui.tables.number_table import (
    AIR,
    NOWHERE,
    TEXT_ROLES,
    Index,
    NumberModel,
    NumberView,
)
from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import in_role

_PLOT_WIDTH: Final = 120
_MEASURED_ROWS: Final = 200
"""Rows whose texts give a column its width; what is wider is cut short with dots."""
_WATERMARK_SHARE: Final = 0.10


@dataclass(frozen=True, slots=True)
class NumberChosen:
    """The user selected a number: a group of the view, and a column's name."""

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
        """Paint a row's rate; nothing if it has none."""
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
                    for v in (rate, low, high) if v is not None]  # fmt: skip
            painter.setPen(QPen(QColor(colours.text), 1.5))
            painter.drawPolyline(ends[1:])
            painter.setBrush(QColor(colours.accent))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawEllipse(ends[0], 4, 4)
        painter.restore()


class GroupsView(NumberView):
    """A table of any length; arrows walk over its numbers."""

    number_chosen = Signal(object)
    """NumberChosen, or None if there is no row"""
    cases_wanted = Signal()
    """The user wants the trials of the number, with Enter or a double click."""

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
        """The number with the keyboard focus."""
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
        fits = (before.by, before.wanted) == asked and not before.lacks_intervals
        if chosen is None or not fits:
            self._choose_painters()
            self.fit_columns()
        self.choose(key, chosen.column if chosen else "")
        self._quiet = False
        after = self.chosen
        if (
            chosen is None
            or after is None
            or (before.by, before.wanted) != asked
            or before.tally(chosen.group) != groups.tally(after.group)
        ):
            self.number_chosen.emit(after)

    def choose(self, key: tuple[str, ...] | None, column: str) -> None:
        """Make a group's number the current one; the first if it is not there."""
        row = None if key is None else self.model_.row_of(key)
        columns = self.model_.columns
        at = columns.index(column) if column in columns else self._first_number()
        flags = QItemSelectionModel.SelectionFlag
        index = self.model_.index(row or 0, at)
        self.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.scrollTo(index)

    def sort_by(self, column: str, *, descending: bool) -> None:
        """Restore the order of an earlier session."""
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
        """Draw the table, with a watermark if some of its trials are unsettled."""
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

    def _choose_painters(self) -> None:
        for column, name in enumerate(self.model_.columns):
            painter = self._plot if name == PLOT else self.itemDelegate()
            self.setItemDelegateForColumn(column, painter)

    def _first_number(self) -> int:
        """Return a column that leads to every trial of its row."""
        columns = self.model_.columns
        return 0 if self.model_.groups.by or not columns else columns.index("n")

    def _show_order(self) -> None:
        """Show the sort column in the header."""
        name, descending = self.model_.sorted_by
        columns = self.model_.columns
        order = Qt.SortOrder.DescendingOrder if descending else _ASCENDING
        header = self.horizontalHeader()
        # The indicator's signal would sort the table again.
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
    *("k", "n", "hit_rate", "ci_low", "ci_high", PLOT),
    *("n_planned", "n_failed", "n_refused", "n_unparsed", "n_excluded", "n_pending"),
    *("answered_rate", "n_scored", _PARTIAL),
)
"""The numbers of a group as they stand in the table."""
_ROLES: Final = (
    *TEXT_ROLES,
    ESTIMATE_ROLE,
    Qt.ItemDataRole.TextAlignmentRole,
    Qt.ItemDataRole.AccessibleTextRole,
)
_INTERVAL: Final = frozenset({"ci_low", "ci_high", PLOT})
"""The columns whose cells name the interval's method when pointed at."""


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
        """Replace the groups; keep the order."""
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
        """Sort by a column's values; missing values come last in both directions."""
        name = self.columns[column] if 0 <= column < len(self.columns) else ""
        name = "hit_rate" if name == PLOT else name
        self.layoutAboutToBeChanged.emit()
        persistent = self.persistentIndexList()
        rows = [self.group_at(index.row()) for index in persistent]
        self.sorted_by = name, order is Qt.SortOrder.DescendingOrder
        self._arrange()
        place = np.argsort(self._order)
        moved = [
            self.index(int(place[row]), index.column())
            for row, index in zip(rows, persistent, strict=True)
        ]
        # Selection and current cell are such indexes; they follow their groups.
        self.changePersistentIndexList(persistent, moved)
        self.layoutChanged.emit()

    def group_at(self, row: int) -> int:
        """Return the index of the group in a row of the table."""
        return int(self._order[row])

    def row_of(self, key: tuple[str, ...]) -> int | None:
        """Return the table's row of a group, None if it is not there."""
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
        # NaN comes last in both directions: argsort puts it there, and -NaN is NaN.
        order = np.argsort(-values if descending else values, kind="stable")
        self._order = order

    def _sortable(self, name: str) -> npt.NDArray[np.float64]:
        """Return numbers that sort like a column, (groups,)."""
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
        """Return a cell's text or alignment, or the data its row is painted from."""
        if role not in _ROLES or not index.isValid():
            return None  # at once: Qt asks for eight roles of every cell it measures
        name, group = self.columns[index.column()], self.group_at(index.row())
        if role == ESTIMATE_ROLE and name == PLOT:
            return self._estimate(group)
        if role == Qt.ItemDataRole.ToolTipRole and name in _INTERVAL:
            return self._value("ci_method", group)
        if role in TEXT_ROLES:
            return "" if name == PLOT else in_role(self._shown(name, group), role)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            method = self._value("ci_method", group) if name in _INTERVAL else None
            tip = f"{self.header(name)}: {self._shown(name, group)}"
            return tip if method is None else f"{tip} ({method})"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(name)
        return None

    def _shown(self, name: str, group: int) -> str:
        kind = "hit_rate" if name in _INTERVAL else name
        return shown(kind, self._value(name, group), self.groups.words)

    def _value(self, name: str, group: int) -> object:
        name = "hit_rate" if name == PLOT else name
        if group not in self._records:  # painting goes row by row
            if len(self._records) >= _KEPT:
                self._records.clear()
            record = self.groups.record(group)
            self._records[group] = dict(zip(self.groups.header, record, strict=True))
        return self._records[group][name]

    def _estimate(self, group: int) -> tuple[object, ...]:
        names = ("hit_rate", "ci_low", "ci_high")
        return tuple(self._value(name, group) for name in names)

    def groups_in_order(self) -> list[int]:
        """Return the groups in the order of the table."""
        return [int(group) for group in self._order]
