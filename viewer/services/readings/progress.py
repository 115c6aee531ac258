"""Progress of a session, and the estimated time left."""

from pathlib import Path
from statistics import median

from viewer.domain.reading import Progress, SessionId
from viewer.services.sessions.datasets import locked_cases
from viewer.services.sessions.ground import ground_of
from viewer.services.sessions.standings import standings_of
from viewer.store.database import open_store


def progress(store: Path, session: SessionId) -> Progress:
    """Return the progress of a session, without anything that names a model."""
    with open_store(store) as opened:
        ground = ground_of(opened, session)
        standings = standings_of(opened, ground)
        sums_up = ground.task.overview if ground.task else None
        overview = sums_up(tuple(locked_cases(opened, ground))) if sums_up else ()
    times = [s.active_ms / 1000 for s in standings if s.complete and s.active_ms]
    middle = median(times) if times else None
    done = sum(s.complete for s in standings)
    return Progress(
        planned=len(standings),
        done=done,
        unresolved=sum(s.unresolved for s in standings),
        median_s=middle,
        left_s=None if middle is None else middle * (len(standings) - done),
        overview=overview,
    )
