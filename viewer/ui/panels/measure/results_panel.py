"""A run's results: filters, chart and table over the same rows."""

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.escapes import visible
from viewer.services.exporting.export_table import TABLE_FILES
from viewer.services.inspecting.runs import RunResults
from viewer.ui.panels.charts.chart import ChartPanel
from viewer.ui.tables.chart_bars import bar_chart
from viewer.ui.tables.columns import header_of, shown
from viewer.ui.tables.endings import endings_figure
from viewer.ui.tables.results_model import EMPTY
from viewer.ui.tables.results_view import ResultsView
from viewer.ui.widgets import theme
from viewer.ui.widgets.file_choice import choose_to_write
from viewer.ui.widgets.lighter import Splitter
from viewer.ui.widgets.long_choice import LongChoice
from viewer.ui.widgets.plain_text import Label

_FILTERS: Final = ("finding", "view", "condition", "model")
_LETTERS: Final = 9
"""So many of a filter are seen in the smallest window."""


class ResultsPanel(QWidget):
    """Chart above, table below, and what both of them show chosen over them."""

    row_chosen = Signal(object)
    """RowKey of the current row, or None"""
    save_wanted = Signal(object)
    """Path of the file to write the table to"""

    script_wanted = Signal()
    """The user wants the table as a Python script"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown = RunResults(EMPTY)
        self.table = ResultsView()
        self.chart = ChartPanel()
        self.filters = {column: LongChoice() for column in _FILTERS}
        for column, choice in self.filters.items():
            choice.setAccessibleName(f"Filter by {column}")
            choice.setMinimumContentsLength(_LETTERS)
        self.export = QPushButton("Export table…")
        self.export.setToolTip(
            "Save results.csv: every row of the run, whatever the filters"
        )
        self.copy = QPushButton("Copy table")
        self.copy.setToolTip(
            "Copy every row shown, with its header, to paste into a sheet; Ctrl+C"
            " copies the selected rows"
        )
        self._title = Label()
        self._title.setFont(theme.title_font(self.font()))
        self.doubt = Label(wordWrap=True)
        self.doubt.setForegroundRole(QPalette.ColorRole.BrightText)
        self.doubt.hide()
        self.table.row_chosen.connect(self.row_chosen)
        self.export.clicked.connect(self.ask_where_to_export)
        self.copy.clicked.connect(self.table.copy_all)
        self.script = self.table.offer("Copy as Python script", self.script_wanted.emit)
        for combo in self.filters.values():
            combo.currentIndexChanged.connect(self._filter)
        self._lay_out()

    @property
    def wanted(self) -> dict[str, str]:
        """The filter of each column, "" for none."""
        return {name: combo.currentData() or "" for name, combo in self.filters.items()}

    def show_title(self, text: str) -> None:
        """Show the run's name, or what is under way."""
        self._title.setText(text)

    def show_waiting(self, text: str) -> None:
        """Show what is under way, and clear the previous run."""
        self.show_title(text)
        self._body.hide()
        for one in (self.copy, self.export, self.script):
            one.setEnabled(False)

    def show_doubt(self, sentence: str) -> None:
        """Show what is wrong with the verdicts that the rows count; "" for nothing."""
        self.doubt.setText(sentence)
        self.doubt.setVisible(bool(sentence))

    def show_results(self, results: RunResults) -> None:
        """Show a run's results, in the words of its study."""
        if results is self.shown:
            self.row_chosen.emit(self.table.key)  # its trials may be shown no longer
            return
        self.shown, table, words = results, results.table, results.words
        self.table.show_table(table, words)
        for column, combo in self.filters.items():
            self._fill(column, combo)
        for one in (self.copy, self.export, self.script):
            one.setEnabled(bool(table.rows))
        self._filter()
        self._body.show()

    def ask_where_to_export(self) -> None:
        """Ask for the file to write."""
        choose_to_write(
            self, "Export table", "results.csv", TABLE_FILES, self.save_wanted.emit
        )

    def _fill(self, column: str, combo: QComboBox) -> None:
        """Offer a column's values; keep the choice, else all views, the first grid."""
        values = self.table.results.distinct(column)
        words = self.shown.words
        first = {"view": "all", "condition": values[0] if values else ""}
        chosen = combo.currentData() if combo.count() else None
        if chosen is None or chosen not in {"", *values}:
            chosen = first.get(column, "")
        combo.blockSignals(True)
        combo.clear()
        name = header_of(column, words).lower()
        combo.setAccessibleName(f"Filter by {name}")
        combo.addItem(f"Every {name}", "")
        for value in values:
            combo.addItem(visible(shown(column, value, words)), value)
        combo.setCurrentIndex(max(0, combo.findData(chosen)))
        combo.blockSignals(False)

    def _filter(self) -> None:
        self.table.show_only(self.wanted)
        shown_, wanted = self.shown, self.wanted
        if shown_.made:
            self.chart.show_words(shown_.made)
        elif shown_.unjudged:
            self.chart.show_chart(endings_figure(shown_.unjudged, wanted, shown_.words))
        else:
            self.chart.show_chart(bar_chart(shown_.table, wanted, shown_.words))

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self._title, 1)
        head.addWidget(self.copy)
        head.addWidget(self.export)
        choices = QHBoxLayout()
        for combo in self.filters.values():
            choices.addWidget(combo, 1)
        self._body = both = Splitter(Qt.Orientation.Vertical)
        policy = both.sizePolicy()
        # Hidden while a run is read, it keeps its place, and nothing around it moves.
        policy.setRetainSizeWhenHidden(True)
        both.setSizePolicy(policy)
        both.addWidget(self.chart)
        both.addWidget(self.table)
        both.setSizes([360, 240])
        both.setChildrenCollapsible(False)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(8)
        box.addLayout(head)
        box.addWidget(self.doubt)
        box.addLayout(choices)
        box.addWidget(both, 1)
