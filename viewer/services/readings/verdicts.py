"""Every reader's verdict on each reviewed trial of a run."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from viewer.domain.form_catalog import UNSURE, VERDICT
from viewer.domain.reading import SessionKind
from viewer.services.sessions.ground import Ground, ground_of
from viewer.services.sessions.standings import standings_of
from viewer.store import readings
from viewer.store.database import Store
from viewer.store.readings import PlannedTask, ReviewedTrial

Stratum = tuple[str, str]
"""Model and finding."""


@dataclass(frozen=True)
class TrialVerdicts:
    """The verdicts on one trial.

    ``by_reader`` are the current option keys, the first reader's first; ``adjudicated``
    is the adjudicator's, None without one or once the readers no longer differ, as
    after a withdrawal. ``session`` is one of those in which it was reviewed.
    """

    task: PlannedTask
    model: str
    session: int
    by_reader: Mapping[str, str]
    adjudicated: str | None = None

    @property
    def stratum(self) -> Stratum:
        """The model and finding that it counts for."""
        return self.model, self.task.finding

    @property
    def disputed(self) -> bool:
        """Whether readers differ and nobody has adjudicated."""
        return self.adjudicated is None and _differ(self.by_reader)

    @property
    def final(self) -> str:
        """The verdict that counts: the adjudicated one, else the first reader's."""
        return self.adjudicated or next(iter(self.by_reader.values()))


def _differ(by_reader: Mapping[str, str]) -> bool:
    return len(set(by_reader.values())) > 1


@dataclass(frozen=True, slots=True)
class Scope:
    """The reviewed part of a run: one condition in some views."""

    condition: str
    views: tuple[str, ...]


def scope_of(ground: Ground) -> Scope:
    """Return the scope of a session's review."""
    return Scope(ground.spec.condition.name, ground.spec.views)


def verdicts_of(store: Store, run: int) -> dict[Scope, tuple[TrialVerdicts, ...]]:
    """Return the readers' verdicts on every reviewed trial of a run, by scope.

    Withdrawn readers are left out, as are trials that are no longer complete misses
    since the run was rescored.
    """
    return {scope: one.verdicts() for scope, one in _gathered(store, run).items()}


def trials_to_adjudicate(store: Store, run: int) -> frozenset[int]:
    """Return the trials on which readers of a run differ, decided or not.

    What was decided about others no longer counts: the adjudicator saw, and the
    decision depends on, an answer that a reader took back (M-22).
    """
    gathered = _gathered(store, run).values()
    return frozenset(number for one in gathered for number in one.differing)


def unread_of(store: Store, run: int) -> dict[Scope, Counter[Stratum]]:
    """Return how many misses were drawn for review that nobody has locked yet."""
    return {scope: one.unread() for scope, one in _gathered(store, run).items()}


def _gathered(store: Store, run: int) -> "dict[Scope, _Gathered]":
    gathered: dict[Scope, _Gathered] = defaultdict(_Gathered)
    for row in readings.session_rows(store, run=run):
        if row.kind is SessionKind.READER_STUDY or row.withdrawn:
            continue
        ground = ground_of(store, row.id)
        gathered[scope_of(ground)].add(store, ground)
    return gathered


class _Gathered:
    """The verdicts of one scope being collected, by trial."""

    def __init__(self) -> None:
        self._tasks: dict[int, tuple[PlannedTask, ReviewedTrial, int]] = {}
        self._by_reader: dict[int, dict[str, str]] = defaultdict(dict)
        self._last: dict[int, str] = {}
        self._drawn: dict[int, Stratum] = {}

    def add(self, store: Store, ground: Ground) -> None:
        """Add the locked verdicts of one session."""
        session = ground.session
        tasks = readings.tasks_of(store, session.id)
        reviewed = readings.reviewed_trials(store, session.id)
        for position, standing in enumerate(standings_of(store, ground)):
            verdict = standing.values.get(VERDICT)
            trial = reviewed[position]
            adjudicates = session.kind is SessionKind.ADJUDICATION
            if trial.is_miss and not adjudicates:
                self._drawn[trial.trial] = trial.model, tasks[position].finding
            counts = standing.complete and trial.is_miss
            if not counts or not isinstance(verdict, str):
                continue
            if adjudicates:
                if verdict != UNSURE:
                    self._last[trial.trial] = verdict
            else:
                self._tasks.setdefault(
                    trial.trial, (tasks[position], trial, session.id)
                )
                self._by_reader[trial.trial][session.reader] = verdict

    @property
    def differing(self) -> frozenset[int]:
        """The trials on which readers differ."""
        return frozenset(n for n, of in self._by_reader.items() if _differ(of))

    def unread(self) -> Counter[Stratum]:
        """Return by model and finding how many drawn misses wait for a reviewer."""
        return Counter(
            stratum
            for trial, stratum in self._drawn.items()
            if trial not in self._by_reader
        )

    def verdicts(self) -> tuple[TrialVerdicts, ...]:
        """Return the verdicts on each trial that a reviewer locked."""
        differing = self.differing
        return tuple(
            TrialVerdicts(
                task,
                trial.model,
                session,
                self._by_reader[number],
                self._last.get(number) if number in differing else None,
            )
            for number, (task, trial, session) in sorted(self._tasks.items())
        )
