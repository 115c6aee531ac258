"""The current state of each case of a session."""

from collections import defaultdict

from viewer.domain.errors import WrongUseError
from viewer.domain.reading_history import ReadingRow, Standing, standing_of
from viewer.services.sessions.ground import Ground
from viewer.store import readings
from viewer.store.database import Store
from viewer.store.readings import PlannedTask


def standings_of(store: Store, ground: Ground) -> tuple[Standing, ...]:
    """Return the state of every case, by position."""
    by_case: dict[int, list[ReadingRow]] = defaultdict(list)
    for row in readings.readings_of(store, ground.session.id):
        by_case[row.position].append(row)
    planned = readings.tasks_of(store, ground.session.id)
    return tuple(
        standing_of(by_case[i], ground.form_of(task)) for i, task in enumerate(planned)
    )


def standing_at(
    store: Store, ground: Ground, position: int, *, comments: bool = True
) -> Standing:
    """Return the state of one case, with its comment or ""; raises for an unknown one.

    One reader's comments are not for another to see.
    """
    session = ground.session.id
    rows = readings.readings_of(store, session, position, comments=comments)
    return standing_of(rows, ground.form_of(planned_at(store, ground, position)))


def planned_at(store: Store, ground: Ground, position: int) -> PlannedTask:
    """Return one case as planned; raises WrongUseError for an unknown one."""
    session = ground.session.id
    planned = readings.task_at(store, session, position)
    if planned is None:
        raise WrongUseError(
            f"Session {session} has no case {position + 1}.", "Choose one of its cases."
        )
    return planned
