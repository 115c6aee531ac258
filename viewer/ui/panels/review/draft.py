"""A text that begins as the words of the option chosen, and is edited."""

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from viewer.domain.form import DraftQuestion, Option
from viewer.domain.reading import Task
from viewer.domain.task_selection import changed_words
from viewer.ui.panels.review.choice import ChoiceBox
from viewer.ui.panels.review.question import QuestionBox
from viewer.ui.widgets.labels import caption

_LINES: Final = 4


class DraftBox(QuestionBox):
    """An editor with the words of the option chosen, and below it what was changed."""

    typed = True

    def __init__(
        self, question: DraftQuestion, choice: ChoiceBox, parent: QWidget | None = None
    ) -> None:
        super().__init__(question, parent)
        self._blank, self._choice = question.blank, choice
        self._painting = False
        self.line, self.changes = QPlainTextEdit(), caption()
        self.line.setTabChangesFocus(True)
        self.line.setFixedHeight(
            _LINES * self.line.fontMetrics().lineSpacing()
            + round(2 * self.line.document().documentMargin())
            + 2 * self.line.frameWidth()
        )
        self.line.setAccessibleName(question.text)
        self.heading.setText(f"{question.text} (C)")
        self.column.addWidget(self.line)
        self.column.addWidget(self.changes)
        self.line.textChanged.connect(self._read)
        choice.value_changed.connect(self._begin_anew)

    def _heading(self) -> str:
        return f"{super()._heading()} (C)"

    def show_task(self, task: Task) -> None:
        """Show the current text of a case's draft."""
        super().show_task(task)
        self.line.setPlaceholderText("" if self._choice.value else "Choose one first.")

    def write(self) -> None:
        """Put the cursor behind the last word."""
        self.line.setFocus(Qt.FocusReason.OtherFocusReason)
        self.line.moveCursor(self.line.textCursor().MoveOperation.End)

    def paint_value(self) -> None:
        """Show the words; the cursor stays where they are typed."""
        words = self.value if isinstance(self.value, str) else self._own
        if words != self._written:
            self._painting = True
            self.line.setPlainText(words)
            self._painting = False
        changed = changed_words(self._own, words) if self._own else ()
        self.changes.setText("   ".join(changed))
        self.changes.setVisible(bool(changed))

    @property
    def _written(self) -> str:
        return " ".join(self.line.toPlainText().split())

    @property
    def _own(self) -> str:
        """The words that the draft begins as."""
        option = self._choice.chosen
        return "" if option is None or self._is_blank(option) else option.text

    def _is_blank(self, option: Option) -> bool:
        return option.key in self._blank

    def _begin_anew(self, _: object) -> None:
        """Begin with the words of another option; what is written stays without any."""
        option = self._choice.chosen
        blank = option is not None and self._is_blank(option)
        self.line.setPlaceholderText("Write it here." if blank else "")
        if not blank:
            self.set_value(None)
        self.paint_value()
        if blank:
            self.write()

    def _read(self) -> None:
        if not self._painting:
            words = self._written
            self.set_value(None if words in {"", self._own} else words)
