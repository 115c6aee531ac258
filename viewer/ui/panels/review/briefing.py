"""What a reader is told, and agrees to, before the first case of a session."""

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from viewer.domain.reading import SessionSummary
from viewer.ui.widgets.labels import caption, primary, selectable, title
from viewer.ui.widgets.plain_text import Label

_WIDTH: Final = 600
"""Some 80 letters in a line."""


class Briefing(QWidget):
    """A text, a check box where the reader has to agree, and one button."""

    agreed = Signal()
    """The reader has read it, and agrees if that is asked."""
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title, self.reader, self.text = title(""), caption(), selectable()
        self.consent, self.consent_text = QCheckBox("I agree"), Label(wordWrap=True)
        self.begin, self.back = primary("Begin"), QPushButton("Back")
        self.consent.toggled.connect(self.begin.setEnabled)
        self.begin.clicked.connect(self.agreed)
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
        column.addWidget(self.consent)
        column.addLayout(buttons)
        column.addStretch(2)
        around = QHBoxLayout(self)
        around.addStretch(1)
        around.addWidget(inner, 1000)
        around.addStretch(1)

    def show_session(self, summary: SessionSummary, *, agreed: bool) -> None:
        """Show what a session's reader is told; who ``agreed`` is not asked again."""
        form = summary.form
        asks = bool(form.consent) and not agreed
        self.title.setText(summary.title)
        self.reader.setText(f"read by {summary.reader}")
        self.text.setText(form.briefing)
        self.consent_text.setText(form.consent)
        self.consent.setChecked(False)
        self.consent.setVisible(asks)
        self.consent_text.setVisible(asks)
        self.begin.setEnabled(not asks)
        first = self.consent if asks else self.begin
        first.setFocus(Qt.FocusReason.OtherFocusReason)
