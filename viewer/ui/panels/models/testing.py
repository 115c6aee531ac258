"""Test results of the chosen model's endpoint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.probe import ProbeRow, Verdict
from viewer.ui.widgets.icons import icon
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.lighter import ProgressBar
from viewer.ui.widgets.plain_text import as_tip

_HEADERS: Final = ("Ability", "Verdict", "What was seen")
_SIGNS: Final[Mapping[Verdict, str]] = {
    Verdict.YES: "check-circle-outline",
    Verdict.NO: "close-circle-outline",
    Verdict.UNKNOWN: "help-circle-outline",
}
_BEFORE: Final = (
    "A test finds out what the server can really do: images, seeds, log-probabilities, "
    "JSON schemas, and which parameters it rejects. It asks a dozen or so short "
    "questions about images made for the test."
)
_UNSAVED: Final = "Save the model first; a test uses its saved settings."


@dataclass(frozen=True, slots=True)
class ProbeWanted:
    """The user wants to test this model's endpoint."""

    name: str


@dataclass(frozen=True, slots=True)
class StopProbeWanted:
    """The user wants to stop the test of this model's endpoint."""

    name: str


class ModelTest(QWidget):
    """The button Test and, after a test, one row for each capability."""

    test_wanted = Signal(object)
    """ProbeWanted"""
    stop_wanted = Signal(object)
    """StopProbeWanted"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = ""
        self.words, self.test = caption(_BEFORE), QPushButton("Test")
        self.stop = QPushButton("Cancel")
        self.bar = ProgressBar(minimum=0, maximum=0, textVisible=False)
        self.table = _table()
        row = QHBoxLayout()
        row.addWidget(self.words, 1)
        for button in (self.test, self.stop):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self.bar)
        column.addWidget(self.table, 1)
        keep_room(self.table)
        self.test.clicked.connect(self.ask_to_test)
        self.stop.clicked.connect(
            lambda: self.stop_wanted.emit(StopProbeWanted(self._name))
        )
        self.show_found("", (), running=False, saved=False)

    def ask_to_test(self) -> None:
        """Request a test, if the model is saved and none is running."""
        if self._name and self.test.isEnabled():
            self.test_wanted.emit(ProbeWanted(self._name))

    def show_found(
        self, name: str, rows: Sequence[ProbeRow], *, running: bool, saved: bool
    ) -> None:
        """Show a model's endpoint test results, and whether a test is running."""
        self._name = name
        self.test.setText(f"Test {name}".strip())
        self.test.setEnabled(saved and not running)
        self.test.setToolTip(as_tip("" if saved else _UNSAVED))
        self.test.setVisible(not running)
        self.stop.setVisible(running)
        self.words.setText(_words(rows, running=running, saved=saved))
        self.bar.setVisible(running)
        self.table.setVisible(bool(rows))
        self.table.setRowCount(len(rows))
        for at, row in enumerate(rows):
            self._show_row(at, row)
        self.table.resizeRowsToContents()

    def _show_row(self, at: int, row: ProbeRow) -> None:
        words = (row.capability, row.verdict.value, row.sentence)
        items = [QTableWidgetItem(text) for text in words]
        items[1].setIcon(icon(_SIGNS[row.verdict]))
        for column, item in enumerate(items):
            self.table.setItem(at, column, item)


def keep_room(widget: QWidget) -> None:
    """Keep a widget's space while it is hidden, so that others do not move."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


def _words(rows: Sequence[ProbeRow], *, running: bool, saved: bool) -> str:
    if running:
        return "Asking short questions…"
    if not saved:
        return _UNSAVED
    if not rows:
        return _BEFORE
    able = sum(row.verdict is Verdict.YES for row in rows)
    return f"{able} of {len(rows)} work."


def _table() -> QTableWidget:
    table = QTableWidget(0, len(_HEADERS))
    table.setAccessibleName("What the server can do")
    table.setHorizontalHeaderLabels(_HEADERS)
    table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setShowGrid(False)
    table.setTabKeyNavigation(False)
    table.verticalHeader().hide()
    header, modes = table.horizontalHeader(), QHeaderView.ResizeMode
    header.setHighlightSections(False)
    header.setDefaultAlignment(
        Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    )
    for column, mode in enumerate(
        (modes.ResizeToContents, modes.ResizeToContents, modes.Stretch)
    ):
        header.setSectionResizeMode(column, mode)
    table.verticalHeader().setSectionResizeMode(modes.ResizeToContents)
    return table
