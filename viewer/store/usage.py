"""How much was asked, its cost, and its size on disk."""

from collections.abc import Mapping
from dataclasses import dataclass

from viewer.domain.errors import LOADING
from viewer.store.database import Store


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """The last rows of the ledger at some time; rows are never deleted."""

    attempt: int
    reply: int
    image: int


def ledger_place(store: Store) -> LedgerPlace:
    """Return the current end of the ledger."""
    row = store.rows(
        "SELECT (SELECT coalesce(max(id), 0) FROM attempt),"
        " (SELECT coalesce(max(id), 0) FROM reply),"
        " (SELECT coalesce(max(rowid), 0) FROM blob)"
    )[0]
    return LedgerPlace(int(row[0]), int(row[1]), int(row[2]))


def asked_since(store: Store, place: LedgerPlace) -> tuple[int, int, int]:
    """Return the number of requests after a place, their cost, and unpriced ones.

    Unpriced are remote replies of unknown cost.
    """
    row = store.rows(
        "SELECT (SELECT count(*) FROM attempt WHERE id > ?),"
        " (SELECT coalesce(sum(cost_microusd), 0) FROM reply WHERE id > ?),"
        " (SELECT count(*) FROM reply r JOIN departure d USING (attempt_id)"
        " WHERE r.id > ? AND r.cost_microusd IS NULL)",
        (place.attempt, place.reply, place.reply),
    )[0]
    return int(row[0]), int(row[1]), int(row[2])


def image_bytes(store: Store, *, after: int, until: int) -> int:
    """Return the bytes of the images stored as sent, between two rows."""
    rows = store.rows(
        "SELECT coalesce(sum(length(bytes)), 0) FROM blob"
        " WHERE rowid > ? AND rowid <= ?",
        (after, until),
    )
    return int(rows[0][0])


def mean_cost(store: Store, model: str) -> float | None:
    """Return the mean cost of a model's trials in micro-dollars, None without any.

    It includes other models with a role in them.
    """
    rows = store.rows(
        "SELECT avg(cost) FROM (SELECT sum(r.cost_microusd) AS cost FROM reply r"
        " JOIN attempt a ON a.id = r.attempt_id JOIN trial t ON t.id = a.trial_id"
        " WHERE t.model = ? GROUP BY t.id)",
        (model,),
    )
    return None if rows[0][0] is None else float(rows[0][0])


def mean_latency(store: Store, model: str) -> float | None:
    """Return the mean milliseconds of a model's latest replies, None without any.

    Those of a provider's batch have no time.
    """
    rows = store.rows(
        "SELECT avg(latency_ms) FROM (SELECT r.latency_ms FROM trial t"
        # CROSS fixes the order of the joins in SQLite: from the model's trials on.
        " CROSS JOIN attempt a ON a.trial_id = t.id"
        " CROSS JOIN reply r ON r.attempt_id = a.id WHERE t.model = ?"
        " AND NOT EXISTS (SELECT 1 FROM batch_job_question q WHERE q.attempt_id = a.id)"
        " ORDER BY r.id DESC LIMIT 200)",
        (model,),
    )
    return None if rows[0][0] is None else float(rows[0][0])


def ledger_counts(store: Store, run: int) -> Mapping[str, int]:
    """Return the number of a run's attempts by result, and their cost.

    Those that a server did not take because it was loading are no errors.
    """
    ends = store.rows(
        "SELECT CASE WHEN e.reason = ? THEN e.reason ELSE coalesce(e.outcome, 'open')"
        " END AS outcome, count(*) AS n FROM attempt a"
        " JOIN trial t ON t.id = a.trial_id LEFT JOIN attempt_end e"
        " ON e.attempt_id = a.id WHERE t.run_id = ? GROUP BY 1 ORDER BY 1",
        (LOADING, run),
    )
    cost = store.rows(
        "SELECT coalesce(sum(r.cost_microusd), 0) FROM reply r JOIN attempt a"
        " ON a.id = r.attempt_id JOIN trial t ON t.id = a.trial_id"
        " WHERE t.run_id = ?",
        (run,),
    )
    counts = {f"attempts_{row['outcome']}": int(row["n"]) for row in ends}
    return counts | {"cost_microusd": int(cost[0][0])}
