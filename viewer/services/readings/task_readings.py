"""Sessions in which people grade, answer or validate what a study needs."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from viewer.domain.aid import Aid, aided_form
from viewer.domain.answer import AnyAnswer, Unparsed
from viewer.domain.answer_json import any_answer_of_json
from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.form import Form
from viewer.domain.plain import plain
from viewer.domain.reading import SessionId, SessionKind
from viewer.domain.run import Condition, RunSpec, Trial
from viewer.services.configuring.study_file import make_spec
from viewer.services.readings import order
from viewer.services.readings.advice import Advised, Shown, with_chosen
from viewer.services.readings.made_images import Progress, with_made_images
from viewer.services.readings.task_choice import TaskOffer, TaskWanted, seed_of
from viewer.services.sessions.file_readers import is_filed
from viewer.services.sessions.ground import (
    TRAINING,
    SessionSpec,
    continued,
    form_text,
    ground_of,
    reader_name,
    reading_task,
)
from viewer.services.trials.grades import grades_of
from viewer.services.trials.request_key import request_key
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, readings, runs, trials
from viewer.store.database import Store, open_store
from viewer.store.reader_names import earlier_sessions
from viewer.store.readings import NewSession, PlannedTask
from viewer.studies.catalog import study_named
from viewer.studies.reading_tasks import (
    Choice,
    Output,
    ReadingCase,
    ReadingTask,
)
from viewer.studies.steps import PredictedBoxes
from viewer.studies.study import PointsOut, Study


def task_offer(store: Path, wanted: TaskWanted) -> TaskOffer:
    """Return how much there is to read.

    An unknown data set, run or task raises WrongUseError, and so do answers of a model
    that cannot be shown.
    """
    with open_store(store) as opened:
        wanted = replace(wanted, seed=seed_of(opened, wanted))
        task, found = cases_of(opened, wanted)
        sample = _ordered(task, found, wanted, "")
        aided = _advised(opened, task, wanted, sample.planned) if wanted.aid else None
    return TaskOffer(
        aided=aided.sentence if aided else "",
        about=task.about,
        cases=len(found),
        groups=len({_group(one) for one in found}),
        drawn=len(sample.cases),
        training=sample.training,
        case_s=task.case_s,
        seed=wanted.draws_by,
    )


def open_task(
    store: Path,
    wanted: TaskWanted,
    reader: str,
    *,
    progress: Progress | None = None,
    stop: Event | None = None,
    returning: bool = False,
) -> SessionId:
    """Open a reader's session of a task, or continue it; return it.

    Cases come in an order of the reader's own; those of one group stay together.
    ``progress`` is told which of the images that are made for the cases is drawn; once
    ``stop`` is set, nothing is opened.
    ``returning`` says that the reader is the one who has read under this name.

    Raises
    ------
    CancelledError
        If it was stopped.
    NameTakenError
        If somebody has read under this name, here or in a file of the data set, and is
        not said to be ``returning``.
    WrongUseError
        For an unknown data set, run or task, a reader without a name, a task without
        cases, another reader of the same name in another panel, or a reader who did
        what is to be done again by another.
    """
    name = reader_name(reader)
    with open_store(store) as opened:
        wanted = replace(wanted, seed=seed_of(opened, wanted))
        asked = _asked(opened, wanted)
        rows = readings.session_rows(opened, work=asked.work)
        own = [row for row in rows if row.reader == name and not row.withdrawn]
        if own:
            return _continued(opened, own[-1].id, wanted)
        earlier = earlier_sessions(opened, name, returning=returning)
        filed = not earlier and is_filed(
            opened, asked.dataset, name, returning=returning
        )
        _refuse_doing_both(opened, asked.dataset, asked.task, name)
        new = _new_session(opened, asked, name, len(rows), progress, stop)
        new = replace(new, returning=returning, filed=filed)
        return readings.create_session(opened, new, beside=())


@dataclass(frozen=True)
class _Asked:
    """What is read: a task with its cases on a data set, and the name of the work."""

    wanted: TaskWanted
    task: ReadingTask
    cases: tuple[ReadingCase, ...]
    dataset: Dataset
    form: Form
    work: str


def _asked(store: Store, wanted: TaskWanted) -> _Asked:
    task, found = cases_of(store, wanted)
    if not found:
        raise WrongUseError(
            f"'{wanted.dataset}' has nothing to read for this task.", task.about
        )
    dataset = cases.dataset_named(store, wanted.dataset)
    form = _form(task, dataset, wanted.aid)
    work = _work(wanted, dataset.root_sha256, form_text(form))
    return _Asked(wanted, task, found, dataset, form, work)


def _new_session(
    store: Store,
    asked: _Asked,
    name: str,
    readers: int,
    progress: Progress | None,
    stop: Event | None,
) -> NewSession:
    """Return the session of a reader, of whom ``readers`` do the same."""
    wanted, task, dataset = asked.wanted, asked.task, asked.dataset
    run = _spec(store, wanted)
    sample = _ordered(task, asked.cases, wanted, name)
    shown = with_made_images(
        store, (run, dataset), asked.work, sample.cases, progress, stop
    )
    planned = replace(sample, cases=shown.cases).planned
    if wanted.aid is not None:
        planned = _advised(store, task, wanted, planned, readers).tasks
    spec = SessionSpec(
        run,
        _condition(run),
        wanted.draws_by,
        task=task.name,
        panel=wanted.panel,
        aid=wanted.aid,
        telemetry=wanted.telemetry,
        made=shown.name,
    )
    return NewSession(
        kind=SessionKind.READER_STUDY,
        reader=name,
        dataset=cases.add_dataset(store, dataset),
        work=asked.work,
        form=form_text(asked.form),
        spec=spec.as_json(),
        tasks=planned,
        run=wanted.run,
    )


def _refuse_doing_both(
    store: Store, dataset: Dataset, task: ReadingTask, name: str
) -> None:
    """Raise if a reader would do again what only another reader should."""
    for row in readings.task_sessions(store, dataset.name, dataset.root_sha256):
        other = ground_of(store, row.id).task if row.reader == name else None
        if other and other.first == task.first and other.name != task.name:
            raise WrongUseError(
                f"{name} already does '{other.title}' on this data set.",
                "Let another reader do this task: a second opinion is of somebody "
                "else.",
            )


def _continued(store: Store, session: SessionId, wanted: TaskWanted) -> SessionId:
    panel = ground_of(store, session).spec.panel
    if panel != wanted.panel:
        raise WrongUseError(
            f"A reader of this name reads in the group '{panel}'.",
            "Choose that group to continue, or another name.",
        )
    return continued(store, session, telemetry=wanted.telemetry)


def _work(wanted: TaskWanted, root_sha256: str, form: str) -> str:
    """Return the name that all sessions with the same cases share."""
    document = {**plain(wanted), "dataset": root_sha256, "form": form}
    del document["panel"], document["telemetry"]
    return f"{wanted.study} {wanted.task} {request_key(document)}"


def _spec(store: Store, wanted: TaskWanted) -> RunSpec:
    if wanted.run is not None:
        return runs.run_spec(store, wanted.run)
    study = study_named(wanted.study)
    return make_spec(
        study=wanted.study,
        dataset=wanted.dataset,
        preset=study.presets()[0],
        seed=wanted.draws_by,
        repeats=1,
        models=(),
        overrides={},
    )


def cases_of(
    store: Store, wanted: TaskWanted
) -> tuple[ReadingTask, tuple[ReadingCase, ...]]:
    """Return a task, and every case of it that there is."""
    study = study_named(wanted.study)
    task = reading_task(study, wanted.task)
    outputs = _outputs(store, wanted.run, study) if task.of_run else ()
    dataset = cases.dataset_named(store, wanted.dataset)
    return task, tuple(task.cases(dataset, outputs))


def _outputs(store: Store, run: int | None, study: Study) -> tuple[Output, ...]:
    """Return what came back of a run, for readers to grade."""
    if run is None:
        raise WrongUseError("Outputs of a run are graded.", "Choose a run.")
    context = RunContext(runs.run_spec(store, run), cases.dataset_of_run(store, run))
    return tuple(
        Output(
            one.id,
            one.trial,
            answer,
            context.params,
            one.score.status,
            _boxes(context, study, one.trial, answer),
        )
        for one in trials.scored_trials(store, run)
        if one.parsed and (answer := any_answer_of_json(one.parsed)) is not None
    )


@dataclass(frozen=True)
class _Sample:
    """The cases that are read, in order; the first ``training`` do not count."""

    cases: tuple[ReadingCase, ...]
    training: int

    @property
    def planned(self) -> tuple[PlannedTask, ...]:
        """The cases as a session keeps them."""
        return tuple(
            _planned(one, training=i < self.training)
            for i, one in enumerate(self.cases)
        )


def _ordered(
    task: ReadingTask, found: Sequence[ReadingCase], wanted: TaskWanted, reader: str
) -> _Sample:
    """Return the drawn cases in the reader's order, groups whole, training first."""
    groups: dict[str, list[ReadingCase]] = defaultdict(list)
    for one in found:
        groups[_group(one)].append(one)
    if task.draw is not None:
        groups = {one: groups[one] for one in task.draw((*groups,), wanted.draws_by)}
    every = len(groups) if wanted.limit is None else wanted.limit + task.training
    drawn = order.sampled({("cases",): tuple(groups)}, every, wanted.draws_by)["cases",]
    # One case at least counts.
    training = drawn[: max(min(task.training, len(drawn) - 1), 0)]
    counted = order.mixed(sorted(drawn[len(training) :]), wanted.draws_by, reader)
    return _Sample(
        tuple(one for group in (*training, *counted) for one in groups[group]),
        sum(len(groups[group]) for group in training),
    )


def _advised(
    store: Store,
    task: ReadingTask,
    wanted: TaskWanted,
    planned: Sequence[PlannedTask],
    reader: int = 0,
) -> Advised:
    """Return the cases with a model's answers, which have to be wanted."""
    assert wanted.aid is not None  # noqa: S101 - the callers looked
    form = _form(task, cases.dataset_named(store, wanted.dataset), wanted.aid)
    condition = _condition(_spec(store, wanted))
    shown = Shown(wanted.aid, condition, wanted.draws_by, form, reader)
    return with_chosen(store, shown, planned, _choice_of(task))


def _condition(asked: RunSpec) -> Condition:
    """Return the first condition of a run."""
    study = study_named(asked.study)
    return study.conditions(study.read_params(asked.preset, dict(asked.params)))[0]


def _form(task: ReadingTask, dataset: Dataset, aid: Aid | None) -> Form:
    """Return a task's questions, as they are asked beside a model's answers if so."""
    form = task.form(dataset, grades_of(dataset).rubric)
    if aid is None:
        return form
    return aided_form(form, aid, [_choice_of(task).question])


def _choice_of(task: ReadingTask) -> Choice:
    if task.choice is None:
        raise WrongUseError(
            f"'{task.title}' cannot be done beside a model's answers.",
            "Open it without them.",
        )
    return task.choice


def _group(case: ReadingCase) -> str:
    return case.group or case.item


def _planned(case: ReadingCase, *, training: bool) -> PlannedTask:
    return PlannedTask(
        item=case.item,
        image=case.image,
        view=TRAINING if training else "",
        finding=case.material.question or case.subject,
        trial=case.output,
        material=_json(plain(case.material)),
        withheld=_json(plain(case.withheld)),
    )


def _json(document: object) -> str:
    return json.dumps(document, sort_keys=True, ensure_ascii=False)


def _boxes(
    context: RunContext, study: Study, trial: Trial, answer: AnyAnswer | Unparsed
) -> tuple[PredictedBoxes, ...]:
    if not isinstance(study, PointsOut):
        return ()
    return study.predicted_boxes(context.turn(trial), answer, context.params)
