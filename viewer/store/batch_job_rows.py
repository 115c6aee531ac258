"""Batch jobs: the questions of a run that are in a provider's batch.

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


class BatchJobStep(StrEnum):
    """What has happened to a batch job; its name there comes with it."""

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
class StoredBatchJob:
    """A batch job with what has happened to it.

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
class OpenQuestion:
    """A question in a batch job, whose attempt has not ended.

    ``replies`` are those of its trial before it, ``noted`` what its own is read with.
    """

    attempt: int
    job: int
    sha256: str
    stored: StoredTrial
    step: Step
    replies: tuple[TrialReply, ...]
    noted: Mapping[str, str]


def begin_job(store: Store, run: int, model: str) -> tuple[int, str]:
    """Insert an empty batch job; return its id and its key."""
    key = secrets.token_hex(16)
    with store.transaction():
        number = store.execute(
            "INSERT INTO batch_job (run_id, model, key, begun_at) VALUES (?, ?, ?, ?)",
            (run, model, key, utc_now()),
        )
    return number, key


def add_question(
    store: Store,
    job: int,
    attempt: int,
    step: Step,
    replies: Sequence[TrialReply],
    noted: Mapping[str, str],
) -> None:
    """Put an attempt into a batch job, in the transaction that begins it."""
    steps = [*((one.step, one.id) for one in replies), (step, 0)]
    listed = [[one.name, one.role, one.again, reply] for one, reply in steps]
    store.execute(
        "INSERT INTO batch_job_question (attempt_id, batch_job_id, steps, noted)"
        " VALUES (?, ?, ?, ?)",
        (attempt, job, json.dumps(listed), json.dumps(dict(noted))),
    )


def note_step(
    store: Store, job: int, what: BatchJobStep, name: str = "", due: str = ""
) -> None:
    """Record what has happened to a batch job."""
    with store.transaction():
        store.execute(
            "INSERT INTO batch_job_event (batch_job_id, what, name, due, at)"
            " VALUES (?, ?, ?, ?, ?)",
            (job, what.value, name, due, utc_now()),
        )


def unfinished_jobs(store: Store, run: int) -> tuple[StoredBatchJob, ...]:
    """Return the batch jobs of a run that have not ended, oldest first."""
    rows = store.rows(
        "SELECT p.id, p.model, p.key, e.what, e.name, e.due, e.at FROM batch_job p"
        " LEFT JOIN batch_job_event e ON e.batch_job_id = p.id WHERE p.run_id = ?"
        " AND NOT EXISTS (SELECT 1 FROM batch_job_event x WHERE x.batch_job_id = p.id"
        " AND x.what = 'ended') ORDER BY p.id, e.id",
        (run,),
    )
    events: dict[tuple[int, str, str], dict[str, Row]] = {}
    for row in rows:
        known = events.setdefault((row["id"], row["model"], row["key"]), {})
        known[row["what"]] = row
    return tuple(_job(*head, known) for head, known in events.items())


def _job(number: int, model: str, key: str, events: dict[str, Row]) -> StoredBatchJob:
    def named(step: BatchJobStep, column: str) -> str:
        return str(events[step][column]) if step in events else ""

    return StoredBatchJob(
        number,
        model,
        key,
        named(BatchJobStep.UPLOADED, "name"),
        named(BatchJobStep.SUBMITTED, "name"),
        named(BatchJobStep.SUBMITTED, "due"),
        named(BatchJobStep.SUBMITTING, "at"),
        BatchJobStep.DROPPED in events,
    )


def open_questions(store: Store, run: int) -> tuple[OpenQuestion, ...]:
    """Return the questions of a run that are out in batch jobs, in the order asked."""
    rows = store.rows(
        "SELECT q.attempt_id, q.batch_job_id, q.steps, q.noted,"
        " a.request_sha256 AS asked, t.* FROM batch_job_question q"
        " JOIN attempt a ON a.id = q.attempt_id"
        " JOIN trial t ON t.id = a.trial_id"
        " LEFT JOIN attempt_end e ON e.attempt_id = a.id"
        " WHERE t.run_id = ? AND e.attempt_id IS NULL ORDER BY a.id",
        (run,),
    )
    return tuple(_question(store, row) for row in rows)


def _question(store: Store, row: Row) -> OpenQuestion:
    steps = json.loads(row["steps"])
    *before, (step, _) = [(Step(*named), reply) for *named, reply in steps]
    replies = (_reply(store, one, reply) for one, reply in before)
    return OpenQuestion(
        row["attempt_id"],
        row["batch_job_id"],
        row["asked"],
        StoredTrial(row["id"], trial_of_row(row)),
        step,
        tuple(replies),
        json.loads(row["noted"]),
    )


def _reply(store: Store, step: Step, reply: int) -> TrialReply:
    found = reply_with_id(store, reply)
    return TrialReply(found.raw, step, found.id, found.request_sha256)
