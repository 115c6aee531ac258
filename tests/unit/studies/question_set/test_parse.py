"""Replies to questions of each kind, read or told why not."""

import pytest

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
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell
from viewer.domain.question_kinds import AnswerKind
from viewer.studies.question_set.parse import as_number, parse
from viewer.studies.question_set.questions import Asked

SIZE = SizePx(100, 200)
BOX = BoxPx(20, 20, 60, 40)


def asked(kind: str, size: SizePx | None) -> Asked:
    options = ("gland", "fat", "bone") if kind == "choice" else ()
    grid = "4" if kind == "cell" else ""
    named = ("k", "p", "c", AnswerKind(kind), ("i.png",), "What?", options)
    return Asked(*named, grid, "", size)


def read(
    kind: str, text: str, finish: str = "stop", size: SizePx | None = SIZE
) -> AnyAnswer | Unparsed:
    order = (2, 0, 1) if kind == "choice" else ()
    return parse(ModelReply(text, finish_reason=finish), asked(kind, size), order)


def said(answer: AnyAnswer | Unparsed) -> str:
    """Return the words of an answer, or the reason why there are none."""
    assert isinstance(answer, ReportAnswer | Unparsed)
    return answer.text if isinstance(answer, ReportAnswer) else answer.reason


def test_that_a_letter_names_the_option_in_the_order_shown() -> None:
    chosen = read("choice", "A")
    assert isinstance(chosen, ChoiceAnswer)
    assert chosen.option == 2
    by_words = read("choice", "fat")
    assert isinstance(by_words, ChoiceAnswer)
    assert by_words.option == 1
    assert isinstance(read("choice", "no idea"), Unparsed)


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("Yes.", True),
        ("No, there is none.", False),
        ('{"answer": "no"}', False),
        ('{"answer": true}', True),
        ("After all the answer is yes", True),
        ("It is not present", False),
        ("yes or no: yes", True),
    ],
)
def test_that_yes_or_no_is_read(text: str, *, yes: bool) -> None:
    found = read("yes_no", text)
    assert isinstance(found, YesNoAnswer)
    assert found.yes is yes


@pytest.mark.parametrize(
    ("text", "finish", "status", "reason"),
    [
        ("yes and no", "stop", Status.AMBIGUOUS, "yes_and_no"),
        ("It depends", "stop", Status.UNPARSED, "no_yes_or_no"),
        ("I cannot assess this", "stop", Status.REFUSED, "declined"),
        ("It is hard to", "length", Status.TRUNCATED, "length"),
        ("", "content_filter", Status.REFUSED, "content_filter"),
    ],
)
def test_that_neither_yes_nor_no_has_its_reason(
    text: str, finish: str, status: Status, reason: str
) -> None:
    assert read("yes_no", text, finish) == Unparsed(status, reason)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("12", "12"),
        ("12.5 mm", "12.5"),
        ("-3 %", "-3"),
        ("1,250 ml/min", "1,250"),
        ('{"answer": 7}', "7"),
        ('{"answer": "7 cm"}', "7"),
        ("Of 3 lesions in 2 lobes, the answer is 5 mm.", "5"),
        ("It measures about 14 mm across", "14"),
        ("The answer is unknown to many, but 14 was measured", "14"),
        ("1e3", "1e3"),
    ],
)
def test_that_a_number_is_read(text: str, written: str) -> None:
    assert read("number", text) == ReportAnswer(written)
    assert as_number(written) is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("between 10 and 12", "several"),
        ("10-12", "several"),
        ("many", "no_number"),
        ("I am unable to determine it", "declined"),
        ("1.2.3", "no_number"),
    ],
)
def test_that_no_number_has_its_reason(text: str, reason: str) -> None:
    assert said(read("number", text)) == reason
    assert said(read("number", "12", "length")) == "length"
    assert said(read("number", "12", "content_filter")) == "content_filter"


@pytest.mark.parametrize(
    ("written", "value"),
    [("12", 12), ("12,5", 12.5), ("1,250.5", 1250.5), ("1.2.3", None)],
)
def test_that_commas_stand_for_thousands_or_decimals(
    written: str, value: float | None
) -> None:
    assert as_number(written) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Pleura", "Pleura"),
        ("<think>hm</think>The pleura", "The pleura"),
        ('{"answer": "pleura "}', "pleura"),
        ("I see much.\nAnswer: the pleura\nbecause", "pleura"),
        (" ", "empty"),
        ("I cannot answer that.", "declined"),
    ],
)
def test_that_words_are_read(text: str, words: str) -> None:
    assert said(read("text", text)) == words


def test_that_a_cell_is_read_in_its_grid() -> None:
    found = read("cell", "The finding is in B2.")
    assert isinstance(found, CellAnswer)
    assert found.cell == Cell(1, 1)
    assert read("cell", "F6") == Unparsed(Status.OUT_OF_RANGE, "out_of_range")


@pytest.mark.parametrize(
    ("kind", "text", "answer"),
    [
        ("point", '{"point": [100, 200]}', PointAnswer(PointPx(20, 20))),
        ("point", '[{"point": [100, 200]}]', PointAnswer(PointPx(20, 20))),
        ("box", '{"box": [100, 200, 300, 400]}', BoxesAnswer((BOX,))),
        ("boxes", '{"boxes": [{"box": [100, 200, 300, 400]}]}', BoxesAnswer((BOX,))),
        ("boxes", '{"boxes": []}', BoxesAnswer(())),
    ],
)
def test_that_places_come_back_in_pixels(
    kind: str, text: str, answer: AnyAnswer
) -> None:
    assert read(kind, text) == answer
    assert read(kind, text, size=None) == Unparsed(Status.UNPARSED, "no_image")


TWO = '[{"box": [1, 2, 3, 4]}, {"box": [5, 6, 7, 8]}]'


@pytest.mark.parametrize(
    ("kind", "text", "reason"),
    [
        ("point", '[{"point": [1, 2]}, {"point": [3, 4]}]', "several"),
        ("point", '{"point": [1, 2000]}', "no_point"),
        ("point", '{"point": [1, true]}', "no_point"),
        ("point", '{"point": 1}', "no_point"),
        ("point", "top left", "no_point"),
        ("point", "I cannot locate it", "declined"),
        ("box", TWO, "several"),
        ("box", '{"boxes": []}', "no_box"),
        ("box", "everywhere", "no_box"),
        ("boxes", '{"box": [9, 2, 3, 4]}', "box_outside"),
    ],
)
def test_that_no_place_has_its_reason(kind: str, text: str, reason: str) -> None:
    assert said(read(kind, text)) == reason


NO_BOX, OUTSIDE = (
    Unparsed(Status.UNPARSED, "no_box"),
    Unparsed(Status.OUT_OF_RANGE, "box_outside"),
)
SEVERAL = Unparsed(Status.AMBIGUOUS, "several")
POINT = PointAnswer(PointPx(3, 4))


@pytest.mark.parametrize(
    ("kind", "place", "expected"),
    [
        ("point", POINT, POINT),
        ("point", BoxesAnswer((BOX,)), Unparsed(Status.UNPARSED, "no_point")),
        ("box", BoxesAnswer((BOX,)), BoxesAnswer((BOX,))),
        ("box", BoxesAnswer((BOX, BOX)), SEVERAL),
        ("box", POINT, NO_BOX),
        ("box", OUTSIDE, OUTSIDE),
        ("box", Unparsed(Status.DENIED_FINDING, "denied"), NO_BOX),
        ("boxes", BoxesAnswer((BOX, BOX)), BoxesAnswer((BOX, BOX))),
        ("boxes", Unparsed(Status.DENIED_FINDING, "denied"), BoxesAnswer(())),
        ("boxes", POINT, NO_BOX),
    ],
)
def test_that_a_place_in_a_models_own_convention_must_be_what_was_asked_for(
    kind: str, place: AnyAnswer | Unparsed, expected: AnyAnswer | Unparsed
) -> None:
    reply = ModelReply("[1, 2, 3, 4]")
    assert parse(reply, asked(kind, SIZE), (), lambda: place) == expected
