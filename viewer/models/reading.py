"""Raw replies read and written; the same for every adapter, and without a model."""

import json
import re
from typing import Any

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import ModelReply, RawReply, ReplyKind, Usage

_THINK = re.compile(r"\A\s*<think>(.*?)(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)


def plain_reply(text: str, note: str = "", **fields: str) -> RawReply:
    """Return a PLAIN reply of a baseline or scripted model.

    ``fields`` may name ``finish_reason`` and ``refusal``.
    """
    body = {"text": text, "note": note, **fields}
    return RawReply(ReplyKind.PLAIN, json.dumps(body, sort_keys=True).encode())


def read_reply(raw: RawReply) -> ModelReply:
    """Read a raw reply; one that cannot be read raises ``ProviderError``."""
    body = _json_object(raw)
    if raw.kind is ReplyKind.PLAIN:
        return _read_plain(body)
    return _read_chat_completion(body)


def _json_object(raw: RawReply) -> dict[str, Any]:
    try:
        body = json.loads(raw.body)
    except (ValueError, RecursionError):
        raise unreadable("it is not JSON") from None
    if not isinstance(body, dict):
        raise unreadable("it is not a JSON object")
    return body


def unreadable(why: str) -> ProviderError:
    """Return the error for a body that arrived whole but cannot be read."""
    return ProviderError(
        f"The model's reply cannot be read: {why}.",
        "Check that the endpoint speaks Chat Completions.",
        retry_class=RetryClass.FAIL,
        reason="unreadable_reply",
    )


def _read_plain(body: dict[str, Any]) -> ModelReply:
    text = body.get("text")
    if not isinstance(text, str):
        raise unreadable("it holds no text")
    refusal = body.get("refusal")
    return ModelReply(
        text=text,
        finish_reason=_text(body.get("finish_reason")) or "stop",
        refusal=refusal if isinstance(refusal, str) else None,
        note=_text(body.get("note")),
    )


def _read_chat_completion(body: dict[str, Any]) -> ModelReply:
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise unreadable("it holds no choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise unreadable("its first choice holds no message")
    text, thought = _split_thought(_content(message.get("content")))
    refusal = message.get("refusal")
    return ModelReply(
        text=text,
        reasoning=_reasoning(message) or thought,
        finish_reason=_text(choices[0].get("finish_reason")) or "stop",
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        model_returned=_text(body.get("model")),
        usage=_usage(body.get("usage")),
    )


def _content(content: object) -> str:
    """Return the text of a message's content, a string, null or a list of parts."""
    if content is None or isinstance(content, str):
        return _text(content)
    if not isinstance(content, list):
        raise unreadable("its message's content is neither text nor parts")
    parts = [part for part in content if isinstance(part, dict)]
    return "".join(_text(part.get("text")) for part in parts)


def _split_thought(text: str) -> tuple[str, str]:
    """Split a leading ``<think>`` block off; one cut short leaves no answer."""
    found = _THINK.match(text)
    if found is None:
        return text, ""
    return text[found.end() :].lstrip(), found.group(1).strip()


def _reasoning(message: dict[str, Any]) -> str:
    return _text(message.get("reasoning_content")) or _text(message.get("reasoning"))


def _usage(usage: object) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
    )


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def _text(value: object) -> str:
    """Return a string that can be stored; JSON may hold half surrogate pairs."""
    if not isinstance(value, str):
        return ""
    return value.encode("utf-8", "replace").decode()
