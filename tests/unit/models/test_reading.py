"""Raw replies: what is read of them, and what cannot be."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import ModelReply, RawReply, ReplyKind, Usage
from viewer.models.reading import plain_reply, read_reply

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
    with pytest.raises(ProviderError, match="holds no text"):
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
