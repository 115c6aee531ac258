"""From a reply to the answer of its kind, or to the reason why there is none.

Options, yes or no and cells are read as in the other studies. A number, in this order:
a text that is nothing else but its unit, a JSON key, what follows the last "answer is",
the only number there is. Words are the value of a JSON key, the line after the last
"answer is", or the whole reply. Nothing is guessed: a reply that names two numbers, two
points or two boxes where one is asked for is ambiguous.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from viewer.domain.answer import (
    AnyAnswer,
    BoxesAnswer,
    ChoiceAnswer,
    PointAnswer,
    ReportAnswer,
    Status,
    Unparsed,
)
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import grid_of_name
from viewer.domain.question_kinds import AnswerKind
from viewer.studies import choices
from viewer.studies.boxes_in_text import names_no_box, read_boxes, read_points
from viewer.studies.cell_replies import read_cell
from viewer.studies.choice_words import bare, marks
from viewer.studies.choices import json_choices
from viewer.studies.question_set.questions import Asked
from viewer.studies.refusing import declines, is_cut, withheld
from viewer.studies.reply_text import answering_text, without_markup, without_reasoning
from viewer.studies.yes_no import parse_yes_no

Read = AnyAnswer | Unparsed
_NUMBER: Final = re.compile(
    r"(?<![\w.,])[-+]?(?:\d+(?:[.,]\d+)*|\.\d+)(?:[eE][-+]?\d+)?(?![\d])"
)
_THOUSANDS: Final = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_UNIT: Final = re.compile(r"\s*[^\W\d]{0,12}(?:/[^\W\d]{1,12})?[%°²³]?\.?\s*")
_LONGEST_REFUSAL: Final = 60
"""Words; a longer text that declines a part has answered."""


def parse(
    reply: ModelReply,
    asked: Asked,
    order: Sequence[int],
    placed: Callable[[], Read | None] = lambda: None,
) -> Read:
    """Return what a reply answers.

    Parameters
    ----------
    reply : ModelReply
        The reply.
    asked : Asked
        What was asked.
    order : sequence of int
        Its options in the order shown.
    placed : callable, optional
        Gives the place in the reply of a model with a convention of its own.
    """
    if asked.kind is AnswerKind.CHOICE:
        shown = [asked.options[i] for i in order]
        found = choices.parse(reply, shown)
        if isinstance(found, Unparsed):
            return found
        return ChoiceAnswer(order[found.option], found.tier)
    if asked.kind is AnswerKind.YES_NO:
        return parse_yes_no(reply)
    if kept_back := withheld(reply):
        return kept_back
    if asked.kind is AnswerKind.CELL:
        grid = grid_of_name(asked.grid)
        return read_cell(reply.text, grid, truncated=is_cut(reply))
    if is_cut(reply):
        return Unparsed(Status.TRUNCATED, "length")
    if asked.kind in _READERS:
        return _READERS[asked.kind](reply.text)
    if asked.field is None:
        return Unparsed(Status.UNPARSED, "no_image")
    place = placed()
    if place is None:
        return _PLACES[asked.kind](reply.text, asked.field)
    return _of_kind(place, asked.kind)


def read_number(text: str) -> Read:
    """Return the number of a text, as it is written there."""
    plain = without_markup(answering_text(text))
    values = [value for value in json_choices(answering_text(text)) if value]
    for part in (plain, *values):
        whole = _NUMBER.match(part.strip())
        if whole and _UNIT.fullmatch(part.strip()[whole.end() :]):
            return _number(whole[0])
    for rest in marks(plain):
        if marked := _NUMBER.match(rest):
            return _number(marked[0])
    # The same number twice is one answer.
    found = list(dict.fromkeys(_NUMBER.findall(plain)))
    if len(found) == 1:
        return _number(found[0])
    return Unparsed(Status.AMBIGUOUS, "several") if found else _without(plain)


def read_words(text: str) -> Read:
    """Return the words that answer."""
    plain = without_reasoning(text)
    values = [value for value in json_choices(plain) if value]
    if len(values) == 1:
        return ReportAnswer(values[0].strip())
    marked = next((rest.splitlines()[0] for rest in marks(plain) if bare(rest)), "")
    words = (marked or plain).strip()
    if not bare(words):
        return Unparsed(Status.UNPARSED, "empty")
    short = len(plain.split()) <= _LONGEST_REFUSAL
    if short and not marked and declines(plain, beside_answer=False):
        return Unparsed(Status.REFUSED, "declined")
    return ReportAnswer(words)


def as_number(written: str) -> float | None:
    """Return a number with commas for thousands or decimals; None if invalid."""
    if _THOUSANDS.fullmatch(written):
        written = written.replace(",", "")
    try:
        return float(written.replace(",", "."))
    except ValueError:
        return None


def _number(written: str) -> Read:
    if as_number(written) is None:
        return Unparsed(Status.UNPARSED, "no_number")
    return ReportAnswer(written)


def _point(text: str, field: BoxPx) -> Read:
    found = read_points(answering_text(text), field)
    if len(found) > 1:
        return Unparsed(Status.AMBIGUOUS, "several")
    return PointAnswer(found[0]) if found else _without(text, "no_point")


def _box(text: str, field: BoxPx) -> Read:
    return _one_box(_boxes(text, field))


def _one_box(found: Read) -> Read:
    if isinstance(found, BoxesAnswer) and len(found.boxes) != 1:
        several = Unparsed(Status.AMBIGUOUS, "several")
        return several if found.boxes else Unparsed(Status.UNPARSED, "no_box")
    return found


def _of_kind(found: Read, kind: AnswerKind) -> Read:
    """Return a place that a convention read, if it is what was asked for."""
    if isinstance(found, Unparsed) and found.status is Status.DENIED_FINDING:
        found = BoxesAnswer(())
    wanted = PointAnswer if kind is AnswerKind.POINT else BoxesAnswer
    if not isinstance(found, wanted | Unparsed):
        missing = "no_point" if kind is AnswerKind.POINT else "no_box"
        return Unparsed(Status.UNPARSED, missing)
    return _one_box(found) if kind is AnswerKind.BOX else found


def _boxes(text: str, field: BoxPx) -> Read:
    found = read_boxes(answering_text(text), (field,))
    if found.problems:
        return Unparsed(Status.OUT_OF_RANGE, "box_outside")
    if not found.boxes and not names_no_box(answering_text(text)):
        return _without(text, "no_box")
    return BoxesAnswer(tuple(one.box for one in found.boxes))


def _without(text: str, reason: str = "no_number") -> Unparsed:
    if declines(text, beside_answer=False):
        return Unparsed(Status.REFUSED, "declined")
    return Unparsed(Status.UNPARSED, reason)


_READERS: Final[Mapping[AnswerKind, Callable[[str], Read]]] = {
    AnswerKind.NUMBER: read_number,
    AnswerKind.TEXT: read_words,
}
_PLACES: Final[Mapping[AnswerKind, Callable[[str, BoxPx], Read]]] = {
    AnswerKind.POINT: _point,
    AnswerKind.BOX: _box,
    AnswerKind.BOXES: _boxes,
}
