import json

import pytest

from viewer.domain.exchange import RawReply, ReplyKind
from viewer.domain.written_reply import ANY, WrittenReply, reply_of_row, row_of

RAW = RawReply(next(iter(ReplyKind)), b"\x00body", headers={"x": "1"}, latency_ms=7)
REPLY = WrittenReply(
    item="q1",
    text="D4",
    condition="grid=8",
    repeat="0",
    model="m",
    step="first",
    again=1,
    role="judge",
    finish_reason="stop",
    raw=RAW,
    settings={"convention": "native"},
)


@pytest.mark.parametrize("reply", [REPLY, WrittenReply("q2", "")])
def test_that_a_reply_comes_back_from_its_line(reply: WrittenReply) -> None:
    assert reply_of_row(json.loads(json.dumps(row_of(reply)))) == reply


def test_that_a_repeat_is_the_same_however_it_is_written() -> None:
    for repeat in (2, 2.0, "2", " 2.0 "):
        assert reply_of_row({"reply": "A", "repeat": repeat}).repeat == "2"
    assert reply_of_row({"reply": "A", "repeat": None}).repeat == ANY


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({}, "it has no reply"),
        ({"reply": 3}, "its reply is not text"),
        ({"reply": "A", "repeat": "once"}, "its repeat is not a number"),
        ({"reply": "A", "body": "not base64!"}, "its body is not base64"),
        ({"reply": "A", "settings": "[1]"}, "are no JSON object"),
    ],
)
def test_that_what_is_no_reply_says_why(row: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        reply_of_row(row)


def test_that_a_question_is_called_by_what_is_known_of_it() -> None:
    assert REPLY.called == "q1 grid=8 0 first"
    assert WrittenReply("", "A", position=3).called == "3"
