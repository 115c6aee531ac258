"""What the widgets of all questions of a form have in common."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from viewer.domain.escapes import visible
from viewer.domain.form import Question
from viewer.domain.form_values import Value
from viewer.domain.reading import Task
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import Label

GAP: Final = 8
TEXT_WIDTH: Final = 264
"""Pixels for the words of an option, which a button does not wrap itself."""


@dataclass(frozen=True, eq=False)
class ValueChanged:
    """The reader answered a question, or cleared the answer (None)."""

    question: str
    value: Value | None


class QuestionBox(QWidget):
    """A question, its help, and below them the widgets for its answer.

    ``show_value`` shows what is saved without a signal; ``value_changed`` reports
    what a reader does.
    """

    typed = False
    """Whether its answer is typed, and kept once nothing more is."""
    value_changed = Signal(object)
    """ValueChanged"""
    turned_to = Signal()
    """The reader turned to this question without answering it."""

    def __init__(self, question: Question, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.name = question.id
        self.required = question.required
        self._value: Value | None = None
        self._text = self._own_text = question.text
        self._asked = False
        self.heading = Label(question.text)
        self.heading.setWordWrap(True)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(GAP // 2)
        self.column.addWidget(self.heading)
        if question.help:
            self.column.addWidget(caption(question.help))

    @property
    def value(self) -> Value | None:
        """The answer to the question, None without one."""
        return self._value

    def show_task(self, task: Task) -> None:
        """Show another case with its saved answer."""
        self._value = task.values.get(self.name)
        self._text = task.texts.get(self.name, self._own_text)
        self.show_asked(asked=self._asked)
        self.paint_value()

    def show_asked(self, *, asked: bool) -> None:
        """Show whether keys go to this question."""
        self._asked = asked
        self.heading.setText(self._heading())
        font = QFont(self.heading.font())
        font.setBold(asked)
        self.heading.setFont(font)

    def _heading(self) -> str:
        return self._text

    def words_of(self, value: Value | None) -> str:
        """Return an answer to the question in words."""
        return str(value)

    def paint_value(self) -> None:
        """Show the value; each type of question has its own way."""

    def take_key(self, event: QKeyEvent) -> bool:  # noqa: ARG002 - for other types
        """Answer by a key; False if the key means nothing to this question."""
        return False

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Turn to the question on a click beside its buttons."""
        self.turned_to.emit()
        super().mousePressEvent(event)

    def enter(self, *, take_keyboard: bool) -> None:
        """Become the current question; text fields take the keyboard."""

    def choose(self, value: Value) -> None:
        """Answer with one of the options."""
        self.set_value(value)

    def set_value(self, value: Value | None) -> None:
        """Answer as a reader would."""
        if value != self._value:
            self._value = value
            self.paint_value()
            self.value_changed.emit(ValueChanged(self.name, value))


def wrapped(words: str, metrics: QFontMetrics) -> str:
    """Return the text of a button in lines that fit; it may hold any character."""
    lines = [""]
    for word in visible(words).replace("&", "&&").split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1].strip() and metrics.horizontalAdvance(longer) > TEXT_WIDTH:
            lines.append(word)
        else:
            lines[-1] = longer
    return "\n".join(lines)
