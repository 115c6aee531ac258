"""Replies rescued from a lost store, and the trials that use them."""

import contextlib

from viewer.domain.errors import StoreError
from viewer.domain.exchange import Usage
from viewer.store.database import Row, Store
from viewer.store.reply_rows import ReplyRecord
from viewer.store.saved_replies import SavedReply
from viewer.store.trials import raw_of_row


def waiting_reply(store: Store, request_sha256: str) -> ReplyRecord | None:
    """Return a rescued reply to exactly this request that no trial uses yet."""
    rows = store.rows(
        "SELECT * FROM rescued_reply s WHERE request_sha256 = ? AND NOT EXISTS"
        # A reply is known again by its request and the microsecond of its arrival.
        " (SELECT 1 FROM reply r WHERE r.request_sha256 = s.request_sha256"
        " AND r.received_at = s.received_at) ORDER BY id LIMIT 1",
        (request_sha256,),
    )
    return _record(rows[0]) if rows else None


def replies_of_run(store: Store, run: int) -> tuple[SavedReply, ...]:
    """Return every reply of a run, as far as the store's file is readable."""
    with contextlib.suppress(StoreError):
        rows = store.rows(
            "SELECT r.* FROM reply r JOIN attempt a ON a.id = r.attempt_id"
            " JOIN trial t ON t.id = a.trial_id WHERE t.run_id = ? ORDER BY r.id",
            (run,),
        )
        return tuple(
            SavedReply(row["attempt_id"], row["request_sha256"], _record(row))
            for row in rows
        )
    return ()


def _record(row: Row) -> ReplyRecord:
    return ReplyRecord(
        raw=raw_of_row(row),
        usage=Usage(row["tokens_in"], row["tokens_out"]),
        cost_microusd=row["cost_microusd"],
        model_returned=row["model_returned"],
        reusable=bool(row["reusable"]),
        received_at=row["received_at"],
    )
