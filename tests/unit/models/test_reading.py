"""Raw replies: what is read of them, and what cannot be."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import (
    LENGTH_CAP,
    ModelReply,
    RawReply,
    ReplyKind,
    SentHeatMap,
    TokenLogprob,
    Usage,
)
from viewer.models.reading import local_reply, plain_reply, read_reply

CHAT = ReplyKind.CHAT_COMPLETION


def chat(message: object, **choice: object) -> RawReply:
    document = {"model": "m-1", "choices": [{"message": message, **choice}]}
    return RawReply(CHAT, json.dumps(document).encode())


def test_that_a_whole_reply_is_read() -> None:
    document = {
        "model": "m-2024",
        "choices": [
            {
                "finish_reason": "length",
                "message": {"content": "D4", "reasoning_content": "hm"},
            }
        ],
        "usage": {"prompt_tokens": 85, "completion_tokens": 2},
    }
    assert read_reply(RawReply(CHAT, json.dumps(document).encode())) == ModelReply(
        text="D4",
        reasoning="hm",
        finish_reason="length",
        model_returned="m-2024",
        usage=Usage(85, 2),
    )


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ("D4", "D4", ""),
        ("", "", ""),
        (None, "", ""),
        ("<think>maybe C4</think>\nF6", "F6", "maybe C4"),
        ("<think>\n\n</think>\n\nD4", "D4", ""),
        ("<think>C4, no", "", "C4, no"),
        ("D4 <think>", "D4 <think>", ""),
        ([{"type": "text", "text": "D"}, {"type": "text", "text": "4"}], "D4", ""),
        ([{"type": "image"}, "x"], "", ""),
        ("\ud800D4", "?D4", ""),
    ],
)
def test_that_content_is_read(content: object, text: str, reasoning: str) -> None:
    reply = read_reply(chat({"content": content}))
    assert (reply.text, reply.reasoning) == (text, reasoning)


def test_that_the_refusal_field_is_kept_apart() -> None:
    assert read_reply(chat({"content": None, "refusal": "No."})).refusal == "No."
    assert read_reply(chat({"content": "D4", "refusal": None})).refusal is None
    assert read_reply(chat({"content": "D4", "refusal": ""})).refusal is None


def test_that_odd_usage_is_unknown_rather_than_wrong() -> None:
    for usage in ("many", {"prompt_tokens": "85"}, {"prompt_tokens": True}, None):
        document = {"choices": [{"message": {"content": "D4"}}], "usage": usage}
        assert (
            read_reply(RawReply(CHAT, json.dumps(document).encode())).usage == Usage()
        )


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff",
        b"[]",
        b"null",
        b"{}",
        b'{"choices": []}',
        b'{"choices": [1]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": "D4"}]}',
        b'{"choices": [{"message": {"content": 4}}]}',
        b"[" * 100_000,
    ],
)
def test_that_an_unreadable_body_fails_the_trial_alone(body: bytes) -> None:
    with pytest.raises(ProviderError) as caught:
        read_reply(RawReply(CHAT, body))
    assert caught.value.retry_class is RetryClass.FAIL
    assert caught.value.reason == "unreadable_reply"


def test_that_a_plain_reply_without_text_cannot_be_read() -> None:
    with pytest.raises(ProviderError, match="contains no text"):
        read_reply(RawReply(ReplyKind.PLAIN, b"{}"))


@given(text=st.text(), note=st.text())
def test_that_any_plain_text_comes_back(text: str, note: str) -> None:
    reply = read_reply(plain_reply(text, note))
    assert (reply.text, reply.note) == (text, note)


@given(body=st.binary(max_size=200))
def test_that_any_bytes_are_read_or_refused(body: bytes) -> None:
    for kind in ReplyKind:
        try:
            read_reply(RawReply(kind, body))
        except ProviderError as error:
            assert error.reason == "unreadable_reply"  # noqa: PT017 - either will do


def response(output: object, **fields: object) -> RawReply:
    body = {"model": "m-1", "status": "completed", "output": output, **fields}
    return RawReply(ReplyKind.RESPONSE, json.dumps(body).encode())


def said(*parts: object) -> dict[str, object]:
    return {"type": "message", "role": "assistant", "content": list(parts)}


def test_that_a_whole_response_is_read() -> None:
    token = {"token": "D4", "logprob": -0.1}
    text = {"type": "output_text", "text": "D4", "logprobs": [token]}
    summary = {"type": "summary_text", "text": "hm"}
    reply = read_reply(
        response(
            [{"type": "reasoning", "summary": [summary]}, said(text)],
            usage={"input_tokens": 85, "output_tokens": 2},
        )
    )
    assert reply == ModelReply(
        text="D4",
        reasoning="hm",
        model_returned="m-1",
        usage=Usage(85, 2),
        logprobs=(TokenLogprob("D4", -0.1),),
    )


@pytest.mark.parametrize(
    ("reason", "end"),
    [
        ("max_output_tokens", "length"),
        ("content_filter", "content_filter"),
        (None, "length"),
    ],
)
def test_that_an_incomplete_response_says_why(reason: object, end: str) -> None:
    details = {"reason": reason} if reason else None
    raw = response([said()], status="incomplete", incomplete_details=details)
    assert read_reply(raw).finish_reason == end


@pytest.mark.parametrize(
    ("cap", "end"), [("2", "length"), ("3", "stop"), ("", "stop"), ("x", "stop")]
)
def test_that_a_response_as_long_as_it_may_be_counts_as_cut(cap: str, end: str) -> None:
    usage = {"input_tokens": 85, "output_tokens": 2}
    part = {"type": "output_text", "text": "The"}
    raw = replace(response([said(part)], usage=usage), headers={LENGTH_CAP: cap})
    assert read_reply(raw).finish_reason == end


def test_that_a_response_s_refusal_is_kept_apart() -> None:
    reply = read_reply(response([said({"type": "refusal", "refusal": "No."})]))
    assert (reply.text, reply.refusal) == ("", "No.")


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_that_a_failed_response_is_no_answer(status: str) -> None:
    with pytest.raises(ProviderError, match=status):
        read_reply(response([], status=status))


def test_that_open_reasoning_goes_before_its_summary() -> None:
    thought = {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "short"}],
        "content": [{"type": "reasoning_text", "text": "long"}],
    }
    assert read_reply(response([thought, said()])).reasoning == "long"


def test_that_logprobs_of_a_chat_are_read_with_the_likeliest_beside() -> None:
    top = [{"token": "D", "logprob": -0.5}, {"token": "E", "logprob": -1}]
    content = [{"token": "D", "logprob": -0.5, "bytes": [68], "top_logprobs": top}]
    reply = read_reply(chat({"content": "D"}, logprobs={"content": content}))
    assert reply.logprobs == (TokenLogprob("D", -0.5, (("D", -0.5), ("E", -1.0))),)


@pytest.mark.parametrize(
    "odd",
    [
        {"token": 4, "logprob": -1},
        {"token": "D", "logprob": "x"},
        {"token": "D", "logprob": 10**400},
        {"token": "D", "logprob": True},
        {"token": "D"},
    ],
)
def test_that_one_odd_token_voids_the_logprobs(odd: object) -> None:
    good = {"token": "D", "logprob": -1}
    raw = chat({"content": "DD"}, logprobs={"content": [good, odd]})
    assert read_reply(raw).logprobs == ()


@given(
    text=st.text(),
    logprobs=st.lists(
        st.builds(
            TokenLogprob,
            st.text(),
            st.floats(-100, 0),
            st.lists(st.tuples(st.text(), st.floats(-100, 0))).map(tuple),
        )
    ).map(tuple),
)
def test_that_any_local_reply_comes_back(
    text: str, logprobs: tuple[TokenLogprob, ...]
) -> None:
    heat = SentHeatMap.of([[0.25, 1.0], [0.5, 0.0], [0.0, 0.125]])
    raw = local_reply(
        f"<think>hm</think>{text}",
        model="m",
        finish_reason="length",
        usage=Usage(3, 4),
        logprobs=logprobs,
        heat_map=heat,
    )
    reply = read_reply(raw)
    assert (reply.text, reply.reasoning) == (text.lstrip(), "hm")
    assert (reply.logprobs, reply.usage) == (logprobs, Usage(3, 4))
    assert reply.heat_map == heat
    assert reply.heat_map.values.tolist() == [[0.25, 1.0], [0.5, 0.0], [0.0, 0.125]]


@pytest.mark.parametrize(
    "heat",
    [
        4,
        {"rows": 1, "columns": 1, "data": "!"},
        {"rows": 1, "columns": 2, "data": "AAA="},
        {"rows": "1", "columns": 1, "data": "AAA="},
        {"rows": 1, "columns": 1, "data": "AHw="},
    ],
)
def test_that_an_odd_heat_map_is_no_reply(heat: object) -> None:
    body = json.dumps({"text": "D4", "heat_map": heat}).encode()
    with pytest.raises(ProviderError, match="heat map"):
        read_reply(RawReply(ReplyKind.LOCAL, body))


@pytest.mark.parametrize("logprobs", [4, [["D", -1]], ["D4"], [["D", "x", []]]])
def test_that_odd_logprobs_of_a_local_reply_are_none(logprobs: object) -> None:
    body = json.dumps({"text": "D4", "logprobs": logprobs}).encode()
    assert read_reply(RawReply(ReplyKind.LOCAL, body)).logprobs == ()


@pytest.mark.parametrize("kind", [ReplyKind.LOCAL, ReplyKind.RESPONSE])
def test_that_a_body_without_an_answer_cannot_be_read(kind: ReplyKind) -> None:
    with pytest.raises(ProviderError, match="cannot be read"):
        read_reply(RawReply(kind, b"{}"))
