"""The ceiling, the cost, and the possible further cost of a run."""

from dataclasses import dataclass

from viewer.store.database import Store, utc_now


@dataclass(frozen=True, slots=True)
class Unpriced:
    """An attempt whose cost is unknown.

    ``reason`` is why it brought no reply, "" if its reply has no token counts or
    nothing is known about its end.
    """

    request_sha256: str
    model: str
    reason: str


def set_ceiling(store: Store, run: int, microusd: int) -> None:
    """Set the maximum cost of a run, replacing an earlier one."""
    if ceiling_of_run(store, run) == microusd:
        return
    with store.transaction():
        store.execute(
            "INSERT INTO run_ceiling (run_id, ceiling_microusd, set_at)"
            " VALUES (?, ?, ?)",
            (run, microusd, utc_now()),
        )


def ceiling_of_run(store: Store, run: int) -> int | None:
    """Return the maximum cost of a run in micro-dollars, None without a ceiling."""
    rows = store.rows(
        "SELECT ceiling_microusd FROM run_ceiling WHERE run_id = ?"
        " ORDER BY id DESC LIMIT 1",
        (run,),
    )
    return int(rows[0][0]) if rows else None


def spent_microusd(store: Store, run: int) -> int:
    """Return the cost of a run's replies, as far as their tokens are known."""
    rows = store.rows(
        "SELECT coalesce(sum(r.cost_microusd), 0) FROM reply r JOIN attempt a"
        " ON a.id = r.attempt_id JOIN trial t ON t.id = a.trial_id"
        " WHERE t.run_id = ?",
        (run,),
    )
    return int(rows[0][0])


def unpriced_attempts(store: Store, run: int) -> tuple[Unpriced, ...]:
    """Return the attempts of a run that may have cost an unknown amount.

    These are attempts without an end, without a response from the server, or with a
    reply without token counts; those of a batch that is going on are not.
    """
    rows = store.rows(
        "SELECT a.request_sha256, t.model, coalesce(e.reason, '') AS reason"
        " FROM attempt a JOIN trial t ON t.id = a.trial_id"
        " LEFT JOIN attempt_end e ON e.attempt_id = a.id"
        " LEFT JOIN reply r ON r.attempt_id = a.id"
        " LEFT JOIN batch_job_question q ON q.attempt_id = a.id"
        " WHERE t.run_id = ? AND NOT (q.attempt_id IS NOT NULL"
        " AND e.attempt_id IS NULL)"
        " AND ((r.id IS NULL AND e.http_status IS NULL)"
        " OR (r.id IS NOT NULL AND r.cost_microusd IS NULL)) ORDER BY a.id",
        (run,),
    )
    return tuple(
        Unpriced(row["request_sha256"], row["model"], row["reason"]) for row in rows
    )
