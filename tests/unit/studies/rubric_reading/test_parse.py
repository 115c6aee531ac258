import json

import pytest

from viewer.domain.answer import LabelledBox, ReportAnswer, Status, Unparsed
from viewer.domain.exchange import ModelReply
from viewer.domain.geometry import BoxPx
from viewer.domain.result import Score
from viewer.studies.boxes_in_text import read_boxes
from viewer.studies.rubric_reading.parse import CUT_SHORT, parse
from viewer.studies.rubric_reading.score import score, spelling

FIELDS = (BoxPx(0, 0, 2000, 1000), BoxPx(10, 20, 110, 220))


def reply(text: str, finish: str = "stop", refusal: str | None = None) -> ModelReply:
    return ModelReply(text=text, finish_reason=finish, refusal=refusal)


def boxes(*entries: object) -> str:
    return "An effusion.\n```json\n" + json.dumps({"boxes": entries}) + "\n```"


@pytest.mark.statement("E001-09")
def test_that_text_and_any_number_of_boxes_on_any_image_are_read() -> None:
    text = boxes(
        {"image": 1, "label": "effusion ", "box": [0, 500, 250, 1000]},
        {"image": 2, "label": "nodule", "box": [100, 0, 200, 500.5]},
        {"image": 2, "box": [0, 0, 1000, 1000]},
    )
    found = parse(reply(text), FIELDS)
    assert found == ReportAnswer(
        text,
        (
            LabelledBox(BoxPx(0, 500, 500, 1000), "effusion", 0),
            LabelledBox(BoxPx(20, 20, 30, 120.1), "nodule", 1),
            LabelledBox(BoxPx(10, 20, 110, 220), "", 1),
        ),
    )
    assert read_boxes(text, FIELDS).problems == ()


@pytest.mark.statement("E001-08", "E001-09")
def test_that_boxes_are_not_forced() -> None:
    for text in ("No abnormality is present.", "A long [unboxed] text {with} braces."):
        assert parse(reply(text), FIELDS) == ReportAnswer(text)


@pytest.mark.statement("E001-09")
@pytest.mark.parametrize(
    "finish", ["length", "MAX_TOKENS", "model_context_window_exceeded"]
)
def test_that_the_token_limit_is_a_status_of_its_own(finish: str) -> None:
    found = parse(reply("The text breaks", finish), FIELDS)
    assert found == Unparsed(Status.TRUNCATED, CUT_SHORT)


@pytest.mark.parametrize(
    ("given", "status", "reason"),
    [
        (reply("", refusal="I cannot."), Status.REFUSED, "refusal_field"),
        (reply("", "content_filter"), Status.REFUSED, "content_filter"),
        (reply("I cannot interpret images."), Status.REFUSED, "declined"),
        (reply(" <think>hm</think> "), Status.UNPARSED, "empty"),
    ],
)
def test_that_a_missing_output_is_no_refusal(
    given: ModelReply, status: Status, reason: str
) -> None:
    assert parse(given, FIELDS) == Unparsed(status, reason)


@pytest.mark.statement("E001-19")
def test_that_declining_is_an_answer_where_a_task_cannot_be_answered() -> None:
    text = "I cannot determine this from the image."
    assert parse(reply(text), FIELDS, may_abstain=True) == ReportAnswer(text)
    long = f"{text} {'Yet the heart is large. ' * 20}".strip()
    assert parse(reply(long), FIELDS) == ReportAnswer(long)
    boxed = f"I cannot assess the rest. {boxes({'image': 1, 'box': [0, 0, 1, 1]})}"
    assert isinstance(parse(reply(boxed), FIELDS), ReportAnswer)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"label": "a", "box": [0, 0, 1, 1]}, "it names no image"),
        ({"image": True, "box": [0, 0, 1, 1]}, "it names no image"),
        ({"image": 3, "box": [0, 0, 1, 1]}, "there is no image 3"),
        ({"image": 0, "box": [0, 0, 1, 1]}, "there is no image 0"),
        ({"image": 1, "box": [0, 0, 1]}, "it does not have four numbers"),
        ({"image": 1, "box": "0, 0, 1, 1"}, "it does not have four numbers"),
        ({"image": 1, "box": [0, 0, 1, True]}, "it does not have four numbers"),
        ({"image": 1, "box": [0, 0, 1, float("inf")]}, "it does not have four numbers"),
        ({"image": 1, "box": [0, 0, 1001, 1]}, "its corners are not in order"),
        ({"image": 1, "box": [5, 0, 5, 1]}, "its corners are not in order"),
    ],
)
def test_that_a_box_that_is_none_is_told_and_the_text_kept(
    entry: object, why: str
) -> None:
    text = boxes(entry, {"image": 1, "box": [0, 0, 10, 10]})
    found = read_boxes(text, FIELDS)
    assert len(found.boxes) == 1
    (problem,) = found.problems
    assert problem.startswith(f"Box 1 is not drawn: {why}")
    answer = parse(reply(text), FIELDS)
    assert isinstance(answer, ReportAnswer)
    assert answer.text == text


def test_that_one_image_needs_no_number_and_lists_stand_alone() -> None:
    text = 'See [{"box": [0, 0, 500, 500], "label": 3}] and {"box": [0, 0, 1, 1]} [1].'
    assert read_boxes(text, FIELDS[:1]).boxes == (
        LabelledBox(BoxPx(0, 0, 1000, 500), "", 0),
        LabelledBox(BoxPx(0, 0, 2, 1), "", 0),
    )


def test_that_an_ungraded_output_is_neither_right_nor_wrong() -> None:
    answer = ReportAnswer("one", (LabelledBox(BoxPx(0, 0, 1, 1), "a"),))
    assert score(answer) == Score(
        Status.EXCLUDED, "ungraded", "1 word, 1 box", numbers=(("boxes", 1.0),)
    )
    assert score(Unparsed(Status.TRUNCATED, CUT_SHORT)).reason == CUT_SHORT
    assert spelling(ReportAnswer("two words")) == "2 words, 0 boxes"
