"""Parsing and writing of raw replies; the same for every adapter, without a model."""

import json
from dataclasses import replace
from typing import Any

from viewer.domain.exchange import ModelReply, RawReply, ReplyKind, TokenLogprob
from viewer.models.local_reply import local_reply, read_local
from viewer.models.reply_parts import (
    json_object,
    openai_logprobs,
    refusal_of_error,
    split_thought,
    text_of,
    unreadable,
    usage_of,
)
from viewer.models.responses_reply import read_response
from viewer.models.returned_pictures import pictures_of_message


def read_chat_completion(body: dict[str, Any]) -> ModelReply:
    """Parse the first choice of a body; ``ProviderError`` if there is none."""
    choices = body.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise unreadable("it contains no choices")
    message = choices[0].get("message")
    if not isinstance(message, dict):
        raise unreadable("its first choice contains no message")
    text, thought = split_thought(_content(message.get("content")))
    refusal = message.get("refusal")
    return ModelReply(
        text=text,
        reasoning=_reasoning(message) or thought,
        finish_reason=text_of(choices[0].get("finish_reason")) or "stop",
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        model_returned=text_of(body.get("model")),
        usage=usage_of(body.get("usage"), "prompt_tokens", "completion_tokens"),
        logprobs=_logprobs(choices[0].get("logprobs")),
        pictures=pictures_of_message(message),
    )


def _content(content: object) -> str:
    """Return the text of a message's content: a string, null or a list of parts."""
    if content is None or isinstance(content, str):
        return text_of(content)
    if not isinstance(content, list):
        raise unreadable("its message's content is neither text nor parts")
    parts = [part for part in content if isinstance(part, dict)]
    return "".join(text_of(part.get("text")) for part in parts)


def _reasoning(message: dict[str, Any]) -> str:
    """Return separate reasoning, under vLLM's, llama.cpp's or Ollama's name."""
    thought = text_of(message.get("reasoning_content"))
    return thought or text_of(message.get("reasoning"))


def _logprobs(logprobs: object) -> tuple[TokenLogprob, ...]:
    tokens = logprobs.get("content") if isinstance(logprobs, dict) else None
    return openai_logprobs(tokens)


__all__ = ["local_reply", "plain_reply", "read_reply"]


def plain_reply(text: str, note: str = "", **fields: str) -> RawReply:
    """Return a PLAIN reply of a baseline or scripted model.

    ``fields`` may include ``finish_reason`` and ``refusal``.
    """
    body = {"text": text, "note": note, **fields}
    return RawReply(ReplyKind.PLAIN, json.dumps(body, sort_keys=True).encode())


def read_reply(raw: RawReply) -> ModelReply:
    """Parse a raw reply; ``ProviderError`` if it cannot be read."""
    body = json_object(raw)
    refusal = refusal_of_error(body)
    if refusal is not None:
        return ModelReply("", finish_reason="content_filter", refusal=refusal)
    reply = _READERS[raw.kind](body)
    return replace(
        reply,
        finish_reason="length" if _is_cut(raw, reply) else reply.finish_reason,
        latency_ms=raw.latency_ms,
        peak_memory_bytes=raw.peak_memory_bytes,
        work_ms=raw.work_ms,
    )


def _is_cut(raw: RawReply, reply: ModelReply) -> bool:
    """Tell whether a response called complete has the maximum length.

    The servers of llama.cpp and transformers never call one incomplete (measured).
    """
    cap, used = raw.length_cap, reply.usage.tokens_out
    full = cap is not None and used is not None and used >= cap
    return raw.kind is ReplyKind.RESPONSE and reply.finish_reason == "stop" and full


def _read_plain(body: dict[str, Any]) -> ModelReply:
    text = body.get("text")
    if not isinstance(text, str):
        raise unreadable("it contains no text")
    refusal = body.get("refusal")
    return ModelReply(
        text=text,
        finish_reason=text_of(body.get("finish_reason")) or "stop",
        refusal=refusal if isinstance(refusal, str) else None,
        note=text_of(body.get("note")),
    )


_READERS = {
    ReplyKind.PLAIN: _read_plain,
    ReplyKind.CHAT_COMPLETION: read_chat_completion,
    ReplyKind.RESPONSE: read_response,
    ReplyKind.LOCAL: read_local,
}
