"""A reply as a row: what the table reply and files of saved replies have in common."""

import json
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from viewer.domain.exchange import RawReply, Usage

COLUMNS: Final = (
    "request_sha256",
    "kind",
    "body",
    "http_status",
    "headers",
    "latency_ms",
    "tokens_in",
    "tokens_out",
    "cost_microusd",
    "model_returned",
    "reusable",
    "received_at",
)
"""The columns that tables reply and rescued_reply share, in this order."""
PLACES: Final = ", ".join("?" * len(COLUMNS))
NAMES: Final = ", ".join(COLUMNS)


def utc_now() -> str:
    """Return the time now, UTC, ISO 8601 to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True)
class ReplyRecord:
    """A reply as stored in the ledger, with what was read from it on arrival."""

    raw: RawReply
    usage: Usage
    cost_microusd: int | None
    model_returned: str
    reusable: bool
    received_at: str = field(default_factory=utc_now)


def reply_row(request_sha256: str, record: ReplyRecord) -> tuple[object, ...]:
    """Return the values of :data:`COLUMNS`."""
    raw = record.raw
    return (
        request_sha256,
        raw.kind.value,
        zlib.compress(raw.body, 1),
        raw.http_status,
        json.dumps(dict(raw.headers), sort_keys=True),
        raw.latency_ms,
        record.usage.tokens_in,
        record.usage.tokens_out,
        record.cost_microusd,
        record.model_returned,
        int(record.reusable),
        record.received_at,
    )
