"""Readers' sessions and their actions; every write is part of the audit."""

import json
import secrets
from collections.abc import Collection, Sequence
from dataclasses import astuple, dataclass
from typing import Final

from viewer.domain.errors import WrongUseError
from viewer.domain.form_values import Values, values_as_json, values_of_json
from viewer.domain.reading import Act, Consent, SessionId, SessionKind
from viewer.domain.reading_history import ReadingRow
from viewer.domain.result import Outcome
from viewer.store import reading_audit
from viewer.store.database import Row, Store, utc_now
from viewer.store.reader_names import earlier_sessions


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """One case of a session; ``trial`` is the one reviewed, None in a reader study.

    ``material`` is what it shows and ``withheld`` what only after a lock, as JSON.
    """

    item: str
    image: str
    view: str
    finding: str
    trial: int | None = None
    material: str = "{}"
    withheld: str = "{}"


@dataclass(frozen=True)
class NewReading:
    """An action before it is a row; ``salt`` and ``at`` if it was one elsewhere."""

    act: Act
    stage: int
    values: Values
    comment: str = ""
    active_ms: int = 0
    salt: str = ""
    at: str = ""


@dataclass(frozen=True)
class NewSession:
    """A session before it has a number; ``form`` and ``spec`` are JSON.

    ``returning`` says that the reader is the one of all sessions of this name;
    ``visiting`` that another store, which knows its readers, sealed it. ``consents``
    and ``acts`` are what the reader decided and did in it before, elsewhere: each act
    with the position of its case. ``filed`` says that it is the reader of this name in
    a file of the data set.
    """

    kind: SessionKind
    reader: str
    dataset: int
    work: str
    form: str
    spec: str
    tasks: tuple[PlannedTask, ...]
    run: int | None = None
    returning: bool = False
    visiting: bool = False
    consents: tuple[Consent, ...] = ()
    acts: tuple[tuple[int, NewReading], ...] = ()
    filed: bool = False


@dataclass(frozen=True)
class StoredSession:
    """A session's row; ``withdrawn`` is True if its answers were purged."""

    id: SessionId
    kind: SessionKind
    reader: str
    dataset_id: int
    dataset: str
    work: str
    form: str
    spec: str
    opened_at: str
    run: int | None
    withdrawn: bool


RETURNING: Final = "returning"
"""What the audit calls it that a reader is one who is known already."""


def create_session(
    store: Store, new: NewSession, *, beside: Collection[int] | None = None
) -> SessionId:
    """Insert a session with all its cases; return its number.

    ``beside`` are the reader's known sessions of this work. If another window has
    opened a further one meanwhile, that is returned instead.

    Raises
    ------
    NameTakenError
        If somebody has read under this name, and is not said to be ``returning``.
    """
    with store.transaction():
        for row in session_rows(store, work=new.work) if beside is not None else ():
            is_own = row.reader == new.reader and not row.withdrawn
            if is_own and row.id not in (beside or ()):
                return row.id
        earlier: tuple[SessionId, ...] = ()
        if not new.visiting:
            earlier = earlier_sessions(store, new.reader, returning=new.returning)
        session = store.execute(
            "INSERT INTO reading_session (kind, reader, salt, run_id, dataset_id, work,"
            " form, spec, sealed, opened_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?)",
            (
                new.kind.value,
                new.reader,
                secrets.token_hex(16),
                new.run,
                new.dataset,
                new.work,
                new.form,
                new.spec,
                utc_now(),
            ),
        )
        store.execute_many(
            "INSERT INTO reading_task (session_id, position, item, image, view,"
            " finding, trial_id, material, withheld)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (session, position, *astuple(task))
                for position, task in enumerate(new.tasks)
            ],
        )
        # After its cases, because a trigger refuses cases of a sealed session.
        store.execute("UPDATE reading_session SET sealed = 1 WHERE id = ?", (session,))
        reading_audit.note_session(store, session)
        if earlier:
            reading_audit.note_event(store, RETURNING, session, earlier=earlier)
        elif new.filed:
            reading_audit.note_event(store, RETURNING, session, earlier=(), filed=True)
        for consent in new.consents:
            reading_audit.note_consent(store, session, consent)
        for position, act in new.acts:
            add_reading(store, session, position, act)
    return SessionId(session)


_SESSIONS: Final = (
    "SELECT s.id, s.kind, s.reader, s.dataset_id, s.work, s.form, s.opened_at,"
    " s.run_id, json_replace(s.spec, '$.asked.models', json('[]'),"
    " '$.asked.helpers', json('[]'), '$.asked.params',"
    " iif(json_extract(s.spec, '$.task') <> '', json('{}'),"
    " json_extract(s.spec, '$.asked.params')), '$.aid.model', '') AS spec,"
    " d.name AS dataset, w.session_id IS NOT NULL AS withdrawn"
    " FROM reading_session s JOIN dataset d ON d.id = s.dataset_id"
    " LEFT JOIN reading_withdrawal w ON w.session_id = s.id"
)
"""Without the models of a session, which are named in the params of a task as well:
what is not read cannot be seen too early."""


def session_row(store: Store, session: int) -> StoredSession:
    """Return a session; an unknown number raises WrongUseError."""
    rows = store.rows(f"{_SESSIONS} WHERE s.id = ?", (session,))
    if not rows:
        raise WrongUseError(
            f"There is no session {session} in this store.",
            "overread readings lists them.",
        )
    return _session(rows[0])


def session_rows(
    store: Store, *, run: int | None = None, work: str | None = None
) -> tuple[StoredSession, ...]:
    """Return sessions, oldest first: all, those of a run, or those of one work."""
    rows = store.rows(
        f"{_SESSIONS} WHERE (?1 IS NULL OR s.run_id = ?1)"
        " AND (?2 IS NULL OR s.work = ?2) ORDER BY s.id",
        (run, work),
    )
    return tuple(map(_session, rows))


def task_sessions(
    store: Store, dataset: str, root_sha256: str
) -> tuple[StoredSession, ...]:
    """Return the sessions of studies' tasks on a data set, oldest first.

    Those of readers who withdrew are not among them.
    """
    rows = store.rows(
        f"{_SESSIONS} WHERE d.name = ? AND d.root_sha256 = ?"
        " AND w.session_id IS NULL AND json_extract(s.spec, '$.task') <> ''"
        " ORDER BY s.id",
        (dataset, root_sha256),
    )
    return tuple(map(_session, rows))


def readings_stamp(store: Store) -> int:
    """Return a number that changes with every action of any reader."""
    rows = store.rows("SELECT coalesce(max(seq), 0) FROM reading_audit")
    return int(rows[0][0])


def _session(row: Row) -> StoredSession:
    return StoredSession(
        id=SessionId(row["id"]),
        kind=SessionKind(row["kind"]),
        reader=row["reader"],
        dataset_id=row["dataset_id"],
        dataset=row["dataset"],
        work=row["work"],
        form=row["form"],
        spec=row["spec"],
        opened_at=row["opened_at"],
        run=row["run_id"],
        withdrawn=bool(row["withdrawn"]),
    )


_TASKS: Final = (
    "SELECT item, image, view, finding, trial_id, material FROM reading_task"
)
"""Without what is withheld, which only :func:`withheld_at` reads."""


def tasks_of(store: Store, session: int) -> tuple[PlannedTask, ...]:
    """Return a session's cases by position."""
    rows = store.rows(
        f"{_TASKS} WHERE session_id = ? ORDER BY position",
        (session,),
    )
    return tuple(PlannedTask(*row) for row in rows)


def task_at(store: Store, session: int, position: int) -> PlannedTask | None:
    """Return one case of a session, None without such a case."""
    rows = store.rows(
        f"{_TASKS} WHERE session_id = ? AND position = ?",
        (session, position),
    )
    return PlannedTask(*rows[0]) if rows else None


def withheld_at(
    store: Store, session: int, position: int, *, truth: bool = True
) -> str:
    """Return what a case shows only after a lock, as JSON.

    What is right, which is shown after the last one, is not read without ``truth``.
    """
    rows = store.rows(
        "SELECT iif(?3, withheld, json_remove(withheld, '$.truth')) AS withheld"
        " FROM reading_task WHERE session_id = ?1 AND position = ?2",
        (session, position, truth),
    )
    return str(rows[0][0])


def places_of_trial(store: Store, trial: int) -> tuple[tuple[int, int], ...]:
    """Return the (session, position) of every case about a trial, oldest first."""
    rows = store.rows(
        "SELECT session_id, position FROM reading_task WHERE trial_id = ?"
        " ORDER BY session_id",
        (trial,),
    )
    return tuple((row[0], row[1]) for row in rows)


def readings_of(
    store: Store, session: int, position: int | None = None, *, comments: bool = True
) -> tuple[ReadingRow, ...]:
    """Return the actions in a session, or on one of its cases, oldest first."""
    rows = store.rows(
        "SELECT id, position, act, stage, answers, active_ms, at,"
        " iif(?3, comment, '') AS comment FROM reading WHERE session_id = ?1"
        " AND (?2 IS NULL OR position = ?2) ORDER BY id",
        (session, position, comments),
    )
    return tuple(_reading(row) for row in rows)


def _reading(row: Row) -> ReadingRow:
    return ReadingRow(
        id=row["id"],
        position=row["position"],
        act=Act(row["act"]),
        stage=row["stage"],
        values=values_of_json(row["answers"]),
        comment=row["comment"],
        active_ms=row["active_ms"],
        at=row["at"],
    )


def add_reading(store: Store, session: int, position: int, new: NewReading) -> int:
    """Insert a reader's act, inside a transaction; return the row's id."""
    row = store.execute(
        "INSERT INTO reading (session_id, position, act, stage, answers, comment,"
        " active_ms, salt, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            session,
            position,
            new.act.value,
            new.stage,
            values_as_json(new.values),
            new.comment,
            new.active_ms,
            new.salt or secrets.token_hex(16),
            new.at or utc_now(),
        ),
    )
    reading_audit.note_reading(store, row)
    return row


@dataclass(frozen=True, slots=True)
class ReviewedAnswer:
    """The answer of a trial that a case is about, without the model that gave it.

    ``parsed`` is JSON; both texts are "" without one.
    """

    trial: int
    answer: str
    parsed: str


@dataclass(frozen=True, slots=True)
class ReviewedTrial(ReviewedAnswer):
    """The facts of a trial for those who count what readers made of it.

    ``is_miss`` is True if it is a complete miss by its current score.
    """

    run: int
    model: str
    repeat: int
    is_miss: bool


_ANSWER: Final = "t.id, s.answer, p.answer AS parsed"
_REVIEWED: Final = (
    "SELECT k.position, {columns} FROM reading_task k JOIN trial t ON t.id = k.trial_id"
    " LEFT JOIN score s ON s.id = t.score_id LEFT JOIN parse p ON p.id = s.parse_id"
    " WHERE k.session_id = ?1 AND (?2 IS NULL OR k.position = ?2)"
)


def reviewed_answers(
    store: Store, session: int, position: int | None = None
) -> dict[int, ReviewedAnswer]:
    """Return the answers that a session is about, or one case, by position.

    Neither the models nor the scores of the answers are read.
    """
    rows = store.rows(_REVIEWED.format(columns=_ANSWER), (session, position))
    return {row["position"]: ReviewedAnswer(*_answered(row)) for row in rows}


def reviewed_trials(
    store: Store, session: int, position: int | None = None
) -> dict[int, ReviewedTrial]:
    """Return the trials that a session is about, or one case, by position."""
    columns = f"{_ANSWER}, t.run_id, t.model, t.repeat, s.outcome"
    rows = store.rows(_REVIEWED.format(columns=columns), (session, position))
    return {row["position"]: _reviewed(row) for row in rows}


def _answered(row: Row) -> tuple[int, str, str]:
    return row["id"], row["answer"] or "", row["parsed"] or ""


def _reviewed(row: Row) -> ReviewedTrial:
    return ReviewedTrial(
        *_answered(row),
        run=row["run_id"],
        model=row["model"],
        repeat=row["repeat"],
        is_miss=row["outcome"] == Outcome.MISS,
    )


def dataset_id_of_run(store: Store, run: int) -> int:
    """Return the row id of a run's data set."""
    return int(store.rows("SELECT dataset_id FROM run WHERE id = ?", (run,))[0][0])


def all_locked(store: Store, session: int) -> bool:
    """Tell whether every case of a session has been locked at least once."""
    rows = store.rows(
        "SELECT (SELECT count(*) FROM reading_task WHERE session_id = ?1) ="
        " (SELECT count(DISTINCT position) FROM reading"
        "   WHERE session_id = ?1 AND act = 'locked')",
        (session,),
    )
    return bool(rows[0][0])


def went_on(store: Store, session: int, position: int) -> bool:
    """Tell whether the last action in a session was on another case."""
    rows = store.rows(
        "SELECT position FROM reading WHERE session_id = ? ORDER BY id DESC LIMIT 1",
        (session,),
    )
    return bool(rows) and rows[0][0] != position


def misses_by_stratum(
    store: Store, run: int, condition: str, views: Sequence[str]
) -> dict[tuple[str, str], int]:
    """Return how many complete misses a run has by model and finding."""
    rows = store.rows(
        f"SELECT t.model, t.finding, count(*) {_MISSES}"
        " GROUP BY t.model, t.finding ORDER BY min(t.id)",
        (run, condition, json.dumps(list(views))),
    )
    return {(row[0], row[1]): int(row[2]) for row in rows}


def numbered_strata(
    store: Store, run: int, condition: str, views: Sequence[str]
) -> dict[int, int]:
    """Return a number for model and finding of each complete miss, by its trial."""
    rows = store.rows(
        f"SELECT t.id, dense_rank() OVER (ORDER BY t.model, t.finding) {_MISSES}",
        (run, condition, json.dumps(list(views))),
    )
    return {row[0]: row[1] for row in rows}


_MISSES: Final = (
    "FROM trial t JOIN score s ON s.id = t.score_id WHERE t.run_id = ?"
    " AND t.condition = ? AND t.view IN (SELECT value FROM json_each(?))"
    " AND s.outcome = 'miss'"
)
