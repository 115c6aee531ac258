"""A model's answer beside the questions, which a reader may take."""

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from viewer.domain.aid import Arm
from viewer.domain.answer import Answer
from viewer.domain.form import first_id
from viewer.domain.reading import Task, TaskState
from viewer.ui.application.actions import SPECS
from viewer.ui.panels.review.form import ReviewForm
from viewer.ui.widgets.plain_text import Label, as_tip

ACCEPT: Final = "review.accept"
KEEP: Final = "review.keep"
_LATER: Final = "A model's answer follows once yours is locked."
_NONE: Final = "The model has no answer to this case."


class AdviceBox(QWidget):
    """What the model answered, in words, and a button to take it or keep one's own."""

    accepted = Signal()
    """The reader takes the model's answer."""
    kept = Signal()
    """The reader keeps the first answer."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = Label()
        self.words.setWordWrap(True)
        self.accept = _button(ACCEPT, "Take the model's")
        self.keep = _button(KEEP, "Keep mine")
        self.accept.clicked.connect(self.accepted)
        self.keep.clicked.connect(self.kept)
        row = QHBoxLayout()
        for button in (self.accept, self.keep):
            row.addWidget(button)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.words)
        column.addLayout(row)
        self.hide()  # until a case has an answer to show

    def show_task(self, task: Task, form: ReviewForm) -> None:
        """Show what may be seen of the model's answer to a case now."""
        asked = bool(task.advice) and task.state is not TaskState.LOCKED
        again = asked and any(first_id(name) != name for name in task.advice)
        self.setVisible(task.arm is not None)
        self.words.setText(_words(task, form))
        self.accept.setVisible(asked)
        self.keep.setVisible(again)


def _words(task: Task, form: ReviewForm) -> str:
    if not task.advice:
        again = (box for name, box in form.boxes.items() if first_id(name) != name)
        waits = task.arm is Arm.AFTER and all(box.isHidden() for box in again)
        return _LATER if waits else _NONE
    told = "; ".join(form.boxes[n].words_of(v) for n, v in task.advice.items())
    placed = any(isinstance(value, Answer) for value in task.advice.values())
    return f"The model: {told}{', drawn in orange' if placed else ''}"


def _button(action: str, words: str) -> QPushButton:
    spec = SPECS[action]
    button = QPushButton(f"{words}  {spec.shortcut}")
    button.setToolTip(as_tip(spec.tip))
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    return button
