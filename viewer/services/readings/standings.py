"""The current state of each case of a session."""

from collections import defaultdict

from viewer.domain.reading_history import ReadingRow, Standing, standing_of
from viewer.services.readings.ground import Ground
from viewer.store import readings
from viewer.store.database import Store


def standings_of(store: Store, ground: Ground) -> tuple[Standing, ...]:
    """Return the state of every case, by position."""
    by_case: dict[int, list[ReadingRow]] = defaultdict(list)
    for row in readings.readings_of(store, ground.session.id):
        by_case[row.position].append(row)
    planned = len(readings.tasks_of(store, ground.session.id))
    return tuple(standing_of(by_case[i], ground.form) for i in range(planned))


def standing_at(store: Store, ground: Ground, position: int) -> Standing:
    """Return the state of one case."""
    rows = readings.readings_of(store, ground.session.id, position)
    return standing_of(rows, ground.form)
