"""What every question of a form has in common on the screen."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from viewer.domain.form import Question
from viewer.domain.form_values import Value
from viewer.domain.reading import Task
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import Label

GAP: Final = 8


@dataclass(frozen=True, eq=False)
class ValueChanged:
    """A reader answered a question, or took the answer away (None)."""

    question: str
    value: Value | None


class QuestionBox(QWidget):
    """A question, its help, and below them what it is answered with.

    ``show_value`` shows what is saved without telling of it; ``value_changed`` tells
    of what a reader does.
    """

    value_changed = Signal(object)
    """ValueChanged"""

    def __init__(self, question: Question, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = question.id
        self.required = question.required
        self._value: Value | None = None
        self.heading = Label(question.text)
        self.heading.setWordWrap(True)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(GAP // 2)
        self.column.addWidget(self.heading)
        if question.help:
            self.column.addWidget(caption(question.help))
        self.show_asked(asked=False)

    @property
    def value(self) -> Value | None:
        """What the question is answered with, None without an answer."""
        return self._value

    def show_task(self, task: Task) -> None:
        """Show another case: what is saved of it."""
        self._value = task.values.get(self.name)
        self.paint_value()

    def show_asked(self, *, asked: bool) -> None:
        """Show that keys go to this question, or to another."""
        font = QFont(self.heading.font())
        font.setBold(asked)
        self.heading.setFont(font)

    def paint_value(self) -> None:
        """Show the value; each type of question has its own way."""

    def take_key(self, event: QKeyEvent) -> bool:  # noqa: ARG002 - for other types
        """Answer by a key; False if the key means nothing to this question."""
        return False

    def enter(self, *, take_keyboard: bool) -> None:
        """Begin to be asked; what is typed in takes the keyboard where it may."""

    def set_value(self, value: Value | None) -> None:
        """Answer as a reader does."""
        if value != self._value:
            self._value = value
            self.paint_value()
            self.value_changed.emit(ValueChanged(self.name, value))
