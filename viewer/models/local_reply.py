"""Replies of models that run on this machine, written and read again.

The body is a JSON object: ``text``, ``finish_reason``, ``usage`` {``tokens_in``,
``tokens_out``}, ``logprobs`` [[token, logprob, [[token, logprob], …]], …], ``model``,
``note``, ``heat_map`` {``rows``, ``columns``, ``data``: base64 of little-endian
float16, row-major} where there is one, and ``measured`` where something was, see
`measured_json`.
"""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from viewer.domain.exchange import (
    WORK_TIME,
    ModelReply,
    RawReply,
    ReplyKind,
    SentHeatMap,
    TokenLogprob,
    Usage,
)
from viewer.domain.inside import Measured
from viewer.models.measured_json import measured_json, measured_of
from viewer.models.reply_parts import (
    split_thought,
    text_of,
    unreadable,
    usage_of,
    whole,
)


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
    """Return the raw reply of a model that ran here."""
    used = usage or Usage()
    body: dict[str, object] = {
        "text": text,
        "finish_reason": finish_reason,
        "usage": {"tokens_in": used.tokens_in, "tokens_out": used.tokens_out},
        "logprobs": [[t.token, t.logprob, t.top] for t in logprobs],
        "model": model,
        "note": note,
    }
    if heat_map is not None:
        body["heat_map"] = {
            "rows": heat_map.rows,
            "columns": heat_map.columns,
            "data": base64.b64encode(heat_map.data).decode("ascii"),
        }
    if measured is not None:
        body["measured"] = measured_json(measured)
    data = json.dumps(body, sort_keys=True).encode()
    headers = {} if work_ms is None else {WORK_TIME: str(work_ms)}
    return RawReply(ReplyKind.LOCAL, data, headers=headers, latency_ms=latency_ms)


def read_local(body: dict[str, Any]) -> ModelReply:
    """Return a local reply; one without text raises ``ProviderError``."""
    said = body.get("text")
    if not isinstance(said, str):
        raise unreadable("it holds no text")
    text, thought = split_thought(text_of(said))
    return ModelReply(
        text=text,
        reasoning=thought,
        finish_reason=text_of(body.get("finish_reason")) or "stop",
        model_returned=text_of(body.get("model")),
        usage=usage_of(body.get("usage"), "tokens_in", "tokens_out"),
        note=text_of(body.get("note")),
        logprobs=_logprobs(body.get("logprobs")),
        heat_map=_heat_map(body.get("heat_map")),
        measured=measured_of(body.get("measured")),
    )


def _logprobs(tokens: object) -> tuple[TokenLogprob, ...]:
    listed = tokens if isinstance(tokens, list) else []
    if not all(isinstance(t, list) and len(t) == 3 for t in listed):
        return ()
    return whole([(t[0], t[1], _pairs(t[2])) for t in listed])


def _pairs(top: object) -> list[tuple[object, object]]:
    listed = top if isinstance(top, list) else []
    return [(t[0], t[1]) for t in listed if isinstance(t, list) and len(t) == 2]


def _heat_map(found: object) -> SentHeatMap | None:
    if found is None:
        return None
    if not isinstance(found, dict):
        raise unreadable("its heat map is no object")
    rows, columns = found.get("rows"), found.get("columns")
    try:
        data = base64.b64decode(str(found.get("data")), validate=True)
    except (binascii.Error, ValueError):
        raise unreadable("its heat map is not base64") from None
    if not isinstance(rows, int) or not isinstance(columns, int):
        raise unreadable("its heat map does not say its size")
    if min(rows, columns) < 1 or len(data) != rows * columns * 2:
        raise unreadable("its heat map does not have the size it says")
    if not np.isfinite(np.frombuffer(data, dtype="<f2")).all():
        raise unreadable("its heat map holds no finite numbers")
    return SentHeatMap(rows, columns, data)
