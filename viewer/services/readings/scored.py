"""Readers' locked answers, scored by the path that scores a model's (X-03)."""

from collections.abc import Iterator
from dataclasses import dataclass

from viewer.domain.answer import Answer
from viewer.domain.case import Dataset
from viewer.domain.reading import SessionKind
from viewer.domain.reading_history import Standing
from viewer.domain.result import Score
from viewer.domain.run import Trial
from viewer.services.bench import Bench
from viewer.services.readings.ground import Ground, ground_of
from viewer.services.readings.replies import (
    answer_of,
    confidence_of,
    place_of,
    reply_of,
    spec_of_reader,
    trials_of_reader,
)
from viewer.services.readings.standings import standings_of
from viewer.store import cases, readings
from viewer.store.database import Store


@dataclass(frozen=True)
class ScoredReading:
    """One locked case of a reader with its verdict.

    ``answer`` is None where the reader denies the finding. ``confidence`` is the level
    of the form's first scale, None without one; ``truth`` tells whether the finding is
    there.
    """

    session: int
    position: int
    reader: str
    trial: Trial
    answer: Answer | None
    confidence: int | None
    score: Score
    standing: Standing
    truth: bool


def readings_of_study(store: Store, session: int) -> tuple[ScoredReading, ...]:
    """Return every locked case of all readers of a session's study.

    They are in the order of the sessions and positions; who has withdrawn is left
    out, and a form without a place has none.
    """
    first = ground_of(store, session)
    if first.session.kind is not SessionKind.READER_STUDY:
        return ()
    dataset = cases.dataset_named(store, first.session.dataset)
    return tuple(
        reading
        for row in readings.session_rows(store, work=first.session.work)
        if not row.withdrawn
        for reading in _of_session(store, ground_of(store, row.id), dataset)
    )


def _of_session(
    store: Store, ground: Ground, dataset: Dataset
) -> Iterator[ScoredReading]:
    bench = Bench(spec_of_reader(ground), dataset)
    trials = trials_of_reader(ground, dataset)
    tasks = readings.tasks_of(store, ground.session.id)
    for position, standing in enumerate(standings_of(store, ground)):
        placed = place_of(ground.form, standing.values) is not None
        if standing.complete and placed:
            yield _scored(
                ground, bench, trials[tasks[position].item], position, standing
            )


def _scored(
    ground: Ground, bench: Bench, trial: Trial, position: int, standing: Standing
) -> ScoredReading:
    raw = reply_of(ground, bench, trial, standing)
    return ScoredReading(
        ground.session.id,
        position,
        ground.session.reader,
        trial,
        answer_of(ground.form, standing.values),
        confidence_of(ground.form, standing.values),
        bench.judged_reply(trial, raw).score,
        standing,
        bench.reference(trial) is not None,
    )
