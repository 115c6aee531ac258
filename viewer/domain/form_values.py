"""Readers' answers: validated against their questions, and as plain JSON."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
    Unparsed,
)
from viewer.domain.answer_json import answer_document, place_of, type_of
from viewer.domain.errors import WrongUseError
from viewer.domain.form import (
    ChecklistQuestion,
    ChoiceQuestion,
    DraftQuestion,
    FlagQuestion,
    LikertQuestion,
    Option,
    PlaceQuestion,
    Question,
    RankedTextQuestion,
    RevealedChoiceQuestion,
    TextQuestion,
)
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.image_geometry import ImageGeometry


@dataclass(frozen=True, slots=True)
class Flagged:
    """A raised flag with its comment."""

    comment: str = ""


@dataclass(frozen=True, slots=True)
class Absent:
    """The reader's answer that the finding is not on the image."""


Value = str | int | tuple[str, ...] | Answer | Flagged | Absent
"""The key of a choice, a level, ranked lines or ticked keys, a place, a flag.

A question that was not answered, and a flag that was not raised, have no value.
"""
Values = Mapping[str, Value]
"""Values by the questions' ids."""


@dataclass(frozen=True, slots=True)
class Canvas:
    """The drawing surface: an image, and the grid on a native rectangle of it."""

    geometry: ImageGeometry
    grid: Grid
    field: BoxPx

    @property
    def size(self) -> SizePx:
        """The image's rows and columns."""
        return self.geometry.size


def problem_with(
    question: Question,
    value: Value | None,
    canvas: Canvas,
    options: Sequence[Option] = (),
) -> str:
    """Return why a value does not answer a question, as a sentence, or "".

    ``options`` are those of a choice whose options come from the case.
    """
    if value is None:
        return "Answer this question first." if question.required else ""
    return _CHECKS[type(question)](question, value, canvas, options)


def check_values(
    questions: Sequence[Question],
    values: Values,
    canvas: Canvas,
    options: Mapping[str, Sequence[Option]] | None = None,
) -> None:
    """Raise WrongUseError naming the first question with an invalid value."""
    options = options or {}
    for question in questions:
        value = values.get(question.id)
        problem = problem_with(question, value, canvas, options.get(question.id, ()))
        if problem:
            raise WrongUseError(f"'{question.text}' is not answered.", problem)
    unknown = set(values) - {question.id for question in questions}
    if unknown:
        raise WrongUseError(
            f"'{min(unknown)}' is not one of the questions asked.", "Leave it out."
        )


def values_as_json(values: Values) -> str:
    """Return values as JSON; :func:`values_of_json` reads back equal ones."""
    plain = {name: _plain(value) for name, value in values.items()}
    return json.dumps(plain, sort_keys=True, ensure_ascii=False)


def values_of_json(text: str) -> Values:
    """Return the values that :func:`values_as_json` wrote."""
    return {name: _value(plain) for name, plain in json.loads(text).items()}


def _plain(value: Value) -> object:
    if isinstance(value, str | int):
        return value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Flagged):
        return {"flag": value.comment}
    if isinstance(value, Absent):
        return {"absent": True}
    return {"place": answer_document(value)}


def _value(plain: Any) -> Value:  # noqa: ANN401 - any JSON value
    if isinstance(plain, str | int):
        return plain
    if isinstance(plain, list):
        return tuple(str(line) for line in plain)
    if "flag" in plain:
        return Flagged(plain["flag"])
    if "absent" in plain:
        return Absent()
    place = place_of(plain["place"])
    if place is None or isinstance(place, Unparsed):
        raise TypeError("a reader's place is an answer")
    return place


def _choice(
    question: Any,  # noqa: ANN401 - a choice of either type
    value: Value,
    _canvas: Canvas,
    options: Sequence[Option],
) -> str:
    known = [option.key for option in question.options or options]
    return "" if value in known else f"Choose among {', '.join(known)}."


def _ticked(
    question: ChecklistQuestion,
    value: Value,
    _canvas: Canvas,
    options: Sequence[Option],
) -> str:
    known = [option.key for option in question.options or options]
    fits = isinstance(value, tuple) and len(set(value)) == len(value)
    if fits and isinstance(value, tuple) and set(value) <= set(known):
        return ""
    return f"Tick any of {', '.join(known)}, each once."


def _level(
    question: LikertQuestion, value: Value, _canvas: Canvas, _options: Sequence[Option]
) -> str:
    inside = isinstance(value, int) and question.lowest <= value <= question.highest
    # In Python True is a whole number: it would be level 1.
    if inside and not isinstance(value, bool):
        return ""
    return f"Choose a level from {question.lowest} to {question.highest}."


def _text(
    question: TextQuestion, value: Value, _canvas: Canvas, _options: Sequence[Option]
) -> str:
    written = isinstance(value, str) and bool(value.strip() or not question.required)
    return "" if written else "Write a line."


def _ranking(
    question: RankedTextQuestion,
    value: Value,
    _canvas: Canvas,
    _options: Sequence[Option],
) -> str:
    if not isinstance(value, tuple) or not all(isinstance(v, str) for v in value):
        return "Write one line for each rank."
    lines = [line.strip().casefold() for line in value]
    if not question.at_least <= len(lines) <= question.at_most:
        return f"Write {question.at_least} to {question.at_most} lines."
    if "" in lines:
        return "Fill the empty line, or remove it."
    if len(set(lines)) < len(lines):
        return "The same line appears at two ranks; keep one."
    return ""


def _flag(
    question: FlagQuestion, value: Value, _canvas: Canvas, _options: Sequence[Option]
) -> str:
    if not isinstance(value, Flagged):
        return "Set the flag to true or false."
    silent = question.comment_required and not value.comment.strip()
    return "Say in the comment what the flag is for." if silent else ""


def _place(
    question: PlaceQuestion, value: Value, canvas: Canvas, _options: Sequence[Option]
) -> str:
    if isinstance(value, Absent):
        return "" if question.can_be_absent else "Mark the place where it is."
    kinds = " or ".join(question.kinds)
    if not isinstance(value, _PLACES) or type_of(value) not in question.kinds:
        return f"Mark the place as {kinds}."
    return _PLACE_CHECKS[type(value)](value, canvas)


_PLACES = CellAnswer | PointAnswer | BoxesAnswer | MaskAnswer | HeatMapAnswer


def _cell(answer: Any, canvas: Canvas) -> str:  # noqa: ANN401 - by its type
    cell, grid = answer.cell, canvas.grid
    inside = 0 <= cell.row < grid.rows and 0 <= cell.column < grid.columns
    return "" if inside else "Click a cell of the grid."


def _point(answer: Any, canvas: Canvas) -> str:  # noqa: ANN401 - by its type
    x, y, size = answer.point.x, answer.point.y, canvas.size
    inside = 0 <= x < size.columns and 0 <= y < size.rows
    return "" if inside else "Click on the image."


def _boxes(answer: Any, canvas: Canvas) -> str:  # noqa: ANN401 - by its type
    if not answer.boxes:
        return "Draw at least one box."
    size = canvas.size
    for b in answer.boxes:
        if not (0 <= b.x0 < b.x1 <= size.columns and 0 <= b.y0 < b.y1 <= size.rows):
            return "Draw every box inside the image, with some width and height."
    return ""


def _mask(answer: Any, canvas: Canvas) -> str:  # noqa: ANN401 - by its type
    if answer.mask.size != canvas.size:
        return "The mask is not the size of the image; draw it again."
    return "Draw at least one pixel." if answer.mask.is_empty else ""


_PLACE_CHECKS: Final[Mapping[type, Callable[[Any, Canvas], str]]] = {
    CellAnswer: _cell,
    PointAnswer: _point,
    BoxesAnswer: _boxes,
    MaskAnswer: _mask,
}
_CHECKS: Final[Mapping[type, Callable[..., str]]] = {
    ChoiceQuestion: _choice,
    ChecklistQuestion: _ticked,
    RevealedChoiceQuestion: _choice,
    LikertQuestion: _level,
    TextQuestion: _text,
    DraftQuestion: _text,
    RankedTextQuestion: _ranking,
    FlagQuestion: _flag,
    PlaceQuestion: _place,
}
