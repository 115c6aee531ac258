"""What was on screen in sessions whose reader agreed to its being recorded."""

from collections.abc import Iterable
from dataclasses import astuple, fields
from typing import Final

from viewer.domain.telemetry import Look, Sight
from viewer.store import reading_audit
from viewer.store.database import Row, Store

_SIGHT: Final = tuple(field.name for field in fields(Sight))
_COLUMNS: Final = ("session_id", "position", "start", "duration_ms", *_SIGHT)
_ADD: Final = (
    f"INSERT INTO reading_look ({', '.join(_COLUMNS)})"  # noqa: S608 - our own names
    f" VALUES ({', '.join('?' * len(_COLUMNS))})"
)


def add_looks(store: Store, session: int, looks: Iterable[Look]) -> None:
    """Insert looks in their order, inside a transaction."""
    store.execute_many(
        _ADD,
        [
            (session, one.position, one.start, one.duration_ms, *astuple(one.sight))
            for one in looks
        ],
    )


def looks_of(
    store: Store, session: int, position: int | None = None
) -> tuple[Look, ...]:
    """Return what was on screen in a session, or at one of its cases, oldest first."""
    rows = store.rows(
        "SELECT * FROM reading_look WHERE session_id = ?1"
        " AND (?2 IS NULL OR position = ?2) ORDER BY id",
        (session, position),
    )
    return tuple(map(_look, rows))


def cases_with_looks(store: Store) -> dict[int, list[int]]:
    """Return the positions of the cases that were recorded, by session."""
    found: dict[int, list[int]] = {}
    for row in store.rows(
        "SELECT DISTINCT session_id, position FROM reading_look ORDER BY 1, 2"
    ):
        found.setdefault(row["session_id"], []).append(row["position"])
    return found


def _look(row: Row) -> Look:
    seen = {name: row[name] for name in _SIGHT} | {"inverted": bool(row["inverted"])}
    return Look(row["position"], row["start"], row["duration_ms"], Sight(**seen))


def delete_looks(store: Store, session: int) -> int:
    """Delete all of a session, inside a transaction; return how many there were.

    The audit keeps how many. It is allowed only to a reader who withdraws, or who has
    just taken back the consent.
    """
    store.execute("DELETE FROM reading_look WHERE session_id = ?", (session,))
    gone = int(store.rows("SELECT changes()")[0][0])
    if gone:
        reading_audit.note_event(store, reading_audit.LOOKS_DELETED, session, rows=gone)
    return gone
