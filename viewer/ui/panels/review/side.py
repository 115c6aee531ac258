"""The panel beside the case: questions, keys, and after the lock what is revealed."""

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import (
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.counting import counted
from viewer.domain.form import (
    ChoiceQuestion,
    Form,
    LikertQuestion,
    Part,
    PlaceKind,
    PlaceQuestion,
    Question,
)
from viewer.domain.form_values import Flagged, Value, Values
from viewer.domain.privacy import ReviewDecision
from viewer.domain.reading import Reveal, Task, TaskState
from viewer.ui.dialogs.pixel_review import PixelsDecided
from viewer.ui.panels.review.advice import AdviceBox
from viewer.ui.panels.review.form import ReviewForm
from viewer.ui.panels.review.image import ReviewImage
from viewer.ui.widgets.labels import caption, link, primary, title
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import scrolled

WIDTH: Final = 336
_LARGER: Final = 5.0
"""Points: large enough to read the question at viewing distance."""
_TRAINING: Final = "Training: does not count"
_OTHERS: Final = ("One reader", "Another reader", "A third reader")


class ReviewSide(QWidget):
    """The finding, the questions, a comment, one button, and the keys."""

    go_wanted = Signal()
    """The reader wants to lock, or to go to the next case."""
    comment_changed = Signal(str)

    def __init__(self, image: ReviewImage, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedWidth(WIDTH)
        self._image = image
        self._form: Form | None = None
        self.finding, self.about = title(""), caption()
        self.finding.setFont(_large(self.finding.font()))
        self.form = ReviewForm(image)
        self.output, self.advice = Label(), AdviceBox()
        self.others, self.problem = Label(), Label()
        self.comment = QLineEdit()
        self.comment.setPlaceholderText("Comment (C)")
        self.comment.setAccessibleName("Comment")
        self.comment.textEdited.connect(self.comment_changed)
        self.comment.installEventFilter(self)
        self.bars = link(
            "Black bars on this image…",
            "Cover faces and names: models and exports get the image with the bars",
        )
        self.revealed, self.keys = Label(), caption()
        self.go = primary("Lock  ⏎")
        self.go.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.go.clicked.connect(self.go_wanted)
        labels = (self.others, self.problem, self.revealed, self.finding, self.output)
        for label in labels:
            label.setWordWrap(True)
        self.problem.setAccessibleName("What is missing")
        self._lay_out()

    def _lay_out(self) -> None:
        inner = QWidget()
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(12)
        for label in (self.finding, self.about, self.output, self.others):
            column.addWidget(label)
        column.addWidget(self.advice)
        column.addWidget(self.form)
        column.addWidget(self.bars, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.comment)
        column.addWidget(self.revealed)
        column.addStretch(1)
        self.area = area = scrolled(inner)
        self.form.asked_changed.connect(area.ensureWidgetVisible)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        foot = QVBoxLayout()
        foot.setContentsMargins(16, 8, 16, 12)
        foot.setSpacing(8)
        foot.addWidget(self.problem)
        foot.addWidget(self.go)
        foot.addWidget(self.keys)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(area, 1)
        whole.addLayout(foot)

    def show_form(self, form: Form) -> None:
        """Make the questions of a session's form."""
        self._form = form
        self.form.show_form(form)
        self.comment.setVisible(form.comment)
        self.bars.setVisible(Part.PIXELS in form.shown)

    def show_task(self, task: Task) -> None:
        """Show a case in its current state."""
        done = task.state is TaskState.LOCKED
        # A question of its own stands over the texts, with the output to be graded.
        self.finding.setText(task.finding)
        self.finding.setHidden(bool(task.question))
        self.about.setText(_about(task))
        self.about.setHidden(not self.about.text())
        placed = task.answer is not None or bool(task.question)
        self.output.setText("" if placed else task.answer_text)
        self.output.setHidden(not self.output.text())
        self.others.setText(self._others(task))
        self.others.setVisible(bool(task.others))
        self.form.show_task(task)
        self.advice.show_task(task, self.form)
        self.keys.setText(" · ".join(_keys(task, self.form)))
        if self.comment.text() != task.comment:
            self.comment.setText(task.comment)
        self.comment.setReadOnly(done)
        self.revealed.clear()
        self.revealed.hide()
        self.say("")
        self.go.setText("Next case  ⏎" if done else "Lock  ⏎")

    def show_reveal(self, reveal: Reveal) -> None:
        """Say in words what is revealed of a locked case."""
        words = reveal_words(reveal)
        self.revealed.setText(words)
        self.revealed.setVisible(bool(words))

    def tell_bars(self, event: PixelsDecided) -> None:
        """Say what was decided about the image on the screen."""
        review = event.review
        kept = counted(len(review.boxes), "bar is", "bars are")
        if review.decision is ReviewDecision.BLOCKED:
            self.say("This image does not leave this machine.")
        elif review.boxes:
            self.say(f"{kept} kept: models and exports get this image with black bars.")
        else:
            self.say("This image has no black bars.")

    def write_comment(self) -> None:
        """Write the comment on the current question, or on the case."""
        if self.form.comment():
            return
        if self.comment.isVisible() and not self.comment.isReadOnly():
            self.comment.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def say(self, problem: str) -> None:
        """Show what is missing, or nothing."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Leave the comment on Return and Escape."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            ends = {Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape}
            if event.key() in ends:
                self._image.setFocus(Qt.FocusReason.OtherFocusReason)
                return True
        return super().eventFilter(watched, event)

    def _others(self, task: Task) -> str:
        if self._form is None:
            return ""
        lines = []
        for number, values in enumerate(task.others):
            who = _OTHERS[min(number, len(_OTHERS) - 1)]
            lines.append(f"{who}: {values_words(self._form, values)}")
        return "\n".join(lines)


def _large(base: QFont) -> QFont:
    font = QFont(base)
    font.setPointSizeF(base.pointSizeF() + _LARGER)
    return font


def _keys(task: Task, form: ReviewForm) -> Iterator[str]:
    """Yield what the keys do in a case, but for those that do nothing in it."""
    images = [one for one in task.exhibits if one.image is not None]
    places = [one for one in form.stage if isinstance(one, PlaceQuestion)]
    in_grid = any(PlaceKind.CELL in one.kinds for one in places)
    yield from ("⏎ lock, then next", "Z undo", "C comment", "← → other cases")
    if len(form.stage) > 1:
        yield "↑ ↓ questions"
    if len(images) > 1:
        yield "Page Up, Page Down other images"
    if len(images) < len(task.exhibits) or (task.question and task.answer_text):
        yield "Space reads on"
    if places and task.question:
        yield "M mark a place"
    if task.answer is not None:
        yield "F frame or whole image"
    if task.answer is not None or in_grid:
        yield "G grid"
    yield "I invert"
    if places or task.answer is not None or any(one.exhibit.boxes for one in images):
        yield "hold H to see the image alone"
    yield "Esc back; everything is kept"


def _about(task: Task) -> str:
    view = f"{task.view} view" if task.view and not task.training else ""
    placed = task.answer is not None and task.answer_text
    answer = f"the answer under review is {task.answer_text}" if placed else ""
    unsure = "unsure so far" if task.state is TaskState.UNRESOLVED else ""
    training = _TRAINING if task.training else ""
    return " · ".join(words for words in (training, view, answer, unsure) if words)


def reveal_words(reveal: Reveal) -> str:
    """Return the revealed texts, in lines, without anything that is drawn."""
    lines = []
    if reveal.reference is not None:
        lines.append("The reference is drawn in blue.")
    if reveal.suggestion is not None:
        lines.append(reveal.suggestion.sentence)
    if reveal.model:
        lines.append(f"Answered by {reveal.model}.")
    return "\n".join(lines)


def values_words(form: Form, values: Values) -> str:
    """Return a reader's answers in words."""
    asked = ((q, values.get(q.id)) for q in form.questions)
    words = [_value_words(q, value) for q, value in asked if value is not None]
    return ", ".join(words) or "nothing"


def _value_words(question: Question, value: Value) -> str:
    if isinstance(question, ChoiceQuestion):
        texts = {option.key: option.text for option in question.options}
        return texts.get(str(value), str(value))
    if isinstance(question, LikertQuestion):
        levels = {str(level): anchor for level, anchor in question.levels}
        return levels.get(str(value), str(value))
    if isinstance(value, Flagged):
        return f"flag: {value.comment}"
    if isinstance(value, tuple):
        return "; ".join(value)
    return "a place on the image"
