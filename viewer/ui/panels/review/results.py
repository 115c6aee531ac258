"""Results of the reviews of a run: estimates with intervals, and reader agreement.

It names the models, so a reader gets here only on purpose.
"""

from math import isnan
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.counting import counted
from viewer.ui.widgets.labels import caption, primary, selectable, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.services.readings.agreeing import PairAgreement
    from viewer.services.readings.reviewing import ErrorCounts

_COLUMNS: Final = (
    "Model",
    "Finding",
    "Complete misses",
    "Reviewed",
    "Partial",
    "Position error",
    "Anatomy error",
    "Unsure",
    "Disputed",
)
_NUMBERS_FROM: Final = 2
_CAPTION: Final = (
    "Estimates of the misses of each kind, N·k/n, with their exact hypergeometric 95 % "
    "intervals; n of N complete misses were reviewed. Disputed cases count as the "
    "first reader classified them."
)


class ReviewResults(QWidget):
    """A table, a row for each model and finding, and a line for two readers each."""

    left = Signal()
    """Back to what there is to review."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heading, self.agreement = title(""), selectable()
        self.table = QTableWidget(0, len(_COLUMNS))
        self.table.setTabKeyNavigation(False)
        self.table.setHorizontalHeaderLabels(_COLUMNS)
        self.table.setAccessibleName("What was found")
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        back = primary("Back to Review")
        back.clicked.connect(self.left)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(12)
        for widget in (self.heading, self.table, caption(_CAPTION), self.agreement):
            column.addWidget(widget, 1 if widget is self.table else 0)
        column.addWidget(back, 0, Qt.AlignmentFlag.AlignRight)

    def show_results(
        self,
        run: int,
        counts: "Sequence[ErrorCounts]",
        pairs: "Sequence[PairAgreement]",
    ) -> None:
        """Show the readers' verdicts on a run's misses."""
        self.heading.setText(f"Error review of run {run}")
        self.table.setRowCount(len(counts))
        for row, one in enumerate(counts):
            for column, words in enumerate(row_words(one)):
                item = QTableWidgetItem(words)
                if column >= _NUMBERS_FROM:
                    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
                    item.setTextAlignment(right)
                self.table.setItem(row, column, item)
        self.agreement.setText(
            "\n".join(map(pair_words, pairs))
            or "One reader so far: nothing to compare."
        )


def row_words(counts: "ErrorCounts") -> tuple[str, ...]:
    """Return a row of the table as text."""
    return (
        counts.model,
        counts.finding,
        str(counts.misses),
        reviewed_words(counts),
        str(counts.found["partial"]),
        estimate_words(counts, "position"),
        estimate_words(counts, "anatomy"),
        str(counts.found["unsure"]),
        str(counts.disputed),
    )


def reviewed_words(counts: "ErrorCounts") -> str:
    """Return how many misses were reviewed, and of how many drawn until all are."""
    if not counts.unread:
        return str(counts.reviewed)
    return f"{counts.reviewed} of {counts.reviewed + counts.unread} drawn: not finished"


def estimate_words(counts: "ErrorCounts", kind: str) -> str:
    """Return an estimate such as ``21.6 (18.0 %), 13 to 34``; a dash unreviewed."""
    estimate = counts.estimate(kind)
    if estimate is None:
        return "–"
    share = f"{100 * estimate.share:.1f} %"
    return f"{estimate.count:.1f} ({share}), {estimate.low} to {estimate.high}"


def pair_words(pair: "PairAgreement") -> str:
    """Return how far two readers agree."""
    readers = f"{pair.first} and {pair.second}"
    if not pair.cases:
        return f"{readers} reviewed no case in common."
    kappa, ends = pair.kappa.value, pair.kappa.interval
    value = "not defined" if isnan(kappa) else f"{kappa:.2f}"
    if not isnan(ends.low):
        value += f" (95 % interval {ends.low:.2f} to {ends.high:.2f})"
    same, cases = 100 * pair.percent.value, counted(pair.cases, "miss", "misses")
    return f"{readers}: Cohen's κ {value}, the same in {same:.0f} % of {cases}."
