"""Runs and their sealed plans."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Final

from viewer.domain.answer import Status
from viewer.domain.errors import UnknownRunError
from viewer.domain.escapes import path_of
from viewer.domain.plain import made, plain
from viewer.domain.run import (
    Condition,
    Outstanding,
    RunMark,
    RunNote,
    RunSpec,
    RunStatus,
    RunSummary,
    Trial,
)
from viewer.store.database import Row, Store, utc_now


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """A trial with its row's id."""

    id: int
    trial: Trial


def create_run(
    store: Store,
    spec: RunSpec,
    dataset_id: int,
    trials: Sequence[Trial],
    *,
    study_version: str,
    scorer_version: str,
    plan_sha256: str,
    adhoc: bool = False,
    once: bool = False,
    fresh: bool = False,
) -> int:
    """Insert a run with its whole plan in one transaction; return its id.

    Excluded trials get their score row in the same transaction. With ``once``, if
    another window has created a run of the plan meanwhile, that is returned instead. A
    ``fresh`` run reuses no stored replies.
    """
    with store.transaction():
        known = run_with_plan(store, plan_sha256) if once else None
        if known is not None:
            return known
        run = store.execute(
            # A fresh run takes only replies that come after those that are here now.
            "INSERT INTO run (study, study_version, dataset_id, plan_sha256, spec,"
            " adhoc, sealed, created_at, replies_after) VALUES (?, ?, ?, ?, ?, ?, 0, ?,"
            " CASE WHEN ? THEN (SELECT ifnull(max(id), 0) FROM reply) END)",
            (
                spec.study,
                study_version,
                dataset_id,
                plan_sha256,
                json.dumps(plain(spec), sort_keys=True),
                int(adhoc),
                utc_now(),
                int(fresh),
            ),
        )
        store.execute_many(
            "INSERT INTO trial (run_id, item, patient, image, view, finding,"
            " condition, condition_params, repeat, model)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_trial_row(run, trial) for trial in trials],
        )
        _exclude(store, run, trials, scorer_version)
        # Last: triggers refuse trials of a sealed run, and fill the flat table.
        store.execute("UPDATE run SET sealed = 1 WHERE id = ?", (run,))
    return run


def _trial_row(run: int, trial: Trial) -> tuple[object, ...]:
    return (
        run,
        trial.item,
        trial.patient,
        trial.image,
        trial.view,
        trial.finding,
        trial.condition.name,
        json.dumps(trial.condition.params),
        trial.repeat,
        trial.model,
    )


def _exclude(
    store: Store, run: int, trials: Sequence[Trial], scorer_version: str
) -> None:
    excluded = [trial for trial in trials if trial.exclusion]
    now = utc_now()
    store.execute_many(
        "INSERT INTO score (trial_id, scorer_version, status, reason, answer,"
        " created_at) SELECT id, ?, 'excluded', ?, '', ? FROM trial"
        " WHERE run_id = ? AND item = ? AND condition = ? AND repeat = ? AND model = ?",
        [
            (
                scorer_version,
                t.exclusion,
                now,
                run,
                t.item,
                t.condition.name,
                t.repeat,
                t.model,
            )
            for t in excluded
        ],
    )
    store.execute(
        "UPDATE trial SET status = 'excluded', score_id ="
        " (SELECT max(id) FROM score s WHERE s.trial_id = trial.id)"
        " WHERE run_id = ? AND id IN (SELECT trial_id FROM score)",
        (run,),
    )


def models_asked(store: Store) -> tuple[str, ...]:
    """Return the models of every run, in the order first asked."""
    rows = store.rows(
        "SELECT json_extract(model.value, '$.name') AS name"
        " FROM run, json_each(run.spec, '$.models') AS model ORDER BY run.id, model.key"
    )
    return tuple(dict.fromkeys(str(row["name"]) for row in rows))


def run_with_plan(store: Store, plan_sha256: str) -> int | None:
    """Return the newest run of exactly this plan, None if there is none."""
    rows = store.rows(
        "SELECT max(id) FROM run WHERE plan_sha256 = ? AND adhoc = 0", (plan_sha256,)
    )
    return None if rows[0][0] is None else int(rows[0][0])


def fresh_run_with_plan(store: Store, plan_sha256: str) -> int | None:
    """Return the newest run of a plan if it is an unfinished fresh one."""
    rows = store.rows(
        "SELECT r.id FROM run r WHERE r.id = ? AND r.replies_after IS NOT NULL AND"
        " EXISTS (SELECT 1 FROM run_status_count c WHERE c.run_id = r.id"
        " AND c.status = ? AND c.n > 0)",
        (run_with_plan(store, plan_sha256), Status.PENDING.value),
    )
    return int(rows[0][0]) if rows else None


_RUNS: Final = (
    "SELECT r.*, d.name AS dataset,"
    " (SELECT mark FROM run_mark m WHERE m.run_id = r.id ORDER BY m.id DESC LIMIT 1)"
    " AS mark"
    " FROM run r JOIN dataset d ON d.id = r.dataset_id"
)


def mark_run(store: Store, run: int, mark: RunMark) -> None:
    """Record what the user did with a run; its trials are unchanged."""
    with store.transaction():
        store.execute(
            "INSERT INTO run_mark (run_id, mark, marked_at) VALUES (?, ?, ?)",
            (run, mark.value, utc_now()),
        )


def run_mark(store: Store, run: int) -> RunMark | None:
    """Return the last mark of a run, None if it has none."""
    rows = store.rows(
        "SELECT mark FROM run_mark WHERE run_id = ? ORDER BY id DESC LIMIT 1", (run,)
    )
    return RunMark(rows[0]["mark"]) if rows else None


def run_summaries(store: Store, *, include_adhoc: bool) -> tuple[RunSummary, ...]:
    """Return every run, oldest first; single questions only on request."""
    rows = store.rows(
        f"{_RUNS} WHERE r.adhoc <= ? ORDER BY r.id", (int(include_adhoc),)
    )
    costs, notes, out = _costs(store), _notes(store), submitted_by_run(store)
    return tuple(
        replace(
            _summary(store, row),
            cost_microusd=costs.get(row["id"]),
            notes=notes.get(row["id"], ()),
            out=out.get(row["id"]),
        )
        for row in rows
    )


def _notes(store: Store, run: int | None = None) -> Mapping[int, tuple[RunNote, ...]]:
    """Return the notes of every run that has any, or of one run, oldest first."""
    rows = store.rows(
        "SELECT run_id, model, kind, text FROM run_note"
        " WHERE run_id = ifnull(?, run_id) ORDER BY id",
        (run,),
    )
    notes: dict[int, tuple[RunNote, ...]] = {}
    for row in rows:
        note = RunNote(row["model"], row["kind"], row["text"])
        notes[row["run_id"]] = (*notes.get(row["run_id"], ()), note)
    return notes


def run_notes(store: Store, run: int) -> tuple[RunNote, ...]:
    """Return the notes about a run's models, oldest first."""
    return _notes(store, run).get(run, ())


def models_returned(store: Store, run: int) -> Mapping[str, str]:
    """Return the name in each model's first reply that has one, by model of a run."""
    rows = store.rows(
        "SELECT t.model, r.model_returned, min(p.id) FROM trial t JOIN parse p"
        " ON p.trial_id = t.id JOIN reply r ON r.id = p.reply_id"
        " WHERE t.run_id = ? AND r.model_returned <> '' GROUP BY t.model",
        (run,),
    )
    return {row[0]: row[1] for row in rows}


def _costs(store: Store) -> Mapping[int, int]:
    """Return micro-dollars by run, for those with any reply that had a price.

    A run with a remote reply of unknown cost has none: a part of the cost would look
    like the whole.
    """
    rows = store.rows(
        "SELECT t.run_id, sum(r.cost_microusd) FROM reply r JOIN attempt a"
        " ON a.id = r.attempt_id JOIN trial t ON t.id = a.trial_id"
        " LEFT JOIN departure d ON d.attempt_id = a.id GROUP BY t.run_id"
        " HAVING sum(r.cost_microusd) IS NOT NULL"
        " AND NOT max(r.cost_microusd IS NULL AND d.id IS NOT NULL)"
    )
    return {int(row[0]): int(row[1]) for row in rows}


def submitted_by_run(store: Store) -> Mapping[int, Outstanding]:
    """Return what is in batches of providers, of each run that has questions there.

    Those of batch jobs that have ended, which may be many, are not looked at.
    """
    rows = store.rows(
        "SELECT p.run_id, count(*) AS n, max(s.due) AS due FROM batch_job p"
        " JOIN batch_job_event s ON s.batch_job_id = p.id AND s.what = 'submitted'"
        " CROSS JOIN batch_job_question q ON q.batch_job_id = p.id"
        " LEFT JOIN attempt_end e ON e.attempt_id = q.attempt_id"
        " WHERE e.attempt_id IS NULL AND NOT EXISTS (SELECT 1 FROM batch_job_event x"
        " WHERE x.batch_job_id = p.id AND x.what = 'ended') GROUP BY p.run_id"
    )
    return {row["run_id"]: Outstanding(row["n"], row["due"]) for row in rows}


def run_summary(store: Store, run: int) -> RunSummary:
    """Return one run, its cost left out; an unknown number raises UnknownRunError."""
    rows = store.rows(f"{_RUNS} WHERE r.id = ?", (run,))
    if not rows:
        raise _no_run(run)
    out = submitted_by_run(store).get(run)
    return replace(_summary(store, rows[0]), notes=run_notes(store, run), out=out)


def studies_of(store: Store, numbers: Collection[int]) -> Mapping[int, str]:
    """Return the study of each of some runs."""
    rows = store.rows(
        "SELECT id, study FROM run WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(numbers)),),
    )
    return {int(row["id"]): str(row["study"]) for row in rows}


def runs_with_folders(store: Store) -> tuple[tuple[int, str, Path], ...]:
    """Return each run with its study and the folder of its data set, oldest first."""
    rows = store.rows(
        "SELECT r.id, r.study, d.root FROM run r JOIN dataset d"
        " ON d.id = r.dataset_id ORDER BY r.id"
    )
    return tuple((row["id"], row["study"], path_of(row["root"])) for row in rows)


def run_spec(store: Store, run: int) -> RunSpec:
    """Return a run's settings; an unknown number raises UnknownRunError."""
    rows = store.rows("SELECT spec FROM run WHERE id = ?", (run,))
    if not rows:
        raise _no_run(run)
    return made(RunSpec, json.loads(rows[0]["spec"]), where="the stored run")


def _no_run(run: int) -> UnknownRunError:
    return UnknownRunError(
        f"There is no run {run} in this store.", "overread runs lists them."
    )


def _summary(store: Store, row: Row) -> RunSummary:
    counts = status_counts(store, row["id"])
    pending = counts.get(Status.PENDING, 0)
    spec = json.loads(row["spec"])
    return RunSummary(
        id=row["id"],
        study=row["study"],
        dataset=row["dataset"],
        models=tuple(model["name"] for model in spec["models"]),
        status=_status(row["mark"], pending),
        created_at=row["created_at"],
        n_planned=sum(counts.values()),
        counts={status.value: n for status, n in counts.items()},
        adhoc=bool(row["adhoc"]),
        plan_sha256=row["plan_sha256"],
    )


def _status(mark: str | None, pending: int) -> RunStatus:
    if not pending:
        return RunStatus.FINISHED
    if mark is None or mark == RunMark.RESUMED:
        return RunStatus.UNFINISHED
    return RunStatus(mark)


def status_counts(store: Store, run: int) -> dict[Status, int]:
    """Return the number of a run's trials by status."""
    return {
        Status(row["status"]): row["n"]
        for row in store.rows(
            "SELECT status, n FROM run_status_count WHERE run_id = ? ORDER BY status",
            (run,),
        )
    }


def reason_counts(store: Store, run: int, status: Status) -> dict[str, int]:
    """Return the number of a run's trials of one status by the reason for it."""
    rows = store.rows(
        "SELECT coalesce(s.reason, '') AS reason, count(*) AS n FROM trial t"
        " LEFT JOIN score s ON s.id = t.score_id"
        " WHERE t.run_id = ? AND t.status = ? GROUP BY 1 ORDER BY 1",
        (run, status.value),
    )
    return {row["reason"]: row["n"] for row in rows}


def trials_in(
    store: Store, run: int, statuses: Sequence[Status]
) -> tuple[StoredTrial, ...]:
    """Return a run's trials in any of some statuses, in the order planned."""
    marks = ", ".join("?" * len(statuses))
    rows = store.rows(
        f"SELECT * FROM trial WHERE run_id = ? AND status IN ({marks}) ORDER BY id",  # noqa: S608 - question marks only
        (run, *(status.value for status in statuses)),
    )
    return tuple(StoredTrial(row["id"], trial_of_row(row)) for row in rows)


@lru_cache(maxsize=1024)
def condition_of(name: str, params: str) -> Condition:
    """Return a condition; ``params`` is JSON, as table trial has it."""
    return Condition(name, tuple((k, v) for k, v in json.loads(params)))


def trial_of_row(row: Row) -> Trial:
    """Return the trial that a row of table trial holds."""
    return Trial(
        item=row["item"],
        patient=row["patient"],
        image=row["image"],
        view=row["view"],
        finding=row["finding"],
        condition=condition_of(row["condition"], row["condition_params"]),
        repeat=row["repeat"],
        model=row["model"],
    )
