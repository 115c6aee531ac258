"""Parcels: the questions of a run that are in a provider's batch.

Every step is committed before the next one begins, so that after a kill it is known
what the provider may have. A question is out as long as its attempt has not ended.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from viewer.domain.run import Step
from viewer.store.database import Row, Store, utc_now
from viewer.store.runs import StoredTrial, trial_of_row
from viewer.store.trials import TrialReply, reply_with_id


class ParcelStep(StrEnum):
    """What has happened to a parcel; its name there comes with it."""

    UPLOADED = "uploaded"
    """Its file is at the provider; the name is the file's."""
    SUBMITTING = "submitting"
    """A batch over its file may have begun."""
    SUBMITTED = "submitted"
    """It is a batch; the name is the batch's."""
    DROPPED = "dropped"
    """Its questions are not asked by it, and its file may not be sent any more."""
    ENDED = "ended"
    """Nothing more comes of it; the name is its last status."""


@dataclass(frozen=True)
class StoredParcel:
    """A parcel with what has happened to it.

    ``file`` and ``batch`` are its names there, "" while it has none, ``due`` when its
    answers are, ``submitting_at`` when a batch was last begun, UTC, "" for never. One
    that ``was_dropped`` must not be sent.
    """

    id: int
    model: str
    key: str
    file: str
    batch: str
    due: str
    submitting_at: str
    was_dropped: bool


@dataclass(frozen=True)
class QuestionOut:
    """A question in a parcel, whose attempt has not ended.

    ``replies`` are those of its trial before it, ``noted`` what its own is read with.
    """

    attempt: int
    parcel: int
    sha256: str
    stored: StoredTrial
    step: Step
    replies: tuple[TrialReply, ...]
    noted: Mapping[str, str]


def begin_parcel(store: Store, run: int, model: str) -> tuple[int, str]:
    """Insert an empty parcel; return its id and its key."""
    key = secrets.token_hex(16)
    with store.transaction():
        number = store.execute(
            "INSERT INTO parcel (run_id, model, key, begun_at) VALUES (?, ?, ?, ?)",
            (run, model, key, utc_now()),
        )
    return number, key


def add_question(
    store: Store,
    parcel: int,
    attempt: int,
    step: Step,
    replies: Sequence[TrialReply],
    noted: Mapping[str, str],
) -> None:
    """Put an attempt into a parcel, in the transaction that begins it."""
    steps = [*((one.step, one.id) for one in replies), (step, 0)]
    listed = [[one.name, one.role, one.again, reply] for one, reply in steps]
    store.execute(
        "INSERT INTO parcel_question (attempt_id, parcel_id, steps, noted)"
        " VALUES (?, ?, ?, ?)",
        (attempt, parcel, json.dumps(listed), json.dumps(dict(noted))),
    )


def note_step(
    store: Store, parcel: int, what: ParcelStep, name: str = "", due: str = ""
) -> None:
    """Record what has happened to a parcel."""
    with store.transaction():
        store.execute(
            "INSERT INTO parcel_event (parcel_id, what, name, due, at)"
            " VALUES (?, ?, ?, ?, ?)",
            (parcel, what.value, name, due, utc_now()),
        )


def going_on(store: Store, run: int) -> tuple[StoredParcel, ...]:
    """Return the parcels of a run that have not ended, oldest first."""
    rows = store.rows(
        "SELECT p.id, p.model, p.key, e.what, e.name, e.due, e.at FROM parcel p"
        " LEFT JOIN parcel_event e ON e.parcel_id = p.id WHERE p.run_id = ?"
        " AND NOT EXISTS (SELECT 1 FROM parcel_event x WHERE x.parcel_id = p.id"
        " AND x.what = 'ended') ORDER BY p.id, e.id",
        (run,),
    )
    events: dict[tuple[int, str, str], dict[str, Row]] = {}
    for row in rows:
        known = events.setdefault((row["id"], row["model"], row["key"]), {})
        known[row["what"]] = row
    return tuple(_parcel(*head, known) for head, known in events.items())


def _parcel(number: int, model: str, key: str, events: dict[str, Row]) -> StoredParcel:
    def named(step: ParcelStep, column: str) -> str:
        return str(events[step][column]) if step in events else ""

    return StoredParcel(
        number,
        model,
        key,
        named(ParcelStep.UPLOADED, "name"),
        named(ParcelStep.SUBMITTED, "name"),
        named(ParcelStep.SUBMITTED, "due"),
        named(ParcelStep.SUBMITTING, "at"),
        ParcelStep.DROPPED in events,
    )


def questions_out(store: Store, run: int) -> tuple[QuestionOut, ...]:
    """Return the questions of a run that are out in parcels, in the order asked."""
    rows = store.rows(
        "SELECT q.attempt_id, q.parcel_id, q.steps, q.noted, a.request_sha256 AS asked,"
        " t.* FROM parcel_question q JOIN attempt a ON a.id = q.attempt_id"
        " JOIN trial t ON t.id = a.trial_id"
        " LEFT JOIN attempt_end e ON e.attempt_id = a.id"
        " WHERE t.run_id = ? AND e.attempt_id IS NULL ORDER BY a.id",
        (run,),
    )
    return tuple(_question(store, row) for row in rows)


def _question(store: Store, row: Row) -> QuestionOut:
    steps = json.loads(row["steps"])
    *before, (step, _) = [(Step(*named), reply) for *named, reply in steps]
    replies = (_reply(store, one, reply) for one, reply in before)
    return QuestionOut(
        row["attempt_id"],
        row["parcel_id"],
        row["asked"],
        StoredTrial(row["id"], trial_of_row(row)),
        step,
        tuple(replies),
        json.loads(row["noted"]),
    )


def _reply(store: Store, step: Step, reply: int) -> TrialReply:
    found = reply_with_id(store, reply)
    return TrialReply(found.raw, step, found.id, found.request_sha256)


@dataclass(frozen=True, slots=True)
class Out:
    """How many questions are in batches of a run, and when the last are due, UTC."""

    questions: int
    due: str


def out_by_run(store: Store) -> Mapping[int, Out]:
    """Return what is out of each run that has questions in batches."""
    rows = store.rows(
        "SELECT p.run_id, count(*) AS n, max(s.due) AS due FROM parcel_question q"
        " JOIN parcel p ON p.id = q.parcel_id"
        " JOIN parcel_event s ON s.parcel_id = p.id AND s.what = 'submitted'"
        " LEFT JOIN attempt_end e ON e.attempt_id = q.attempt_id"
        " WHERE e.attempt_id IS NULL GROUP BY p.run_id"
    )
    return {row["run_id"]: Out(row["n"], row["due"]) for row in rows}
