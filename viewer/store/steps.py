"""The replies behind the answers of trials."""

from dataclasses import dataclass

from viewer.domain.errors import WrongUseError
from viewer.domain.run import Step
from viewer.store.database import Store
from viewer.store.trials import TrialReply, reply_of_row, reply_with_id


@dataclass(frozen=True, slots=True)
class AskedTrial:
    """A trial's run, and the reply its verdict names; None before it was answered."""

    id: int
    run: int
    reply: int | None


def asked_of_trial(store: Store, trial_id: int) -> AskedTrial:
    """Return the questions of a trial; an unknown trial raises WrongUseError."""
    rows = store.rows(
        "SELECT t.id, t.run_id, p.reply_id FROM trial t"
        " LEFT JOIN score s ON s.id = t.score_id"
        " LEFT JOIN parse p ON p.id = s.parse_id WHERE t.id = ?",
        (trial_id,),
    )
    if not rows:
        raise WrongUseError(
            f"There is no trial {trial_id} in this store.", "Choose one of a run."
        )
    return AskedTrial(*rows[0])


def asked_otherwise(store: Store, trial_id: int) -> tuple[int, ...]:
    """Return the trials with the same question and model under other conditions.

    They belong to the same run and repeat, in the order planned.
    """
    rows = store.rows(
        "SELECT o.id FROM trial t JOIN trial o ON o.run_id = t.run_id"
        " AND o.item = t.item AND o.model = t.model AND o.repeat = t.repeat"
        " AND o.id != t.id WHERE t.id = ? AND t.item != '' ORDER BY o.id",
        (trial_id,),
    )
    return tuple(int(row["id"]) for row in rows)


def replies_read(store: Store, trial_id: int) -> tuple[TrialReply, ...]:
    """Return the replies of every step behind a trial's current verdict.

    It is empty for a trial of one step, whose only reply is named in its verdict.
    """
    rows = store.rows(
        "SELECT p.step, p.role, p.again, r.* FROM trial t JOIN score s"
        " ON s.id = t.score_id JOIN parse_step p ON p.parse_id = s.parse_id"
        " JOIN reply r ON r.id = p.reply_id WHERE t.id = ? ORDER BY p.position",
        (trial_id,),
    )
    return tuple(
        reply_of_row(row, Step(row["step"], row["role"], row["again"])) for row in rows
    )


def kept_replies(
    store: Store, trial_id: int, reply_id: int, *, alone: bool = False
) -> tuple[TrialReply, ...]:
    """Return every reply behind a trial's verdict, oldest first.

    ``reply_id`` is the reply to a trial of one step; ``alone`` says that there are no
    others.
    """
    read = () if alone else replies_read(store, trial_id)
    return read or (reply_with_id(store, reply_id),)
