"""Whether an answer is right for its kind, and its measures."""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from math import hypot
from typing import Any, Final

from viewer.domain.answer import (
    AnyAnswer,
    BoxesAnswer,
    CellAnswer,
    ChoiceAnswer,
    PointAnswer,
    ReportAnswer,
    Status,
    Unparsed,
    YesNoAnswer,
)
from viewer.domain.choice import letter_of
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import grid_of_name
from viewer.domain.question_kinds import (
    ABSOLUTE_ERROR,
    DISTANCE,
    EXTRA,
    FOUND,
    IOU,
    MISSED,
    TextMatch,
)
from viewer.domain.result import Score
from viewer.metrics.boxes import Matching, image_boxes, matched
from viewer.studies.question_set.parse import as_number
from viewer.studies.yes_no import parse_yes_no

Gold = Mapping[str, Any]
Judged = tuple[bool, str, tuple[tuple[str, float], ...]]
"""Whether an answer is right, what it is called, and what is measured of it."""
UNJUDGED: Final = "judge_unparsed"
"""Why an answer has no verdict whose judge says neither yes nor no."""
_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_NO_LETTER: Final = re.compile(r"[^\w\s]|_")


def score(
    answer: AnyAnswer | Unparsed,
    gold: Gold,
    judgement: ModelReply | None,
    wanted: Collection[str],
) -> Score:
    """Return the verdict; what could not be read keeps its status and reason.

    Parameters
    ----------
    answer : answer or Unparsed
        The parsed answer.
    gold : mapping
        The right answer, as the study's ``gold``.
    judgement : ModelReply, optional
        A judge's reply about words that need judging.
    wanted : collection of str
        The named numbers to keep.
    """
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason)
    rule = _RULES.get(type(answer))
    judged = rule(answer, gold) if rule else None
    if judged is None:
        return Score(Status.UNPARSED, "no_answer")
    right, called, numbers = judged
    if gold.get("match") == TextMatch.JUDGED:
        verdict = parse_yes_no(judgement) if judgement else None
        if not isinstance(verdict, YesNoAnswer):
            return Score(Status.UNPARSED, UNJUDGED, called)
        right = verdict.yes
    status = Status.SCORED_CORRECT if right else Status.SCORED_WRONG
    wanted_numbers = tuple((name, value) for name, value in numbers if name in wanted)
    return Score(status, answer=called, numbers=wanted_numbers)


def normalised(text: str) -> str:
    """Return words in lower case, without punctuation, articles and extra blanks."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(_ARTICLES.sub(" ", _NO_LETTER.sub(" ", plain)).split())


def _choice(answer: ChoiceAnswer, gold: Gold) -> Judged | None:
    if "right" not in gold:
        return None
    shown = letter_of(gold["order"].index(answer.option))
    return answer.option == gold["right"], shown, ()


def _yes_no(answer: YesNoAnswer, gold: Gold) -> Judged | None:
    if "yes" not in gold:
        return None
    return answer.yes == gold["yes"], "Yes" if answer.yes else "No", ()


def _worded(answer: ReportAnswer, gold: Gold) -> Judged | None:
    number = as_number(answer.text) if "number" in gold else None
    if number is not None:
        error = abs(number - gold["number"])
        return error <= gold["off"], answer.text, ((ABSOLUTE_ERROR, error),)
    if "text" not in gold:
        return None
    if gold["match"] == TextMatch.EXACT:
        return answer.text == gold["text"], answer.text, ()
    same = normalised(answer.text) == normalised(gold["text"])
    return same, answer.text, ()


def _cell(answer: CellAnswer, gold: Gold) -> Judged | None:
    if "cells" not in gold:
        return None
    name = grid_of_name(gold["grid"]).label(answer.cell)
    return name in gold["cells"], name, ()


def _point(answer: PointAnswer, gold: Gold) -> Judged | None:
    x, y = answer.point.x, answer.point.y
    called = f"{x:.0f}, {y:.0f}"
    if "point" in gold:
        off = hypot(x - gold["point"][0], y - gold["point"][1])
        return off <= gold["within"], called, ((DISTANCE, off),)
    if "point_in" not in gold:
        return None
    off = _distance(answer.point, BoxPx(*gold["point_in"]))
    return off == 0, called, ((DISTANCE, off),)


def _boxes(answer: BoxesAnswer, gold: Gold) -> Judged | None:
    if "boxes" not in gold:
        return None
    right = [BoxPx(*box) for box in gold["boxes"]]
    pair = image_boxes(answer.boxes, right)
    found = int((matched(pair, gold["iou"], Matching.ONE_TO_ONE) >= 0).sum())
    extra, missed = len(answer.boxes) - found, len(right) - found
    called = "; ".join(
        " ".join(f"{n:.0f}" for n in (b.x0, b.y0, b.x1, b.y1)) for b in answer.boxes
    )
    counts = ((FOUND, float(found)), (EXTRA, float(extra)), (MISSED, float(missed)))
    best = ((IOU, float(pair.iou.max())),) if pair.iou.size else ()
    return not (extra or missed), called or "none", (*best, *counts)


def _distance(point: PointPx, box: BoxPx) -> float:
    """Return how far a point lies from a box, 0 inside it."""
    across = max(box.x0 - point.x, 0.0, point.x - box.x1)
    down = max(box.y0 - point.y, 0.0, point.y - box.y1)
    return hypot(across, down)


_RULES: Final[Mapping[type, Callable[[Any, Gold], Judged | None]]] = {
    ChoiceAnswer: _choice,
    YesNoAnswer: _yes_no,
    ReportAnswer: _worded,
    CellAnswer: _cell,
    PointAnswer: _point,
    BoxesAnswer: _boxes,
}
