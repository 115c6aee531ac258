"""Progress events of a running batch: spending, limits, loading and waiting."""

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from threading import Lock
from typing import Final, Self

from viewer.domain.errors import ProviderError
from viewer.domain.run import (
    Heartbeat,
    LimitChanged,
    ModelLoading,
    Outstanding,
    RunSpent,
    RunWaiting,
    TrialDone,
)
from viewer.models.loaded import NOTHING_MORE, Loadable
from viewer.services.privacy.made_questions import LOADING_LIMIT_S
from viewer.services.running.scheduler import Scheduler
from viewer.services.running.spending import Budget
from viewer.store.claims import Coordinator
from viewer.store.runs import StoredTrial
from viewer.store.trials import Verdict

_BEAT_S: Final = 1.0
_BY_SERVER: Final = "on its server"


class ProgressEvents:
    """Compares the state with what was last reported; reports each change once."""

    def __init__(self, run: int, budget: Budget, scheduler: Scheduler) -> None:
        self._run, self._budget, self._scheduler = run, budget, scheduler
        self._spent = 0
        self._limits: dict[str, tuple[int, float | None]] = {}
        self._beat_s = -math.inf

    def news(self) -> Iterator[RunSpent | LimitChanged | Heartbeat]:
        """Return the changes since the last call, and a heartbeat if one is due."""
        budget = self._budget
        if budget.spent != self._spent:
            self._spent = budget.spent
            yield RunSpent(self._run, budget.spent, budget.at_risk, budget.ceiling)
        for endpoint, limit in self._scheduler.limits.items():
            now = limit.window, limit.per_s
            if self._limits.get(endpoint) != now:
                self._limits[endpoint] = now
                yield LimitChanged(self._run, endpoint, *now)
        if time.monotonic() >= self._beat_s + _BEAT_S:
            self._beat_s = time.monotonic()
            yield Heartbeat(self._run, self._scheduler.awaited)


def trial_done(run: int, stored: StoredTrial, verdict: Verdict) -> TrialDone:
    """Return that the verdict on a trial of a run is in the store."""
    trial, replies = stored.trial, verdict.replies
    return TrialDone(
        run=run,
        trial=stored.id,
        item=trial.item,
        condition=trial.condition.name,
        repeat=trial.repeat,
        model=trial.model,
        score=verdict.score,
        request_sha256=verdict.request_sha256 or "",
        reused=bool(replies) and replies[-1].reused,
        latency_ms=sum(one.raw.latency_ms for one in replies),
    )


class LoadWatch:
    """Collects the progress of models' loading, whichever thread loads them.

    Of consecutive steps of the same kind, such as downloading, only the last is
    reported.

    Parameters
    ----------
    run : int
        The run whose events are made.
    models : iterable of (str, Loadable)
        Its models that are loaded before they are asked, with their names.
    """

    def __init__(self, run: int, models: Iterable[tuple[str, Loadable]]) -> None:
        self._run, self._models = run, tuple(models)
        self._lock = Lock()
        self._steps: list[ModelLoading] = []
        self._told: dict[str, str] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        for name, adapter in self._models:
            self._open.enter_context(adapter.watch(partial(self._hear, name)))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _hear(self, name: str, part: float, what: str) -> None:
        step = ModelLoading(self._run, name, part, what)
        with self._lock:
            if self._steps and _kind(self._steps[-1]) == _kind(step):
                self._steps.pop()
            self._steps.append(step)

    def news(self) -> Iterator[ModelLoading]:
        """Return the steps since the last call."""
        with self._lock:
            steps, self._steps = self._steps, []
        for step in steps:
            if step.what != NOTHING_MORE or self._told.get(step.model, NOTHING_MORE):
                self._told[step.model] = step.what
                yield step


class ServerLoads:
    """The models whose servers are loading them, by what they said last."""

    def __init__(self, run: int) -> None:
        self._run = run
        self._since: dict[str, float] = {}
        self._told: dict[str, int] = {}

    def hear(self, model: str, error: ProviderError | None) -> None:
        """Record how a question to a model ended; None for a reply."""
        if error is not None and error.loading:
            self._since.setdefault(model, time.monotonic())
        else:
            self._since.pop(model, None)

    def is_awaited(self, model: str) -> bool:
        """Whether a model's server is loading it, and not for too long yet."""
        since = self._since.get(model)
        return since is not None and time.monotonic() < since + LOADING_LIMIT_S

    def news(self) -> Iterator[ModelLoading]:
        """Return which servers are loading, about once a second, and which ended."""
        for model in [each for each in self._told if each not in self._since]:
            waited = float(self._told.pop(model))
            yield ModelLoading(self._run, model, 1.0, NOTHING_MORE, waited)
        for model, since in self._since.items():
            waited_s = int(time.monotonic() - since)
            if self._told.get(model) != waited_s:
                self._told[model] = waited_s
                yield ModelLoading(self._run, model, 0.0, _BY_SERVER, float(waited_s))


def _kind(step: ModelLoading) -> tuple[str, str]:
    """Return the kind of a step, without its amount."""
    return step.model, step.what.partition(",")[0]


_PATIENCE_S: Final = 1.0
"""Shorter waits of a batch are not reported."""


class Waits:
    """Tracks which processes are awaited; reports it when nothing else goes on."""

    def __init__(self, run: int) -> None:
        self._run = run
        self._holders: dict[int, Coordinator] = {}
        self._idle_since: float | None = None
        self._told: tuple[str, Outstanding | None] = ("", None)

    def hold(self, trial: int, holder: Coordinator) -> None:
        """Record that a trial waits for the reply to another process's question."""
        self._holders[trial] = holder

    def release(self, trial: int) -> None:
        """Record that a trial no longer waits."""
        self._holders.pop(trial, None)

    def news(
        self, *, idle: bool, out: Outstanding | None = None
    ) -> Iterator[RunWaiting]:
        """Return the changes.

        ``idle`` if nothing of the batch is in progress here; ``out`` is what is in
        batches of providers.
        """
        holders = self._waited_for(idle=idle and bool(self._holders))
        if (holders, out) != self._told:
            self._told = holders, out
            questions, due = (out.questions, out.due) if out else (0, "")
            yield RunWaiting(self._run, holders, questions=questions, due=due)

    def _waited_for(self, *, idle: bool) -> str:
        now = time.monotonic()
        self._idle_since = (self._idle_since or now) if idle else None
        if self._idle_since is None or now - self._idle_since < _PATIENCE_S:
            return ""
        return ", ".join(sorted({str(holder) for holder in self._holders.values()}))


class StoreWait:
    """Reports the start and end of each wait for another writer of the store."""

    def __init__(self, run: int, tell: Callable[[RunWaiting], None]) -> None:
        self._run, self._tell = run, tell
        self._told = False

    def __call__(self, waited_s: float) -> None:
        """Handle a wait of this duration so far."""
        if waited_s >= _PATIENCE_S and not self._told:
            self._told = True
            self._tell(RunWaiting(self._run, "", store_is_busy=True))

    def over(self) -> None:
        """Handle the end of a wait."""
        if self._told:
            self._told = False
            self._tell(RunWaiting(self._run, ""))
