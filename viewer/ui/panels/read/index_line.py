"""Progress of indexing, with Cancel."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.counting import counted
from viewer.services.viewing.open_case import Indexed, IndexState
from viewer.ui.panels.read.hanging import CaseRows, derived_count
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.lighter import ProgressBar


class IndexLine(QWidget):
    """Hidden unless files are being indexed."""

    cancel_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = caption()
        self.bar = ProgressBar()
        self.bar.setTextVisible(False)
        self.cancel = QPushButton("Cancel")
        self.cancel.setToolTip("Keep what was found so far (Esc)")
        self.cancel.clicked.connect(self.cancel_wanted)
        row, column = QHBoxLayout(), QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.words, 1)
        row.addWidget(self.cancel)
        column.addLayout(row)
        column.addWidget(self.bar)
        self.hide()

    def start(self, name: str) -> None:
        """Show that files are being listed."""
        self.words.setText(f"Searching {name}…")
        self.bar.setRange(0, 0)
        self.show()

    def follow(self, event: Indexed) -> None:
        """Show how many files have been indexed."""
        known = f"{event.done:,} of {event.total:,} files"
        self.words.setText(known if event.total else "Searching for more files…")
        self.bar.setRange(0, event.total)
        self.bar.setValue(event.done)


def words_of(event: Indexed, rows: Sequence[CaseRows]) -> str:
    """Return how much is open, and how long indexing took or where it stopped."""
    images = sum(
        len(stack.images)
        for case in rows
        for study in case.studies
        for stack in study.stacks
    )
    parts = [counted(len(rows), "case"), counted(images, "image")]
    if event.state is IndexState.CANCELLED:
        done = f"{event.done:,} of {event.total:,} files"
        parts.append(f"cancelled after {done}, what was found is kept")
    else:
        parts.append(f"indexed in {event.seconds:.1f} s")
    if derived := derived_count(event.cases):
        parts.append(f"{derived} derived series not listed")
    return " · ".join(parts)
