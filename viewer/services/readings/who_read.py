"""Which sessions belong to which reader of a result."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from viewer.domain.reading import SessionKind
from viewer.domain.report import Table
from viewer.services.sessions.ground import ground_of
from viewer.services.sessions.standings import standings_of
from viewer.services.trials.run_context import RunContext
from viewer.store import readings
from viewer.store.database import Store
from viewer.store.readings import StoredSession

_HEADER: Final = ("reader", "session", "title", "locked", "planned", "opened_at")
NO_OTHER_NAMES: Final[Mapping[str, str]] = MappingProxyType({})


def who_read(
    store: Store,
    sessions: Iterable[StoredSession],
    called: Mapping[str, str] = NO_OTHER_NAMES,
) -> Table:
    """Return a row for each session with a locked case, those of a reader together.

    Withdrawn readers are left out, and sessions whose answers count in another store.
    ``called`` are other names that some have in the results.
    """
    found: dict[str, list[tuple[object, ...]]] = {}
    for row in sessions:
        ground = ground_of(store, row.id)
        standings = standings_of(store, ground)
        locked = sum(one.complete for one in standings)
        if locked and not row.withdrawn and ground.spec.seal is None:
            title = ground.task.title if ground.task else ground.form.title
            name = called.get(row.reader, row.reader)
            own = (name, row.id, title, locked, len(standings), row.opened_at)
            found.setdefault(name, []).append(own)
    rows = (one for of in found.values() for one in of)
    return Table("readers", _HEADER, tuple(rows))


def sessions_of_work(store: Store, session: StoredSession) -> tuple[StoredSession, ...]:
    """Return the sessions of a work; of a reviewed run, adjudications too."""
    if session.kind is SessionKind.READER_STUDY:
        rows = readings.session_rows(store, work=session.work)
    else:
        rows = readings.session_rows(store, run=session.run)
    return tuple(row for row in rows if not row.withdrawn)


def sessions_counted(
    store: Store, run: int, context: RunContext
) -> tuple[StoredSession, ...]:
    """Return the sessions whose answers a run's report counts, oldest first.

    They review the run's misses, or did a task of its study on its data set.
    """
    dataset, study = context.dataset, context.study.name
    of_tasks = readings.task_sessions(store, dataset.name, dataset.root_sha256)
    counted = [row for row in of_tasks if ground_of(store, row.id).study.name == study]
    reviews = [
        row
        for row in readings.session_rows(store, run=run)
        if row.kind is not SessionKind.READER_STUDY
    ]
    return tuple(sorted((*counted, *reviews), key=lambda row: row.id))
