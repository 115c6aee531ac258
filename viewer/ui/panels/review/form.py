"""The questions of a form in a column; keys go to the current one."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QLineEdit, QVBoxLayout, QWidget

from viewer.domain.answer import MaskAnswer
from viewer.domain.form import (
    ChecklistQuestion,
    ChoiceQuestion,
    DraftQuestion,
    FlagQuestion,
    Form,
    LikertQuestion,
    PlaceKind,
    PlaceQuestion,
    Question,
    RankedTextQuestion,
    RevealedChoiceQuestion,
    TextQuestion,
    first_id,
)
from viewer.domain.form_values import Flagged, Values, problem_with
from viewer.domain.reading import Task, TaskState
from viewer.domain.styles import ink_on
from viewer.ui.panels.review.choice import ChecklistBox, ChoiceBox, LikertBox
from viewer.ui.panels.review.draft import DraftBox
from viewer.ui.panels.review.image import ReviewImage
from viewer.ui.panels.review.place import PlaceBox
from viewer.ui.panels.review.question import QuestionBox, ValueChanged
from viewer.ui.panels.review.ranking import RankingBox
from viewer.ui.widgets import theme
from viewer.ui.widgets.labels import link

_SPACE: Final = 12


class ReviewForm(QWidget):
    """Shows the stages of a form up to the current one.

    What is locked can be read and not changed.
    """

    value_changed = Signal(object)
    """ValueChanged"""
    asked_changed = Signal(QWidget)
    """QWidget: what the keys go to now, to be scrolled to"""

    def __init__(self, image: ReviewImage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._image = image
        self._form: Form | None = None
        self._stages: tuple[tuple[Question, ...], ...] = ()
        self._stage = 0
        self._open = False
        self.boxes: dict[str, QuestionBox] = {}
        self.asked: QuestionBox | None = None
        self._rated: QuestionBox | None = None
        """What was just answered; what is asked has moved on from it."""
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(_SPACE)

    def show_form(self, form: Form) -> None:
        """Make a box for each question of a form; none is asked before a case."""
        if form == self._form:
            return
        self.ask(None)
        self._stages, self._open = (), False
        for box in self.boxes.values():
            self._column.removeWidget(box)
            box.setParent(None)
            box.deleteLater()
        self._form = form
        self.boxes = {}
        for question in form.questions:
            box = _box_of(question, self._image, self.boxes)
            self.boxes[question.id] = box
            self._column.addWidget(box)
            box.value_changed.connect(self._change)
            if isinstance(box, TextBox | DraftBox):
                box.line.installEventFilter(self)
            else:
                box.turned_to.connect(partial(self.ask, box, enter=False))

    def show_task(self, task: Task) -> None:
        """Show a case with its saved answers and its next question."""
        if self._form is None:
            return
        self._stages = stages = self._form.narrowed(task.asked).stages
        unsure = task.state is TaskState.UNRESOLVED
        self._stage = min(task.stage, len(stages) - 1)
        self._open = unsure or task.stage < len(stages)
        self.ask(None)
        stage_of = {q.id: n for n, stage in enumerate(stages) for q in stage}
        for name, box in self.boxes.items():
            number = stage_of.get(name)
            box.setEnabled(self._open and number == self._stage)
            if number is not None:
                box.show_task(task)
            box.setVisible(number is not None and number <= self._stage)
        self.ask_next()
        self._show_beside()

    @property
    def values(self) -> Values:
        """The answers to the questions shown."""
        asked = (question.id for stage in self._stages for question in stage)
        shown = ((name, self.boxes[name].value) for name in asked)
        return {name: value for name, value in shown if value is not None}

    @property
    def stage(self) -> tuple[Question, ...]:
        """The questions of the current stage; none once all are locked."""
        if self._form is None or not self._open:
            return ()
        return self._stages[self._stage]

    def missing(self, task: Task) -> str:
        """Return in a sentence what keeps the stage from being locked, or ""."""
        values = self.values
        for question in self.stage:
            options = task.options.get(question.id, ())
            value = values.get(question.id)
            problem = problem_with(question, value, task.canvas, options)
            if problem:
                return f"{question.text} {problem}"
        return ""

    def ask(self, box: QuestionBox | None, *, enter: bool = True) -> None:
        """Direct keys to a question, or to none.

        Without ``enter`` the keyboard stays where the reader put it.
        """
        self._rated = None
        if box is self.asked:
            return
        if self.asked is not None:
            self.asked.show_asked(asked=False)
        self.asked = box
        if isinstance(box, PlaceBox):
            for other in self.boxes.values():
                if isinstance(other, PlaceBox) and other is not box:
                    other.release()
        if enter:
            self._image.setFocus(Qt.FocusReason.OtherFocusReason)
        if box is not None:
            box.show_asked(asked=True)
            box.enter(take_keyboard=enter)
            self.asked_changed.emit(box)
        self._show_beside()

    def _show_beside(self) -> None:
        """Draw the masks of the other questions, each in the colour of its name."""
        colors, beside = theme.current().models, []
        masks = [
            box
            for box in self.boxes.values()
            if isinstance(box, PlaceBox) and PlaceKind.MASK in box.kinds
        ]
        for number, box in enumerate(masks):
            color, drawn = colors[number % len(colors)], box.value
            other = box is not self.asked and isinstance(drawn, MaskAnswer)
            ground = f"background: {color}; color: {ink_on(color)}"
            box.heading.setStyleSheet(ground if other else "")
            if other and isinstance(drawn, MaskAnswer):
                beside.append((drawn, color))
        self._image.show_beside(beside)

    def ask_next(self) -> None:
        """Go to the first required question without an answer, else stay.

        Once all are answered a key more must not answer what is optional.
        """
        boxes = [box for box in self._steps if not isinstance(box, FlagBox)]
        required = [box for box in boxes if box.required] or boxes[:1]
        unanswered = (box for box in required if box.value is None and box.required)
        last = required[-1] if required else None
        self.ask(next(unanswered, self.asked if self.asked in boxes else last))

    @property
    def _steps(self) -> list[QuestionBox]:
        """The questions of the stage that keys go to; comments have their own."""
        boxes = [self.boxes[question.id] for question in self.stage]
        return [box for box in boxes if not isinstance(box, TextBox | DraftBox)]

    def step(self, steps: int) -> None:
        """Go to another question of the stage."""
        boxes = self._steps
        if self.asked in boxes:
            at = boxes.index(self.asked) + steps
            self.ask(boxes[at % len(boxes)])

    def take_key(self, event: QKeyEvent) -> bool:
        """Pass a key to the current question, else to the next that accepts it.

        A letter or a number never changes what is answered or optional elsewhere.
        """
        key = event.key()
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        boxes = self._steps
        if plain and key in {Qt.Key.Key_Up, Qt.Key.Key_Down} and len(boxes) > 1:
            self.step(1 if key == Qt.Key.Key_Down else -1)
            return True
        at = boxes.index(self.asked) if self.asked in boxes else 0
        turn = [*boxes[at:], *boxes[:at]]
        if event.text().isalnum():
            awaits = [box for box in turn if box.required and box.value is None]
            turn = [*turn[:1], *awaits]
        return any(box.take_key(event) for box in turn)

    def place(self) -> None:
        """Turn to the first place that can be drawn, if there is one."""
        places = [box for box in self._steps if isinstance(box, PlaceBox)]
        if places:
            self.ask(places[0])

    def first_answers(self, task: Task) -> Values:
        """Return the answers of a case to the questions that are asked again."""
        again = [q.id for q in self.stage if first_id(q.id) != q.id]
        return {name: task.values[first_id(name)] for name in again}

    def fill(self, values: Values) -> bool:
        """Show values as the answers; tell whether there are any."""
        for name, value in values.items():
            self.boxes[name].set_value(value)
        return bool(values)

    def comment(self) -> bool:
        """Write the comment on the question just answered, else on the current one.

        Tell whether one of them has a comment.
        """
        boxes = [self.boxes[question.id] for question in self.stage]
        after = dict(pairwise(boxes))
        for box in (self._rated, self.asked):
            line = after.get(box) if box is not None else None
            if isinstance(line, TextBox | DraftBox):
                line.write()
                return True
        return False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Leave a text on Return and Escape; scroll to one that takes the keyboard."""
        if event.type() == QEvent.Type.FocusIn and isinstance(watched, QWidget):
            # Not before the layout has made room for it.
            QTimer.singleShot(0, watched, lambda: self.asked_changed.emit(watched))
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            ends = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape}
            if event.key() in ends:
                self._image.setFocus(Qt.FocusReason.OtherFocusReason)
                return True
        return super().eventFilter(watched, event)

    def _change(self, event: ValueChanged) -> None:
        box = self.boxes[event.question]
        at_once = isinstance(box, ChoiceBox | LikertBox | PlaceBox)
        if box is not self.asked and box in self._steps:
            self.ask(box, enter=False)
        self._show_beside()
        self.value_changed.emit(event)
        if at_once and event.value is not None and self.stage:
            self.ask_next()
            self._rated = box


def _box_of(
    question: Question, image: ReviewImage, before: Mapping[str, QuestionBox]
) -> QuestionBox:
    """Return the widget for a type of question; ``before`` are those over it."""
    match question:
        case PlaceQuestion():
            return PlaceBox(question, image)
        case LikertQuestion():
            return LikertBox(question)
        case RankedTextQuestion():
            return RankingBox(question)
        case FlagQuestion():
            return FlagBox(question)
        case TextQuestion():
            return TextBox(question)
        case DraftQuestion():
            choice = before[question.of]
            assert isinstance(choice, ChoiceBox)  # noqa: S101 - drafts are of a choice
            return DraftBox(question, choice)
        case ChecklistQuestion():
            return ChecklistBox(question)
        case ChoiceQuestion() | RevealedChoiceQuestion():
            return ChoiceBox(question)


class TextBox(QuestionBox):
    """A line of free text, which a link opens and what is written keeps open."""

    typed = True

    def __init__(self, question: TextQuestion, parent: QWidget | None = None) -> None:
        super().__init__(question, parent)
        self.heading.hide()
        self.open = link(question.text, "Write a line (C)")
        self.line = QLineEdit()
        self.line.setPlaceholderText(question.text)
        self.line.setAccessibleName(question.text)
        self.line.textEdited.connect(lambda text: self.set_value(text or None))
        self.open.clicked.connect(self.write)
        self.column.addWidget(self.open, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self.line)

    def show_task(self, task: Task) -> None:
        """Show a case's words, or the link alone."""
        super().show_task(task)
        self.line.setVisible(bool(self.line.text()))
        self.open.setVisible(self.isEnabled() and not self.line.text())

    def write(self) -> None:
        """Open the line and put the cursor there."""
        self.open.hide()
        self.line.show()
        self.line.setFocus(Qt.FocusReason.OtherFocusReason)

    def paint_value(self) -> None:
        """Show the words; the cursor stays where they are typed."""
        words = self.value if isinstance(self.value, str) else ""
        if words != self.line.text():
            self.line.setText(words)


class FlagBox(QuestionBox):
    """A check box, and a line for the comment while it is checked."""

    typed = True

    def __init__(self, question: FlagQuestion, parent: QWidget | None = None) -> None:
        super().__init__(replace(question, help=""), parent)
        self.heading.hide()
        self.flag = QCheckBox(question.text)
        self.comment = QLineEdit()
        self.comment.setPlaceholderText(question.help or "What is it?")
        self.comment.setAccessibleName(f"{question.text}: what it is")
        self.comment.hide()
        self.column.addWidget(self.flag)
        self.column.addWidget(self.comment)
        # Unlike toggled and textChanged these come only from the person, not from
        # paint_value().
        self.flag.clicked.connect(self._raise)
        self.comment.textEdited.connect(self._read)

    def paint_value(self) -> None:
        """Check the box and show what the comment says."""
        flagged = isinstance(self.value, Flagged)
        self.flag.setChecked(flagged)
        self.comment.setVisible(flagged)
        comment = self.value.comment if isinstance(self.value, Flagged) else ""
        # setText() moves the cursor to the end, even to the same text.
        if comment != self.comment.text():
            self.comment.setText(comment)

    def _raise(self, raised: bool) -> None:
        self.set_value(Flagged(self.comment.text()) if raised else None)
        if raised:
            self.comment.setFocus(Qt.FocusReason.OtherFocusReason)

    def _read(self, text: str) -> None:
        self.set_value(Flagged(text))
