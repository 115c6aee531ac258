"""Events as JSON lines, for the worker's stream."""

import json
from collections.abc import Mapping
from typing import Any, Final, get_args

from viewer.domain.plain import Kinds
from viewer.domain.run import Event

_EVENTS: Final[Kinds[Event]] = Kinds(
    "event", {kind.__name__: kind for kind in get_args(Event)}
)


def event_as_json(event: Event, seq: int) -> dict[str, Any]:
    """Return an event as plain JSON values with its number in the stream."""
    return {**_EVENTS.plain(event), "seq": seq}


def event_of_json(value: Mapping[str, Any]) -> Event:
    """Return the event that :func:`event_as_json` wrote."""
    document = {name: part for name, part in value.items() if name != "seq"}
    return _EVENTS.made(document, where="the worker's event")


def line(value: Mapping[str, object]) -> bytes:
    """Return one frame: a JSON object in UTF-8, ended by a newline."""
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"
