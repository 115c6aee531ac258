"""What a reader of a test answers: something to every question of every form."""

import numpy as np

from viewer.domain.answer import BoxesAnswer, CellAnswer, MaskAnswer, PointAnswer
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
)
from viewer.domain.form_values import Flagged, Value, Values
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell
from viewer.domain.reading import Task
from viewer.domain.reference import Mask


def answer_of(form: Form, task: Task, words: str = "") -> Values:
    """Return what a reader answers to a case's questions up to its stage.

    Every text has the ``words``, if there are any.
    """
    stages = form.narrowed(task.asked).stages[: task.stage + 1]
    answers = {q.id: _value(q, task, words) for stage in stages for q in stage}
    return {name: value for name, value in answers.items() if value is not None}


def _value(question: Question, task: Task, words: str) -> Value | None:
    position = task.position
    match question:
        case PlaceQuestion():
            return _place(question.kinds[0], task)
        case LikertQuestion():
            return question.lowest + position % len(question.anchors)
        case RankedTextQuestion():
            return (f"first of {position}{words}", f"second of {position}{words}")
        case ChoiceQuestion() | RevealedChoiceQuestion():
            options = question.options or task.options.get(question.id, ())
            sure = [option.key for option in options if not option.unsure]
            return sure[position % len(sure)] if sure else None
        case ChecklistQuestion():
            options = question.options or task.options.get(question.id, ())
            return tuple(option.key for option in options[: position % 3]) or None
        case TextQuestion() | DraftQuestion():
            return f"about {position}{words}"
        case FlagQuestion():
            return Flagged(f"flag of {position}{words}") if position % 2 else None


def _place(kind: PlaceKind, task: Task) -> Value:
    """Return a place of a kind that no other case has."""
    row, column = task.position % 8, task.position // 8 % 8
    match kind:
        case PlaceKind.CELL:
            return CellAnswer(Cell(row, column))
        case PlaceKind.MASK:
            size = task.canvas.size
            drawn = np.zeros((size.rows, size.columns), dtype=bool)
            drawn[row : row + 9, column : column + 9] = True
            return MaskAnswer(Mask.of_array(drawn))
        case PlaceKind.POINT:
            return PointAnswer(PointPx(row + 1.5, column + 0.5))
        case PlaceKind.BOXES:
            return BoxesAnswer((BoxPx(row, column, row + 9, column + 9),))
