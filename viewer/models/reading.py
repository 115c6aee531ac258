"""Raw replies read and written; the same for every adapter, and without a model."""

import json
from dataclasses import replace
from typing import Any

from viewer.domain.exchange import ModelReply, RawReply, ReplyKind
from viewer.models.chat_reply import read_chat_completion
from viewer.models.local_reply import local_reply, read_local
from viewer.models.reply_parts import json_object, refusal_of_error, text_of, unreadable
from viewer.models.responses_reply import read_response

__all__ = ["local_reply", "plain_reply", "read_reply"]


def plain_reply(text: str, note: str = "", **fields: str) -> RawReply:
    """Return a PLAIN reply of a baseline or scripted model.

    ``fields`` may name ``finish_reason`` and ``refusal``.
    """
    body = {"text": text, "note": note, **fields}
    return RawReply(ReplyKind.PLAIN, json.dumps(body, sort_keys=True).encode())


def read_reply(raw: RawReply) -> ModelReply:
    """Read a raw reply; one that cannot be read raises ``ProviderError``."""
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
    """Tell whether a response is as long as it might be but called complete.

    The servers of llama.cpp and transformers never call one incomplete (measured).
    """
    cap, used = raw.length_cap, reply.usage.tokens_out
    full = cap is not None and used is not None and used >= cap
    return raw.kind is ReplyKind.RESPONSE and reply.finish_reason == "stop" and full


def _read_plain(body: dict[str, Any]) -> ModelReply:
    text = body.get("text")
    if not isinstance(text, str):
        raise unreadable("it holds no text")
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
