"""The chain of hashes over readers' sessions: any change of a row breaks it.

Each event contains the hash of its row and the hash of the previous event. A row's salt
is hashed too, so that a withdrawn reader's answers cannot be guessed. A missing end of
the chain cannot be detected from inside, but by recording its last hash elsewhere.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Final

from viewer.domain.reading import Consent
from viewer.domain.telemetry import TELEMETRY
from viewer.store import signing
from viewer.store.database import Row, Store, utc_now

LOOKS, LOOKS_DELETED = "looks", "looks_deleted"
"""The kinds of events about what was recorded on screen."""
START: Final = "0" * 64
"""What the first event has before it."""

_READING: Final = (
    *("id", "session_id", "position", "act", "stage", "answers", "comment"),
    *("active_ms", "salt", "at"),
)
_SESSION: Final = ("kind", "run_id", "dataset_id", "work", "form", "spec", "opened_at")
_TASK: Final = ("position", "item", "image", "view", "finding", "trial_id")
_SHOWN: Final = ("material", "withheld")
"""What a case has besides if it is not only a finding on an image."""


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """The result of checking the chain; ``head`` is the last event's hash."""

    events: int
    head: str
    problems: tuple[str, ...]

    @property
    def intact(self) -> bool:
        """Whether nothing was changed, added or removed."""
        return not self.problems


def note_session(store: Store, session: int) -> None:
    """Append the opening of a session, with the hashes of its plan and reader."""
    _append(store, {"kind": "session", "session": session, **_session(store, session)})


def note_reading(store: Store, row_id: int) -> None:
    """Append a reader's action, with the hash of its row."""
    row = store.rows("SELECT * FROM reading WHERE id = ?", (row_id,))[0]
    event = {
        "kind": "reading",
        "row": row_id,
        "session": row["session_id"],
        "position": row["position"],
        "act": row["act"],
        "row_sha256": _row_sha256(row, _READING),
    }
    _append(store, event)


def note_event(
    store: Store, kind: str, session: int, *, signed: bool = False, **facts: object
) -> None:
    """Append something else that was done with a session.

    ``kind`` is ``seal`` (in a file for another machine), ``opened`` (from such a file),
    ``answers`` (its answers written to a file), ``merge`` (answers came back; the
    events of each follow), ``export`` (in tables for others), ``certificate`` or
    ``looks_deleted`` (what was recorded on screen).
    ``signed`` if it holds a signature by this store's key.
    """
    key = {"key_sha256": signing.key_sha256(store)} if signed else {}
    _append(store, {"kind": kind, "session": session, **facts, **key})


def note_consent(store: Store, session: int, consent: Consent) -> None:
    """Append what a reader decided on a text, unless that was the last decision."""
    if decision_on(store, session, consent) is not consent.given:
        note_event(store, "consent", session, **asdict(consent))


def has_consented(store: Store, session: int, consent: Consent) -> bool:
    """Tell whether a session's reader last agreed to this very text."""
    return decision_on(store, session, consent) is True


def decision_on(store: Store, session: int, consent: Consent) -> bool | None:
    """Return what a session's reader last decided on a text, None if nothing."""
    for last in reversed(consents_of(store, session)):
        if replace(last, given=consent.given) == consent:
            return last.given
    return None


def consents_of(store: Store, session: int) -> tuple[Consent, ...]:
    """Return what a session's reader decided on texts, oldest first."""
    names = [field.name for field in fields(Consent)]
    told = events_of(store, session, "consent")
    return tuple(Consent(**{name: one[name] for name in names}) for one in told)


_ACT: Final = "position, act, stage, answers, comment, active_ms, salt, at"


def acts_of(store: Store, session: int) -> tuple[dict[str, object], ...]:
    """Return the actions in a session as they are stored, oldest first.

    They are numbered by nothing but their order, so that those of one session are the
    same in every store that has it.
    """
    rows = store.rows(
        f"SELECT {_ACT} FROM reading WHERE session_id = ? ORDER BY id",  # noqa: S608 - our own column names
        (session,),
    )
    return tuple(dict(row) for row in rows)


def plan_sha256(store: Store, session: int) -> str:
    """Return the hash of what a session asks, without its reader's name."""
    return _session(store, session)["plan_sha256"]


def head_of(store: Store) -> tuple[int, str]:
    """Return the number and the hash of the last event."""
    rows = store.rows("SELECT seq, sha256 FROM reading_audit ORDER BY seq DESC LIMIT 1")
    return (int(rows[0][0]), str(rows[0][1])) if rows else (0, START)


def is_event(store: Store, number: int, sha256: str) -> bool:
    """Tell whether the event of a number has a hash."""
    rows = store.rows(
        "SELECT 1 FROM reading_audit WHERE seq = ? AND sha256 = ?", (number, sha256)
    )
    return bool(rows)


def events_of(store: Store, session: int, kind: str) -> list[dict[str, Any]]:
    """Return the events of a kind about a session, oldest first."""
    rows = store.rows(
        "SELECT event FROM reading_audit WHERE json_extract(event, '$.session') = ?1"
        " AND json_extract(event, '$.kind') = ?2"
        # A session that was deleted may have had the same number.
        " AND seq > (SELECT ifnull(max(seq), 0) FROM reading_audit WHERE"
        "  json_extract(event, '$.session') = ?1"
        "  AND json_extract(event, '$.kind') = 'deletion') ORDER BY seq",
        (session, kind),
    )
    return [json.loads(row[0]) for row in rows]


def note_looks(store: Store, session: int) -> None:
    """Append the hash of what was recorded on screen since the last such event."""
    last = max((e["last"] for e in events_of(store, session, LOOKS)), default=0)
    if rows := _looks(store, session, last):
        facts = {"rows": len(rows), "last": rows[-1]["id"]}
        sha256 = _looks_sha256(store, session, rows)
        note_event(store, LOOKS, session, **facts, rows_sha256=sha256)


def _looks(store: Store, session: int, after: int) -> list[Row]:
    return store.rows(
        "SELECT * FROM reading_look WHERE session_id = ? AND id > ? ORDER BY id",
        (session, after),
    )


def _looks_sha256(store: Store, session: int, rows: list[Row]) -> str:
    """Return the hash of rows with the session's salt, which goes with its reader."""
    salt = store.rows("SELECT salt FROM reading_session WHERE id = ?", (session,))
    values = json.dumps([list(row) for row in (*salt, *rows)])
    return hashlib.sha256(values.encode()).hexdigest()


def note_withdrawal(store: Store, session: int, rows: int) -> None:
    """Append that a reader withdrew."""
    event = {
        "kind": "withdrawal",
        "session": session,
        "rows": rows,
        "row_sha256": _withdrawal_sha256(store, session),
        "reader_sha256": _session(store, session)["reader_sha256"],
    }
    _append(store, event)


def note_deletion(store: Store, session: int) -> None:
    """Append that a session was deleted with its cases and answers."""
    _append(store, {"kind": "deletion", "session": session})


def _withdrawal_sha256(store: Store, session: int) -> str:
    rows = store.rows(
        "SELECT * FROM reading_withdrawal WHERE session_id = ?", (session,)
    )
    return _row_sha256(rows[0], ("session_id", "reason", "at")) if rows else ""


def _append(store: Store, event: Mapping[str, object]) -> None:
    last = store.rows("SELECT sha256 FROM reading_audit ORDER BY seq DESC LIMIT 1")
    previous = str(last[0][0]) if last else START
    text = json.dumps({**event, "at": utc_now()}, sort_keys=True)
    store.execute(
        "INSERT INTO reading_audit (event, previous, sha256) VALUES (?, ?, ?)",
        (text, previous, _chained(previous, text)),
    )


def _chained(previous: str, event: str) -> str:
    return hashlib.sha256(f"{previous}\n{event}".encode()).hexdigest()


def _row_sha256(row: Row, columns: tuple[str, ...]) -> str:
    values = [row[column] for column in columns]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def _session(store: Store, session: int) -> dict[str, str]:
    row = store.rows("SELECT * FROM reading_session WHERE id = ?", (session,))[0]
    tasks = store.rows(
        "SELECT * FROM reading_task WHERE session_id = ? ORDER BY position", (session,)
    )
    plan = [_row_sha256(row, _SESSION), *map(_task_sha256, tasks)]
    return {
        "plan_sha256": hashlib.sha256("\n".join(plan).encode()).hexdigest(),
        "reader_sha256": _row_sha256(row, ("salt", "reader")),
    }


def _task_sha256(row: Row) -> str:
    bare = row["material"] == "{}" and row["withheld"] == "{}"
    return _row_sha256(row, _TASK if bare else _TASK + _SHOWN)


def check_audit(store: Store) -> AuditCheck:
    """Recompute the chain and every hash in it; return the differences in sentences."""
    rows = store.rows("SELECT * FROM reading_audit ORDER BY seq")
    problems = [*_chain_problems(rows)]
    events = _of_kept([json.loads(row["event"]) for row in rows if _is_own(row)])
    problems += _content_problems(store, events)
    problems += _key_problems(store, rows)
    head = str(rows[-1]["sha256"]) if rows else START
    return AuditCheck(len(rows), head, tuple(problems))


def _key_problems(store: Store, rows: list[Row]) -> Iterator[str]:
    """Yield a sentence if what was signed cannot be checked with the key any more."""
    noted = {json.loads(row["event"]).get("key_sha256") for row in rows if _is_own(row)}
    if noted - {None, signing.key_sha256(store)}:
        yield "The key that signs sessions and certificates was changed or removed."


def _chain_problems(rows: list[Row]) -> Iterator[str]:
    previous = START
    for number, row in enumerate(rows, 1):
        # AUTOINCREMENT leaves no gap and uses no number twice: one was removed.
        if row["seq"] != number:
            yield f"Event {number} of the audit is missing."
            return
        if row["previous"] != previous:
            yield f"Event {number} of the audit does not follow the one before it."
        if not _is_own(row):
            yield f"Event {number} of the audit was changed."
        previous = row["sha256"]


def _is_own(row: Row) -> bool:
    """Tell whether an event still matches its hash."""
    return bool(row["sha256"] == _chained(row["previous"], row["event"]))


def _of_kept(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the events of sessions that were not deleted afterwards."""
    kept: list[dict[str, Any]] = []
    for event in events:
        if event["kind"] == "deletion":
            # Another session may have the number later.
            kept = [one for one in kept if one["session"] != event["session"]]
        else:
            kept.append(event)
    return kept


def _content_problems(store: Store, events: list[dict[str, Any]]) -> Iterator[str]:
    withdrawn = {e["session"] for e in events if e["kind"] == "withdrawal"}
    noted = {e["row"]: e for e in events if e["kind"] == "reading"}
    held = {row["id"]: row for row in store.rows("SELECT * FROM reading")}
    for row_id, row in held.items():
        if row_id not in noted:
            yield f"Answer {row_id} is in no event of the audit."
        elif noted[row_id]["row_sha256"] != _row_sha256(row, _READING):
            yield f"Answer {row_id} was changed."
    for row_id, event in noted.items():
        if row_id not in held and event["session"] not in withdrawn:
            yield f"Answer {row_id} of session {event['session']} was removed."
    yield from _look_problems(store, events)
    yield from _session_problems(store, events)
    yield from _withdrawal_problems(store, events)


def _look_problems(store: Store, events: list[dict[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each session whose screen recording was changed.

    What was recorded since the last lock or pause is in no event yet.
    """
    noted: dict[int, list[dict[str, Any]]] = {}
    allowed: dict[int, bool] = {}
    for event in events:
        session, kind = event["session"], event["kind"]
        if kind == LOOKS_DELETED:
            noted.pop(session, None)
        elif kind == LOOKS:
            noted.setdefault(session, []).append(event)
        elif kind == "consent" and event["to"] == TELEMETRY:
            allowed[session] = event["given"]
        elif kind == "withdrawal":
            allowed[session] = False
    held = {row[0] for row in store.rows("SELECT session_id FROM reading_look")}
    for session in sorted(held | set(noted)):
        about = noted.get(session, [])
        if not _is_whole(store, session, about, more=allowed.get(session, False)):
            yield f"The screen recording of session {session} was changed."


def _is_whole(
    store: Store, session: int, about: list[dict[str, Any]], *, more: bool
) -> bool:
    """Tell whether looks are those of events, and more of them only if allowed."""
    rows = _looks(store, session, 0)
    for event in about:
        part = [row for row in rows if row["id"] <= event["last"]]
        rows = rows[len(part) :]
        if _looks_sha256(store, session, part) != event["rows_sha256"]:
            return False
    return more or not rows


def _session_problems(store: Store, events: list[dict[str, Any]]) -> Iterator[str]:
    reader = {e["session"]: e["reader_sha256"] for e in events if "reader_sha256" in e}
    opened = {e["session"]: e for e in events if e["kind"] == "session"}
    held = {row[0] for row in store.rows("SELECT id FROM reading_session")}
    for session in sorted(held | set(opened)):
        if session not in opened:
            yield f"Session {session} is in no event of the audit."
        elif session not in held:
            yield f"Session {session} was removed."
        else:
            now, then = _session(store, session), opened[session]
            if not _is_sealed(store, session):
                yield f"The cases of session {session} can be added to."
            if now["plan_sha256"] != then["plan_sha256"]:
                yield f"The cases of session {session} were changed."
            if now["reader_sha256"] != reader[session]:
                yield f"The reader of session {session} was changed."


def _is_sealed(store: Store, session: int) -> bool:
    rows = store.rows("SELECT sealed FROM reading_session WHERE id = ?", (session,))
    return bool(rows[0][0] == 1)


def _withdrawal_problems(store: Store, events: list[dict[str, Any]]) -> Iterator[str]:
    noted = {e["session"]: e["row_sha256"] for e in events if e["kind"] == "withdrawal"}
    held = {row[0] for row in store.rows("SELECT session_id FROM reading_withdrawal")}
    for session in sorted(held | set(noted)):
        if session not in noted:
            yield f"The withdrawal of session {session} is in no event."
        elif _withdrawal_sha256(store, session) != noted[session]:
            yield f"The withdrawal of session {session} was changed or removed."
