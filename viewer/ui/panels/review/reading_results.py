"""How far readers agree, and what a model's answers did to them.

It tells how others did, so a reader gets here only from a finished session.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.domain.reading import SessionId
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.panels.review.aid import ARMS
from viewer.ui.widgets.labels import caption, primary, title
from viewer.ui.widgets.plain_text import as_tip
from viewer.ui.widgets.scrolled import stacked

_Rows = Sequence[Mapping[str, object]]
_ABOUT_AIDED: Final = (
    "Gain and automation bias are differences of right answers, paired by case; "
    "over-trust and under-trust are shares of n cases. In brackets 95 % intervals "
    "by patient; – is not defined."
)
_TABLES: Final = {
    "aided": ("With and without the model", _ABOUT_AIDED),
    "agreement": (
        "Agreement of scores and choices",
        "Over the cases that at least two readers have locked.",
    ),
    "criteria": (
        "Agreement of validations",
        "Over the cases that both readers have locked; in brackets 95 % intervals.",
    ),
    "masks": (
        "Agreement of outlines",
        "The mean Dice of the outlines that both readers drew, with its 95 % interval.",
    ),
    "readers": (
        "Readers",
        "All sessions of one name are counted as those of one reader.",
    ),
}
_HEADERS: Final = {
    "shown_wrong": "Shown wrong",
    "over_trust": "Over-trust",
    "over_trust_n": "n",
    "under_trust": "Under-trust",
    "under_trust_n": "n",
    "rated_twice": "Cases",
    "alpha": "Krippendorff's α",
    "ac": "Gwet's AC",
    "kappas": "Cohen's κ",
    "kappa": "Cohen's κ",
    "same": "Same verdict",
    "title": "What was read",
    "opened_at": "Opened",
}
_NONE: Final = (
    "There is nothing to compare yet: no second reader has locked the same cases, and "
    "no model's answers were shown."
)


class ReadingResults(QWidget):
    """A table of each kind that the session's work has."""

    left = Signal()
    """Back to what there is to review."""

    def __init__(self, store: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._background_tasks = BackgroundTasks(self)
        self.heading, self.words = title(""), caption()
        self.back = primary("Back to Review")
        self.back.clicked.connect(self.left)
        self.parts = {name: _Part(*words) for name, words in _TABLES.items()}
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(12)
        column.addWidget(self.heading)
        column.addWidget(self.words)
        column.addWidget(stacked(*self.parts.values()), 1)
        column.addWidget(self.back, 0, Qt.AlignmentFlag.AlignRight)

    def open(self, session: SessionId, words: str) -> None:
        """Compute the results of all readers of a session's work, and show them."""
        from viewer.services.readings.result_rows import result_rows

        self.heading.setText(words)
        self._show({})
        self._say("Computing the results…")
        self._background_tasks.start(
            "read", lambda: result_rows(self._store, session), self._show, self._fail
        )

    def _show(self, tables: Mapping[str, _Rows]) -> None:
        for name, part in self.parts.items():
            part.show_rows(tables.get(name, ()))
        compared = any(rows for name, rows in tables.items() if name != "readers")
        self._say("" if compared else _NONE)

    def _say(self, words: str) -> None:
        self.words.setText(words)
        self.words.setVisible(bool(words))

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self._say(f"{error.what} {error.how}")


class _Part(QWidget):
    """A table under its title; hidden without a row."""

    def __init__(self, words: str, about: str) -> None:
        super().__init__()
        self.table = QTableWidget()
        self.table.setTabKeyNavigation(False)
        self.table.setAccessibleName(words)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.setSizeAdjustPolicy(QTableWidget.SizeAdjustPolicy.AdjustToContents)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for widget in (title(words), self.table, caption(about)):
            column.addWidget(widget)
        self.hide()

    def show_rows(self, rows: _Rows) -> None:
        """Show rows, whose columns are those of the first one."""
        self.setVisible(bool(rows))
        columns = list(rows[0]) if rows else []
        self.table.setColumnCount(len(columns))
        self.table.setHorizontalHeaderLabels([_header(name) for name in columns])
        self.table.setRowCount(len(rows))
        for number, row in enumerate(rows):
            for place, (name, value) in enumerate(row.items()):
                item = QTableWidgetItem(_words(name, value))
                item.setToolTip(as_tip(item.text()))
                self.table.setItem(number, place, item)


def _header(name: str) -> str:
    return _HEADERS.get(name, name.replace("_", " ").capitalize())


def _words(name: str, value: object) -> str:
    if name == "opened_at":
        return f"{datetime.fromisoformat(str(value)).astimezone():%Y-%m-%d %H:%M}"
    if value is None or value == "-":
        return "–"
    if isinstance(value, float):
        return f"{value:.3f}"
    return ARMS.get(str(value), str(value))
