"""What studies want people to do, and which part of it somebody wants to read."""

from dataclasses import dataclass
from pathlib import Path

from viewer.domain.aid import Aid
from viewer.domain.run import RunStatus
from viewer.services.readings.review_offer import about_minutes, drawn_by
from viewer.services.sessions.ground import ground_of
from viewer.store import cases, readings, runs
from viewer.store.database import Store, open_store
from viewer.store.holdings import holdings_of_all
from viewer.studies.catalog import studies
from viewer.studies.reading_tasks import HasReadings, ReadingTask


@dataclass(frozen=True, slots=True)
class TaskWanted:
    """What is to be read: a study's task on a data set, or on the outputs of a run.

    ``limit`` draws so many groups of cases by the ``seed``, the same for every reader,
    None for all; a ``seed`` of None is that of :func:`seed_of`. ``panel`` is the group
    of readers that the reader belongs to, ``aid`` the answers of a model that are
    shown. ``telemetry`` asks the reader whether what is on screen may be recorded.
    """

    study: str
    task: str
    dataset: str
    run: int | None = None
    seed: int | None = None
    limit: int | None = None
    panel: str = ""
    aid: Aid | None = None
    telemetry: bool = False

    @property
    def draws_by(self) -> int:
        """The seed, once it is settled."""
        assert self.seed is not None  # noqa: S101 - the services settle it first
        return self.seed


@dataclass(frozen=True, slots=True)
class TaskOffer:
    """How many cases a task has, in groups that are drawn together.

    ``drawn`` of the cases would be read, in ``case_s`` seconds each; ``training`` of
    them do not count. ``seed`` draws and orders them. ``aided`` says how many show a
    model's answer, "" for none.
    """

    about: str
    cases: int
    groups: int
    drawn: int
    training: int
    case_s: int
    seed: int
    aided: str = ""

    @property
    def sentence(self) -> str:
        """How many cases, and how long they will take."""
        if not self.cases:
            return "There is nothing to read for this task in this data set."
        of = f" of {self.cases:,}" if self.drawn < self.cases else ""
        first = f", the first {self.training} for training" if self.training else ""
        told = (
            f"{self.drawn:,}{of} {'case' if self.cases == 1 else 'cases'}{first}, "
            f"{about_minutes(self.drawn * self.case_s)} at {self.case_s} s a case. "
            f"{drawn_by(self.seed)}"
        )
        return f"{told} {self.aided}".strip()


@dataclass(frozen=True, slots=True)
class TaskChoice:
    """A task that there is data for; ``title`` says what is to be done.

    ``unit`` is what a sample is drawn of, such as cases.
    """

    title: str
    wanted: TaskWanted
    in_panels: bool = False
    unit: str = "cases"
    can_be_aided: bool = False

    @property
    def words(self) -> str:
        """The task and its source, such as ``Grade the outputs · run 3 · chest``."""
        run = [] if self.wanted.run is None else [f"run {self.wanted.run}"]
        return " · ".join((self.title, *run, self.wanted.dataset))


def tasks_to_do(store: Path) -> tuple[TaskChoice, ...]:
    """Return the tasks that data sets and finished runs suit, the newest first.

    By quick queries: whether a task has any case is told by :func:`task_offer`.
    """
    with open_store(store) as opened:
        holdings = holdings_of_all(opened)
        summaries = runs.run_summaries(opened, include_adhoc=False)
    finished = [r for r in summaries[::-1] if r.status is RunStatus.FINISHED]
    found: list[TaskChoice] = []
    for study in studies():
        if not isinstance(study, HasReadings):
            continue
        ended = [(r.dataset, r.id) for r in finished if r.study == study.name]
        for task in study.reading_tasks:
            suits = task.suits or study.wanted.is_in
            suited = [(name, None) for name, held in holdings.items() if suits(held)]
            found += [
                _choice(study.name, task, dataset, run)
                for dataset, run in (ended if task.of_run else suited)
            ]
    return tuple(found)


def _choice(study: str, task: ReadingTask, dataset: str, run: int | None) -> TaskChoice:
    wanted = TaskWanted(study, task.name, dataset, run)
    return TaskChoice(
        task.title,
        wanted,
        task.in_panels,
        task.unit,
        can_be_aided=task.choice is not None,
    )


def seed_of(store: Store, wanted: TaskWanted) -> int:
    """Return what draws the cases of a task and mixes them.

    It is that of the run whose outputs are read, so that a report speaks of the same
    draw. On a data set it is that of earlier sessions of the task, otherwise of the
    newest run of the study, otherwise 0.
    """
    if wanted.seed is not None:
        return wanted.seed
    if wanted.run is not None:
        return runs.run_spec(store, wanted.run).seed
    dataset = cases.dataset_named(store, wanted.dataset)
    rows = readings.task_sessions(store, dataset.name, dataset.root_sha256)
    for ground in (ground_of(store, row.id) for row in rows[::-1]):
        if (ground.study.name, ground.spec.task) == (wanted.study, wanted.task):
            return ground.spec.seed
    asked = runs.run_summaries(store, include_adhoc=False)
    of = [r.id for r in asked if (r.study, r.dataset) == (wanted.study, wanted.dataset)]
    return runs.run_spec(store, of[-1]).seed if of else 0
