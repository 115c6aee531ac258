"""Answers of each kind, held against what is right."""

from collections.abc import Mapping

import pytest

from viewer.domain.answer import (
    AnyAnswer,
    BoxesAnswer,
    CellAnswer,
    ChoiceAnswer,
    LabelsAnswer,
    PointAnswer,
    ReportAnswer,
    Status,
    Unparsed,
    YesNoAnswer,
)
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell
from viewer.domain.question_kinds import MEASURED
from viewer.domain.result import Score
from viewer.studies.question_set.score import score

EVERY = [name for names in MEASURED.values() for name in names]
CHOICE = {"options": ["x", "y", "z"], "order": [2, 0, 1], "right": 1}
NUMBER = {"number": 10.0, "off": 0.5}
ONE = BoxPx(0, 0, 10, 10)
OTHER = BoxPx(20, 20, 40, 40)
TWO = {"boxes": [[0, 0, 10, 10], [20, 20, 40, 40]], "iou": 0.5}


def text(match: str) -> dict[str, object]:
    return {"text": "The left pleura.", "match": match}


def point(x: float, y: float) -> PointAnswer:
    return PointAnswer(PointPx(x, y))


@pytest.mark.parametrize(
    ("answer", "gold", "right", "called"),
    [
        (ChoiceAnswer(1), CHOICE, True, "C"),
        (ChoiceAnswer(2), CHOICE, False, "A"),
        (YesNoAnswer(yes=True), {"yes": True}, True, "Yes"),
        (YesNoAnswer(yes=False), {"yes": True}, False, "No"),
        (ReportAnswer("10.5"), NUMBER, True, "10.5"),
        (ReportAnswer("9.4"), NUMBER, False, "9.4"),
        (ReportAnswer("The left pleura."), text("exact"), True, "The left pleura."),
        (ReportAnswer("left pleura"), text("exact"), False, "left pleura"),
        (ReportAnswer("LEFT  pleura"), text("normalised"), True, "LEFT  pleura"),
        (ReportAnswer("right pleura"), text("normalised"), False, "right pleura"),
        (CellAnswer(Cell(1, 1)), {"cells": ["B2"], "grid": "4"}, True, "B2"),
        (CellAnswer(Cell(0, 1)), {"cells": ["B2"], "grid": "4"}, False, "A2"),
        (point(3, 4), {"point": [0, 0], "within": 5.0}, True, "3, 4"),
        (point(3, 5), {"point": [0, 0], "within": 5.0}, False, "3, 5"),
        (point(3, 4), {"point_in": [0, 0, 5, 5]}, True, "3, 4"),
        (point(3, 9), {"point_in": [0, 0, 5, 5]}, False, "3, 9"),
        (BoxesAnswer((ONE, OTHER)), TWO, True, "0 0 10 10; 20 20 40 40"),
        (BoxesAnswer((ONE,)), TWO, False, "0 0 10 10"),
        (BoxesAnswer((ONE, ONE, OTHER)), TWO, False, None),
        (BoxesAnswer(()), {"boxes": [], "iou": 0.5}, True, "none"),
    ],
)
def test_that_an_answer_is_judged_as_its_kind(
    answer: AnyAnswer, gold: Mapping[str, object], right: bool, called: str | None
) -> None:
    found = score(answer, gold, None, ())
    status = Status.SCORED_CORRECT if right else Status.SCORED_WRONG
    assert found.status is status
    assert called in (None, found.answer)
    assert found.numbers == ()


@pytest.mark.parametrize(
    ("answer", "gold", "numbers"),
    [
        (ReportAnswer("9.4"), NUMBER, {"absolute_error": 0.6}),
        (point(3, 4), {"point": [0, 0], "within": 1.0}, {"distance_px": 5.0}),
        (point(8, 9), {"point_in": [0, 0, 5, 5]}, {"distance_px": 5.0}),
        (
            BoxesAnswer((BoxPx(0, 0, 10, 5),)),
            TWO,
            {"iou": 0.5, "boxes_found": 1, "boxes_extra": 0, "boxes_missed": 1},
        ),
    ],
)
def test_that_what_is_wanted_is_measured(
    answer: AnyAnswer, gold: Mapping[str, object], numbers: Mapping[str, float]
) -> None:
    found = dict(score(answer, gold, None, EVERY).numbers)
    assert found == pytest.approx(numbers)
    first = next(iter(numbers))
    assert [n for n, _ in score(answer, gold, None, [first]).numbers] == [first]


@pytest.mark.parametrize(
    ("judged", "status"),
    [
        ("Yes", Status.SCORED_CORRECT),
        ("No.", Status.SCORED_WRONG),
        ("perhaps", Status.UNPARSED),
        (None, Status.UNPARSED),
    ],
)
def test_that_a_judge_decides_on_words(judged: str | None, status: Status) -> None:
    reply = None if judged is None else ModelReply(judged)
    found = score(ReportAnswer("the pleura on the left"), text("judged"), reply, ())
    assert found.status is status
    assert found.reason == ("judge_unparsed" if status is Status.UNPARSED else "")


@pytest.mark.parametrize(
    "answer",
    [
        *(LabelsAnswer(("x",)), ChoiceAnswer(0), YesNoAnswer(yes=True), point(1, 1)),
        *(ReportAnswer("x"), CellAnswer(Cell(0, 0)), BoxesAnswer((ONE,))),
    ],
)
def test_that_an_answer_of_another_kind_is_none(answer: AnyAnswer) -> None:
    assert score(answer, {}, None, ()) == Score(Status.UNPARSED, "no_answer")


def test_that_what_could_not_be_read_keeps_its_reason() -> None:
    unread = Unparsed(Status.AMBIGUOUS, "several")
    assert score(unread, CHOICE, None, ()) == Score(Status.AMBIGUOUS, "several")
