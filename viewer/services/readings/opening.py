"""Opening of sessions: a reader's cases, fixed before the first one is seen."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from viewer.domain.aid import Aid, aided_form
from viewer.domain.case import View
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.form import Form, PlaceKind, PlaceQuestion
from viewer.domain.form_catalog import ERROR_REVIEW
from viewer.domain.plain import plain
from viewer.domain.reading import SessionId, SessionKind, SessionSummary
from viewer.domain.result import Outcome
from viewer.domain.run import RunSpec, RunStatus, Trial
from viewer.services.configuring.study_file import make_spec
from viewer.services.readings import order
from viewer.services.readings.advice import Shown, with_advice
from viewer.services.sessions.ground import (
    SessionSpec,
    continued,
    form_text,
    ground_of,
    reader_name,
)
from viewer.services.sessions.standings import standings_of
from viewer.services.trials.request_key import request_key
from viewer.store import cases, readings, runs, trials
from viewer.store.database import Store, open_store
from viewer.store.readings import NewSession, PlannedTask, StoredSession
from viewer.store.trials import ScoredTrial
from viewer.studies.catalog import PLACING, study_named

CAP: Final = 50
"""How many misses of a model and finding are reviewed (Gosai 2025; E000-25)."""
_GOES_ON: Final = frozenset({RunStatus.UNFINISHED, RunStatus.PAUSED})
_NOBODY: Final = ModelProfile("reader", "scripted", {"answer": ""})
"""Stands for the reader while the cases are planned; asked nothing."""


def sessions(store: Path, *, run: int | None = None) -> tuple[SessionSummary, ...]:
    """Return the sessions of a store or of a run, newest first."""
    with open_store(store) as opened:
        rows = readings.session_rows(opened, run=run)
        return tuple(_summary(opened, row) for row in rows[::-1])


def session(store: Path, number: SessionId) -> SessionSummary:
    """Return one session; an unknown number raises WrongUseError."""
    with open_store(store) as opened:
        return _summary(opened, readings.session_row(opened, number))


def _summary(store: Store, row: StoredSession) -> SessionSummary:
    ground = ground_of(store, row.id)
    standings = standings_of(store, ground)
    complete = [s for s in standings if s.complete]
    seal = ground.spec.seal
    return SessionSummary(
        id=row.id,
        kind=row.kind,
        reader=row.reader,
        run=row.run,
        dataset=row.dataset,
        form=ground.form,
        work=row.work,
        opened_at=row.opened_at,
        planned=len(standings),
        done=len(complete),
        unresolved=sum(s.unresolved for s in complete),
        withdrawn=row.withdrawn,
        condition="" if ground.spec.task else ground.spec.condition.name,
        visiting=seal is not None,
        seed=ground.spec.seed,
        part=seal.part if seal and (seal.goes_on or seal.part > 1) else 0,
        goes_on=seal is not None and seal.goes_on,
    )


def open_error_review(
    store: Path,
    run: int,
    reader: str,
    seed: int | None = None,
    cap: int = CAP,
    *,
    views: Sequence[str] = (View.FRONTAL.value,),
    condition: str = "",
    telemetry: bool = False,
    returning: bool = False,
) -> SessionId:
    """Open a review of a run's complete misses; return its session (E000-24, -25).

    For each model and finding at most ``cap`` misses are drawn by the seed, None for
    the run's, the same for every reader, and shuffled in an order of the reader's own.
    ``condition`` "" means the run's first. An existing session of the same review is
    continued, and a larger cap adds only what was not reviewed yet. ``telemetry`` asks
    the reader whether what is on screen may be recorded. ``returning`` says that the
    reader is the one who has read under this name.

    Raises
    ------
    NameTakenError
        If somebody has read under this name, and is not said to be ``returning``.
    WrongUseError
        For an unknown run or condition, a run that is not finished, a reader without
        a name, or a run without a miss that is left to review.
    """
    name = reader_name(reader)
    with open_store(store) as opened:
        spec = _review_spec(opened, run, seed, cap, views, condition)
        spec = replace(spec, telemetry=telemetry)
        work = review_work(run, spec)
        sessions = [s for s in _sessions_of(opened, work, name) if not s.withdrawn]
        drawn = _drawn(opened, run, spec, cap, sessions)
        if sessions and not drawn:
            return continued(opened, sessions[-1].id, telemetry=telemetry)
        if not drawn:
            raise WrongUseError(
                f"Run {run} has no complete miss to review in these views.",
                "Choose another run, or other views.",
            )
        new = NewSession(
            kind=SessionKind.ERROR_REVIEW,
            reader=name,
            dataset=readings.dataset_id_of_run(opened, run),
            work=work,
            form=form_text(ERROR_REVIEW),
            spec=spec.as_json(),
            tasks=tuple(map(review_task, order.mixed(drawn, spec.seed, name))),
            run=run,
            returning=returning,
        )
        return readings.create_session(opened, new, beside=[s.id for s in sessions])


def _drawn(
    store: Store,
    run: int,
    spec: SessionSpec,
    cap: int,
    sessions: Sequence[StoredSession],
) -> list[ScoredTrial]:
    """Return the drawn misses that a reader's ``sessions`` do not have yet."""
    held = {t.trial for s in sessions for t in readings.tasks_of(store, s.id)}
    sampled = order.sampled(_misses(store, run, spec), cap, spec.seed)
    return [t for chosen in sampled.values() for t in chosen if t.id not in held]


def review_work(run: int, spec: SessionSpec) -> str:
    """Return the name that all reviews of the same sample share."""
    views = "+".join(spec.views)
    return f"error_review run={run} {spec.condition.name} {views} seed={spec.seed}"


def _sessions_of(store: Store, work: str, reader: str) -> list[StoredSession]:
    rows = readings.session_rows(store, work=work)
    return [row for row in rows if row.reader == reader]


def _review_spec(
    store: Store,
    run: int,
    seed: int | None,
    cap: int,
    views: Sequence[str],
    condition: str,
) -> SessionSpec:
    if runs.run_summary(store, run).status in _GOES_ON:
        raise WrongUseError(
            f"Run {run} is not finished: there may be more misses.",
            "Finish it first; a sample of part of a run would not represent the whole.",
        )
    if cap < 1:
        raise WrongUseError("A review needs at least one case.", "Review 1 or more.")
    asked = runs.run_spec(store, run)
    study = study_named(asked.study)
    params = study.read_params(asked.preset, dict(asked.params))
    known = {c.name: c for c in study.conditions(params)}
    first = next(iter(known.values()))
    if condition and condition not in known:
        raise WrongUseError(
            f"Run {run} did not ask '{condition}'.", f"It asked {', '.join(known)}."
        )
    chosen = known[condition] if condition else first
    seed = asked.seed if seed is None else seed
    return SessionSpec(asked, chosen, seed, tuple(sorted(views)), cap)


def _misses(
    store: Store, run: int, spec: SessionSpec
) -> dict[tuple[str, ...], list[ScoredTrial]]:
    """Return the complete misses by model and finding, in the order planned."""
    strata: dict[tuple[str, ...], list[ScoredTrial]] = defaultdict(list)
    for one in trials.scored_trials(store, run):
        if is_reviewable(one, spec):
            strata[one.trial.model, one.trial.finding].append(one)
    return strata


def is_reviewable(one: ScoredTrial, spec: SessionSpec) -> bool:
    """Tell whether a trial is a complete miss among those that a review is about."""
    return one.score.outcome is Outcome.MISS and is_among(one.trial, spec)


def is_among(trial: Trial, spec: SessionSpec) -> bool:
    """Tell whether a trial has the views and the condition of a review."""
    return trial.view in spec.views and trial.condition.name == spec.condition.name


def review_task(one: ScoredTrial) -> PlannedTask:
    """Return a reviewed trial as a case."""
    trial = one.trial
    return PlannedTask(trial.item, trial.image, trial.view, trial.finding, one.id)


def open_reader_study(
    store: Path,
    dataset: str,
    form: Form,
    reader: str,
    *,
    seed: int = 0,
    place: PlaceKind = PlaceKind.CELL,
    grid: str = "8",
    findings: Sequence[str] = (),
    views: Sequence[str] = (View.FRONTAL.value,),
    limit: int | None = None,
    preset: str = "gosai2025",
    absent: bool = False,
    feedback: bool = False,
    aid: Aid | None = None,
    telemetry: bool = False,
    returning: bool = False,
) -> SessionId:
    """Open a reader's session over a data set; return it.

    Cases are those that a run with the same settings would ask, in an order that is
    counterbalanced between the readers of one study: who opens it first gets the first
    order. A reader who opens the same study again continues it. ``absent`` also asks
    about findings that the label says are absent, and lets the reader say so;
    ``feedback`` shows the reference once a case is locked. ``aid`` shows a model's
    answers, which are of the kind that is placed. ``returning`` says that the reader is
    the one who has read under this name.

    Raises
    ------
    NameTakenError
        If somebody has read under this name, and is not said to be ``returning``.
    WrongUseError
        For an unknown data set or finding, a reader without a name, or answers that
        were not asked or are of another kind.
    """
    name = reader_name(reader)
    form = asked_form(form, place, absent=absent, feedback=feedback)
    form = aided_form(form, aid) if aid else form
    asked = make_spec(
        study=PLACING,
        dataset=dataset,
        preset=preset,
        seed=seed,
        repeats=1,
        models=(),
        overrides=_overrides(grid, views, findings, absent=absent),
        limit=limit,
    )
    with open_store(store) as opened:
        return _open_study(
            opened,
            asked,
            form,
            name,
            aid,
            telemetry=telemetry,
            returning=returning,
        )


def _overrides(
    grid: str, views: Sequence[str], findings: Sequence[str], *, absent: bool
) -> dict[str, object]:
    """Return the parameters of a run that asks what the reader is asked."""
    overrides: dict[str, object] = {"grids": [grid], "views": list(views)}
    if absent:
        overrides["absent_findings"] = True
    if findings:
        overrides["findings"] = list(findings)
    return overrides


def asked_form(form: Form, place: PlaceKind, *, absent: bool, feedback: bool) -> Form:
    """Return a form whose places are all of one kind, with or without feedback."""
    questions = tuple(
        replace(
            question,
            kinds=(place,),
            can_be_absent=absent or question.can_be_absent,
        )
        if isinstance(question, PlaceQuestion) and place in question.kinds
        else question
        for question in form.questions
    )
    narrowed = replace(form, questions=questions)
    return narrowed.with_feedback() if feedback else narrowed


def _open_study(
    store: Store,
    asked: RunSpec,
    form: Form,
    name: str,
    aid: Aid | None,
    *,
    telemetry: bool,
    returning: bool,
) -> SessionId:
    dataset = cases.dataset_named(store, asked.dataset)
    study = study_named(asked.study)
    planned = study.plan(dataset, replace(asked, models=(_NOBODY,)))
    tasks = [reader_task(trial) for trial in planned if not trial.exclusion]
    if not tasks:
        raise WrongUseError(
            f"The data set '{dataset.name}' has no case that can be asked like this.",
            "Choose other findings or views.",
        )
    work = _study_work(asked, form, dataset.root_sha256, aid)
    rows = readings.session_rows(store, work=work)
    sessions = [row for row in rows if row.reader == name and not row.withdrawn]
    if sessions:
        return continued(store, sessions[-1].id, telemetry=telemetry)
    index, condition = len(rows), planned[0].condition
    if aid is not None:
        shown = Shown(aid, condition, asked.seed, form, index)
        tasks = list(with_advice(store, shown, tasks).tasks)
    spec = SessionSpec(
        asked,
        condition,
        asked.seed,
        reader_index=index,
        aid=aid,
        telemetry=telemetry,
    )
    new = NewSession(
        kind=SessionKind.READER_STUDY,
        reader=name,
        dataset=cases.add_dataset(store, dataset),
        work=work,
        form=form_text(form),
        spec=spec.as_json(),
        tasks=order.counterbalanced(tasks, asked.seed, index),
        returning=returning,
    )
    return readings.create_session(store, new, beside=())


def _study_work(asked: RunSpec, form: Form, root_sha256: str, aid: Aid | None) -> str:
    document: dict[str, object] = {
        "asked": plain(asked),
        "form": form_text(form),
        "dataset": root_sha256,
        **({"aid": plain(aid)} if aid else {}),
    }
    return f"reader_study {request_key(document)}"


def reader_task(trial: Trial) -> PlannedTask:
    """Return a trial as a case for a reader."""
    return PlannedTask(trial.item, trial.image, trial.view, trial.finding)
