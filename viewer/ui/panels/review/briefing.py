"""What a reader is told before the first case of a session, and after the last."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from viewer.domain.reading import SessionSummary
from viewer.domain.telemetry import ASKED
from viewer.ui.widgets import theme
from viewer.ui.widgets.labels import caption, primary, selectable, title
from viewer.ui.widgets.plain_text import Label

if TYPE_CHECKING:
    from viewer.ui.panels.review.session import Asked

_WIDTH: Final = 600
"""Some 80 letters in a line."""
_DONE: Final = "Every case is locked.\nThe answers are in the store."
_IN_RUN: Final = (
    "Every case is locked.\nThe tables of run {} have the answers: Window ▸ Measure."
)
_TO_RETURN: Final = (
    "Every case is locked.\nReturn the answers to where the session comes from."
)
_TO_GO_ON: Final = (
    "Every case of part {} is locked.\nReturn the answers; part {} comes in another "
    "file."
)


class Briefing(QWidget):
    """A text, a check box for each consent that is asked, and one button."""

    agreed = Signal(object)
    """bool: the reader begins, and agrees to be recorded"""
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.reader, self.text = title(""), caption(), selectable()
        self.consent, self.consent_text = QCheckBox("I agree"), Label(wordWrap=True)
        self.record = QCheckBox("Record what is on screen")
        self.record_text = Label(ASKED, wordWrap=True)
        self.begin, self.back = primary("Begin"), QPushButton("Back")
        self.consent.toggled.connect(self.begin.setEnabled)
        self.begin.clicked.connect(lambda: self.agreed.emit(self.record.isChecked()))
        self.back.clicked.connect(self.left)
        self.begin.setAutoDefault(True)
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH)
        column = QVBoxLayout(inner)
        column.setSpacing(12)
        column.addStretch(1)
        buttons = QHBoxLayout()
        for button in (self.begin, self.back):
            buttons.addWidget(button)
        buttons.addStretch(1)
        for words in (self.title, self.reader, self.text, self.consent_text):
            column.addWidget(words)
        for widget in (self.consent, self.record_text, self.record):
            column.addWidget(widget)
        column.addLayout(buttons)
        column.addStretch(2)
        around = QHBoxLayout(self)
        around.addStretch(1)
        around.addWidget(inner, 1000)
        around.addStretch(1)

    def show_session(self, summary: SessionSummary, asked: "Asked") -> None:
        """Show what a session's reader is told, and what is still to be decided."""
        form, asks = summary.form, asked.consent
        self.title.setText(summary.title)
        self.reader.setText(f"read by {summary.reader}")
        self.text.setText(form.briefing)
        self.text.setVisible(bool(form.briefing))
        self.record.setChecked(False)
        for widget in (self.record, self.record_text):
            widget.setVisible(asked.telemetry)
        self.consent_text.setText(form.consent)
        self.consent.setChecked(False)
        self.consent.setVisible(asks)
        self.consent_text.setVisible(asks)
        self.begin.setEnabled(not asks)
        first = self.consent if asks else self.begin
        first.setFocus(Qt.FocusReason.OtherFocusReason)


class DonePage(QWidget):
    """Says that every case is locked, and what is to be done with the answers."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.export = Label(_DONE), primary("Return answers…")
        self.back = primary("Back to Review")
        self.words.setFont(theme.title_font(self.words.font()))
        self.words.setAlignment(Qt.AlignmentFlag.AlignCenter)
        column = QVBoxLayout(self)
        column.addStretch(1)
        column.addWidget(self.words)
        column.addSpacing(16)
        for button in (self.export, self.back):
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)

    def show_session(self, summary: SessionSummary) -> None:
        """Say where the answers of a session go."""
        self.words.setText(_told(summary))
        self.export.setVisible(summary.visiting)


def _told(summary: SessionSummary) -> str:
    """Return what becomes of the answers of a session whose cases are all locked."""
    if summary.goes_on:
        return _TO_GO_ON.format(summary.part, summary.part + 1)
    if summary.visiting:
        return _TO_RETURN
    return _DONE if summary.run is None else _IN_RUN.format(summary.run)
