"""Replies that models gave elsewhere, as written in files."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from viewer.domain.exchange import RawReply, ReplyKind

ANY: Final = ""
"""The condition, repeat or step of a reply whose file does not say it."""
FIELDS: Final = (
    *("item", "condition", "repeat", "model", "step", "again", "role", "reply"),
    *("finish_reason", "refusal", "latency_ms", "kind", "headers", "body", "settings"),
)
"""The columns of a table of replies, and the members of a line of JSON."""


@dataclass(frozen=True)
class WrittenReply:
    """A reply to one question of a trial.

    ``repeat`` is a number as text or ``ANY``. ``step`` is the question's name; ``role``
    names who was asked, "" for the model under test, and ``again`` counts how often the
    identical question was asked before. ``position`` is the question's index in the
    run, from 0, if the file does not identify its item otherwise. ``raw`` is the reply
    as received, None if only its text is known. ``settings`` are the model's settings
    for parsing, such as its coordinate convention.
    """

    item: str
    text: str
    condition: str = ANY
    repeat: str = ANY
    model: str = ""
    step: str = ANY
    again: int = 0
    role: str = ""
    finish_reason: str = ""
    refusal: str = ""
    position: int | None = None
    raw: RawReply | None = None
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def called(self) -> str:
        """The question's name in messages."""
        named = (self.item or str(self.position), self.condition, self.repeat)
        return " ".join(part for part in (*named, self.step) if part)


def row_of(reply: WrittenReply) -> dict[str, object]:
    """Return a reply as a JSON Lines object, without empty members."""
    row: dict[str, object] = {
        "item": reply.item,
        "condition": reply.condition,
        "repeat": reply.repeat,
        "model": reply.model,
        "step": reply.step,
        "again": reply.again,
        "role": reply.role,
        "reply": reply.text,
        "finish_reason": reply.finish_reason,
        "refusal": reply.refusal,
        **_raw_members(reply.raw),
        "settings": json.dumps(dict(reply.settings)) if reply.settings else "",
    }
    required = {"item", "reply"}
    return {name: value for name, value in row.items() if value or name in required}


def reply_of_row(row: Mapping[str, Any]) -> WrittenReply:
    """Return the reply in a JSON line or a table row.

    Raises
    ------
    ValueError
        If the reply is not text, or a number or base64 value is invalid.
    """
    text = row.get("reply")
    if text is None and row.get("body") is None:
        raise ValueError("it has no reply")
    if not isinstance(text, str | None):
        raise ValueError("its reply is not text")  # noqa: TRY004 - of a file
    return WrittenReply(
        item=_text(row.get("item")),
        text=text or "",
        condition=_text(row.get("condition")),
        repeat=_repeat(row.get("repeat")),
        model=_text(row.get("model")),
        step=_text(row.get("step")),
        again=int(row.get("again") or 0),
        role=_text(row.get("role")),
        finish_reason=_text(row.get("finish_reason")),
        refusal=_text(row.get("refusal")),
        raw=_raw(row),
        settings=_object(row.get("settings")),
    )


def _raw_members(raw: RawReply | None) -> dict[str, object]:
    if raw is None:
        return {}
    return {
        "latency_ms": raw.latency_ms,
        "kind": raw.kind.value,
        "headers": json.dumps(dict(raw.headers), sort_keys=True) if raw.headers else "",
        "body": base64.b64encode(raw.body).decode(),
    }


def _raw(row: Mapping[str, Any]) -> RawReply | None:
    if not row.get("body"):
        return None
    try:
        body = base64.b64decode(str(row["body"]), validate=True)
    except binascii.Error as error:
        raise ValueError("its body is not base64") from error
    headers = _object(row.get("headers"))
    return RawReply(
        ReplyKind(str(row.get("kind"))),
        body,
        headers={str(key): str(value) for key, value in headers.items()},
        latency_ms=int(row.get("latency_ms") or 0),
    )


def _object(text: object) -> dict[str, object]:
    found = json.loads(str(text)) if text else {}
    if not isinstance(found, dict):
        raise ValueError("its headers or settings are no JSON object")  # noqa: TRY004
    return found


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _repeat(value: object) -> str:
    """Return a repeat in canonical form: 0, 0.0 and "0" are the same."""
    text = _text(value).strip()
    try:
        return str(int(float(text))) if text else ANY
    except (ValueError, OverflowError) as error:
        raise ValueError("its repeat is not a number") from error
