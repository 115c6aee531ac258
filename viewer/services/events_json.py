"""Events as JSON lines, for the worker's stream (DESIGN 2, Framing)."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, Final

from viewer.domain.answer import Status
from viewer.domain.result import Outcome, Score
from viewer.domain.run import (
    Event,
    LimitChanged,
    ModelLoading,
    ModelStopped,
    RunEnded,
    RunSpent,
    RunStarted,
    RunWaiting,
    TrialDone,
    TrialRetried,
)

_EVENTS: Final = {
    cls.__name__: cls
    for cls in (
        RunStarted,
        ModelLoading,
        TrialDone,
        TrialRetried,
        ModelStopped,
        RunSpent,
        LimitChanged,
        RunWaiting,
        RunEnded,
    )
}


def event_as_json(event: Event, seq: int) -> dict[str, object]:
    """Return an event as plain JSON values with its place in the stream."""
    fields = dataclasses.asdict(event)
    if "counts" in fields:
        fields["counts"] = {status.value: n for status, n in fields["counts"].items()}
    return {"event": type(event).__name__, "seq": seq, **fields}


def event_of_json(value: Mapping[str, object]) -> Event:
    """Return the event that :func:`event_as_json` wrote."""
    fields = {k: v for k, v in value.items() if k not in ("event", "seq")}
    if isinstance(fields.get("counts"), dict):
        fields["counts"] = {Status(k): n for k, n in fields["counts"].items()}  # type: ignore[attr-defined]
    if isinstance(fields.get("score"), dict):
        fields["score"] = _score(fields["score"])  # type: ignore[arg-type]
    return _EVENTS[str(value["event"])](**fields)  # type: ignore[arg-type]


def _score(fields: Mapping[str, Any]) -> Score:
    outcome = fields["outcome"]
    return Score(
        status=Status(fields["status"]),
        reason=fields["reason"],
        answer=fields["answer"],
        coverage=fields["coverage"],
        outcome=Outcome(outcome) if outcome else None,
        numbers=tuple((name, value) for name, value in fields["numbers"]),
    )


def line(value: Mapping[str, object]) -> bytes:
    """Return one frame: a JSON object, UTF-8, closed by a newline."""
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
