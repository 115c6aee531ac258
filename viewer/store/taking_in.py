"""Storing of saved replies; repeating it changes nothing."""

import sqlite3
from typing import Final

from viewer.store.reply_rows import NAMES, PLACES, reply_row
from viewer.store.saved_replies import SavedFile, SavedReply

_KNOWN: Final = (
    "SELECT 1 FROM reply WHERE request_sha256 = ?1 AND received_at = ?2"
    " UNION ALL"
    " SELECT 1 FROM rescued_reply WHERE request_sha256 = ?1 AND received_at = ?2"
)
_AWAITED: Final = (
    "SELECT 1 FROM attempt a LEFT JOIN attempt_end e ON e.attempt_id = a.id"
    " WHERE a.id = ? AND a.request_sha256 = ? AND e.attempt_id IS NULL"
)


def take_in(connection: sqlite3.Connection, store: str, file: SavedFile) -> int:
    """Insert, inside a transaction, the replies that are missing; return their number.

    A reply ends its attempt if this is the store named in the file and the attempt has
    not ended. Any other waits for a trial with the identical request.
    """
    is_own = file.store == store
    return sum(_take_one(connection, reply, is_own=is_own) for reply in file.replies)


def _take_one(
    connection: sqlite3.Connection, saved: SavedReply, *, is_own: bool
) -> bool:
    key = saved.request_sha256, saved.record.received_at
    # A file may be taken in twice: it is removed only after the commit.
    if connection.execute(_KNOWN, key).fetchone():
        return False
    row = reply_row(saved.request_sha256, saved.record)
    if is_own and _is_awaited(connection, saved):
        connection.execute(
            "INSERT INTO attempt_end (attempt_id, outcome, http_status, reason,"
            " message, ended_at) VALUES (?, 'reply', ?, '', '', ?)",
            (saved.attempt, saved.record.raw.http_status, saved.record.received_at),
        )
        connection.execute(
            f"INSERT INTO reply (attempt_id, {NAMES}) VALUES (?, {PLACES})",  # noqa: S608 - our own names
            (saved.attempt, *row),
        )
    else:
        connection.execute(
            f"INSERT INTO rescued_reply ({NAMES}) VALUES ({PLACES})",  # noqa: S608 - our own names
            row,
        )
    return True


def _is_awaited(connection: sqlite3.Connection, saved: SavedReply) -> bool:
    asked = saved.attempt, saved.request_sha256
    return connection.execute(_AWAITED, asked).fetchone() is not None
