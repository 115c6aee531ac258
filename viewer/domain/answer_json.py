"""Answers as JSON, the form in which the store keeps them.

A cell is ``{"cell": …, "tier": …}``, a reply without an answer ``{"status": …,
"reason": …}``. Answers in native pixels begin with ``"type"``, answers in words, which
are not a location, with ``"words"``; the other members are the fields of the answer.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from viewer.domain.answer import (
    Answer,
    AnyAnswer,
    BoxesAnswer,
    CellAnswer,
    ChoiceAnswer,
    HeatMapAnswer,
    LabelsAnswer,
    MaskAnswer,
    PlacedAnswer,
    PointAnswer,
    RankedAnswer,
    ReportAnswer,
    Unparsed,
    WordedAnswer,
    YesNoAnswer,
)
from viewer.domain.plain import Kinds, made, plain

NOTHING: Final = "{}"
"""What is kept of a reply whose body could not be read at all."""
PLACED_START: Final = '{"type"'
"""How the JSON of an answer in native pixels begins, and no other."""
_WHERE: Final = "the answer"
_PLACED: Final[Kinds[PlacedAnswer]] = Kinds(
    "type",
    {
        "point": PointAnswer,
        "boxes": BoxesAnswer,
        "mask": MaskAnswer,
        "heat_map": HeatMapAnswer,
    },
)
_WORDED: Final[Kinds[WordedAnswer]] = Kinds(
    "words",
    {
        "choice": ChoiceAnswer,
        "yes_no": YesNoAnswer,
        "labels": LabelsAnswer,
        "ranked": RankedAnswer,
        "report": ReportAnswer,
    },
)


def answer_as_json(answer: AnyAnswer | Unparsed) -> str:
    """Return an answer as JSON; :func:`any_answer_of_json` reads back an equal one."""
    return json.dumps(answer_document(answer))


def answer_document(answer: AnyAnswer | Unparsed) -> dict[str, Any]:
    """Return an answer as plain JSON values."""
    if isinstance(answer, CellAnswer | Unparsed):
        return plain(answer)
    if isinstance(answer, WordedAnswer):
        return _WORDED.plain(answer)
    return _PLACED.plain(answer)


def any_answer_of_json(text: str) -> AnyAnswer | Unparsed | None:
    """Return the answer of this module's JSON, None for ``NOTHING``."""
    body = json.loads(text)
    if "words" in body:
        return _WORDED.made(body, where=_WHERE)
    return place_of(body)


def answer_of_json(text: str) -> Answer | Unparsed | None:
    """Return the location of this module's JSON, None for ``NOTHING``.

    An answer in words is not a location and raises WrongUseError.
    """
    return place_of(json.loads(text))


def place_of(body: Mapping[str, Any]) -> Answer | Unparsed | None:
    """Return the location that :func:`answer_document` wrote, None for none."""
    if not body:
        return None
    if "status" in body:
        return made(Unparsed, body, where=_WHERE)
    if "cell" in body:
        return made(CellAnswer, body, where=_WHERE)
    return _PLACED.made(body, where=_WHERE)


def type_of(answer: AnyAnswer) -> str:
    """Return an answer's type as a word, such as cell, boxes or choice."""
    if isinstance(answer, CellAnswer):
        return "cell"
    if isinstance(answer, WordedAnswer):
        return _WORDED.name_of(answer)
    return _PLACED.name_of(answer)
