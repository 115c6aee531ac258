"""Which process asks a question now, so that nobody else buys the same reply.

A question is claimed by an attempt that has not ended, in the transaction that begins
it. The claim is valid as long as its coordinator holds the operating system's lock on
the run, however long that takes: a suspended process may continue. Only if the
coordinator runs on another machine, whose locks may not be visible here, it is valid
for a limited time as well. One in a provider's batch is valid until that is over,
whether or not any process waits for it. Executors claim nothing, wherever they run:
only the coordinator reads their replies.
"""

import socket
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from os import getpid
from typing import Final

from viewer.store.database import Row, Store, utc_now
from viewer.store.locks import is_run_held

LEASE: Final = timedelta(minutes=15)
"""How long a question asked from another machine is its own: longer than any takes."""


@dataclass(frozen=True, slots=True)
class Coordinator:
    """A process that asks a run's questions; ``is_last`` if it is the run's latest.

    ``batch_of`` is the run whose batch at a provider has the question, 0 if none has.
    """

    id: int
    host: str
    pid: int
    since: str
    is_last: bool
    batch_of: int = 0

    def __str__(self) -> str:
        if self.batch_of:
            return f"the batch of run {self.batch_of}"
        return f"process {self.pid} on {self.host} since {self.since}"


@dataclass(frozen=True, slots=True)
class OpenAttempt:
    """An attempt that has not ended; ``coordinator`` is None if unknown."""

    id: int
    run: int
    started_at: str
    coordinator: Coordinator | None


def add_coordinator(store: Store, run: int) -> int:
    """Record that this process coordinates a run whose lock it holds; return the id."""
    with store.transaction():
        return store.execute(
            "INSERT INTO coordinator (run_id, host, pid, started_at)"
            " VALUES (?, ?, ?, ?)",
            (run, socket.gethostname(), getpid(), utc_now()),
        )


def open_attempts(store: Store, request_sha256: str) -> tuple[OpenAttempt, ...]:
    """Return the attempts at a request that have not ended, oldest first."""
    rows = store.rows(
        "SELECT a.id, a.started_at, t.run_id, c.id AS by, c.host, c.pid,"
        " q.batch_job_id, c.started_at AS since, c.id = (SELECT max(l.id)"
        " FROM coordinator l WHERE l.run_id = c.run_id) AS is_last"
        " FROM attempt a JOIN trial t ON t.id = a.trial_id"
        " LEFT JOIN attempt_end e ON e.attempt_id = a.id"
        " LEFT JOIN coordinator c ON c.id = a.coordinator_id"
        " LEFT JOIN batch_job_question q ON q.attempt_id = a.id"
        " WHERE a.request_sha256 = ? AND e.attempt_id IS NULL ORDER BY a.id",
        (request_sha256,),
    )
    return tuple(
        OpenAttempt(row["id"], row["run_id"], row["started_at"], _coordinator(row))
        for row in rows
    )


def _coordinator(row: Row) -> Coordinator | None:
    if row["by"] is None:
        return None
    return Coordinator(
        row["by"],
        row["host"],
        row["pid"],
        row["since"],
        bool(row["is_last"]),
        row["run_id"] if row["batch_job_id"] else 0,
    )


def holder_of(store: Store, attempt: OpenAttempt) -> Coordinator | None:
    """Return the process that awaits an open attempt's reply, None if nobody does."""
    who = attempt.coordinator
    if who is not None and who.batch_of:
        return who
    if who is None or not who.is_last:  # a run has one coordinator at a time
        return None
    held = is_run_held(store.path, attempt.run) or _is_leased(who, attempt)
    return who if held else None


def _is_leased(who: Coordinator, attempt: OpenAttempt) -> bool:
    if who.host == socket.gethostname():
        return False
    return datetime.now(UTC) < datetime.fromisoformat(attempt.started_at) + LEASE
