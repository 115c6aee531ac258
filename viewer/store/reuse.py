"""Replies shared by several trials, of which only one requested it."""

from dataclasses import dataclass

from viewer.store.database import Store


@dataclass(frozen=True, slots=True)
class Reused:
    """How many of a model's replies were requested by another trial.

    ``origin_run`` and ``origin_model`` are those of the requesting trials.
    """

    model: str
    origin_run: int
    origin_model: str
    replies: int


_ORIGINS = (
    " FROM trial t JOIN score s ON s.id = t.score_id JOIN parse p ON p.id = s.parse_id"
    " JOIN reply r ON r.id = p.reply_id JOIN attempt a ON a.id = r.attempt_id"
    " JOIN trial o ON o.id = a.trial_id AND o.id <> t.id"
)


def reused_in(store: Store, run: int) -> tuple[Reused, ...]:
    """Return the origins of reused replies by model of a run, in the order planned."""
    rows = store.rows(
        f"SELECT t.model, o.run_id, o.model, count(*){_ORIGINS}"
        " WHERE t.run_id = ? GROUP BY t.model, o.run_id, o.model ORDER BY min(t.id)",
        (run,),
    )
    return tuple(Reused(*row) for row in rows)


def origin_of(store: Store, trial: int) -> Reused | None:
    """Return the origin of a trial's reply, None if it requested it itself."""
    rows = store.rows(
        f"SELECT t.model, o.run_id, o.model, 1{_ORIGINS} WHERE t.id = ?",
        (trial,),
    )
    return Reused(*rows[0]) if rows else None
