"""Replies of local models, written and parsed.

The body is a JSON object: ``text``, ``finish_reason``, ``usage`` {``tokens_in``,
``tokens_out``}, ``logprobs`` [[token, logprob, [[token, logprob], …]], …], ``model``,
``note``, and if present the fields of ``heat_map`` (its data as base64) and of
``measured``.
"""

import json
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import (
    WORK_TIME,
    ModelReply,
    RawReply,
    ReplyKind,
    SentHeatMap,
    TokenLogprob,
    Usage,
)
from viewer.domain.interpretability import Measured
from viewer.domain.plain import made, plain
from viewer.models.reply_parts import (
    split_thought,
    text_of,
    unreadable,
    usage_of,
    whole,
)

T = TypeVar("T")


def local_reply(
    text: str,
    *,
    model: str,
    finish_reason: str = "stop",
    usage: Usage | None = None,
    logprobs: Sequence[TokenLogprob] = (),
    heat_map: SentHeatMap | None = None,
    measured: Measured | None = None,
    note: str = "",
    latency_ms: int = 0,
    work_ms: int | None = None,
) -> RawReply:
    """Return the raw reply of a local model."""
    body: dict[str, object] = {
        "text": text,
        "finish_reason": finish_reason,
        "usage": plain(usage or Usage()),
        "logprobs": [[t.token, t.logprob, t.top] for t in logprobs],
        "model": model,
        "note": note,
    }
    if heat_map is not None:
        body["heat_map"] = plain(heat_map)
    if measured is not None:
        body["measured"] = plain(measured)
    data = json.dumps(body, sort_keys=True).encode()
    headers = {} if work_ms is None else {WORK_TIME: str(work_ms)}
    return RawReply(ReplyKind.LOCAL, data, headers=headers, latency_ms=latency_ms)


def read_local(body: dict[str, Any]) -> ModelReply:
    """Parse a local reply; one without text raises ``ProviderError``."""
    written = body.get("text")
    if not isinstance(written, str):
        raise unreadable("it contains no text")
    text, thought = split_thought(text_of(written))
    return ModelReply(
        text=text,
        reasoning=thought,
        finish_reason=text_of(body.get("finish_reason")) or "stop",
        model_returned=text_of(body.get("model")),
        usage=usage_of(body.get("usage"), "tokens_in", "tokens_out"),
        note=text_of(body.get("note")),
        logprobs=_logprobs(body.get("logprobs")),
        heat_map=_heat_map(body.get("heat_map")),
        measured=_part(Measured, body.get("measured"), "what was measured"),
    )


def _logprobs(tokens: object) -> tuple[TokenLogprob, ...]:
    listed = tokens if isinstance(tokens, list) else []
    if not all(isinstance(t, list) and len(t) == 3 for t in listed):
        return ()
    return whole([(t[0], t[1], _pairs(t[2])) for t in listed])


def _pairs(top: object) -> list[tuple[object, object]]:
    listed = top if isinstance(top, list) else []
    return [(t[0], t[1]) for t in listed if isinstance(t, list) and len(t) == 2]


def _part(kind: type[T], part: object, what: str) -> T | None:
    if part is None:
        return None
    try:
        return made(kind, part, where=what)
    except WrongUseError as error:
        raise unreadable(f"{what} has the wrong form") from error


def _heat_map(found: object) -> SentHeatMap | None:
    heat_map = _part(SentHeatMap, found, "its heat map")
    if heat_map is None:
        return None
    rows, columns, data = heat_map.rows, heat_map.columns, heat_map.data
    if min(rows, columns) < 1 or len(data) != rows * columns * 2:
        raise unreadable("its heat map does not have the stated size")
    if not np.isfinite(np.frombuffer(data, dtype="<f2")).all():
        raise unreadable("its heat map contains numbers that are not finite")
    return heat_map
