"""The runs in progress in this window's worker: one state for each, kept up to date."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from viewer.domain.run import RunMark, RunSummary
from viewer.services.worker.background import WorkerDied, WorkerEvent, WorkerReply
from viewer.ui.application.run_state import Phase, RunState, stored_state

if TYPE_CHECKING:
    from viewer.domain.run import RunSpec

_BEAT_MS: Final = 1_000
_MINUTE_MS: Final = 60_000
_CONCURRENCY: Final = 0
"""As many questions in flight as each endpoint is good for."""
_ENDS: Final = {RunMark.PAUSED: Phase.PAUSED, RunMark.CANCELLED: Phase.CANCELLED}


class RunsWorker(Protocol):
    """The worker as runs need it; every number returned is the id of a command."""

    @property
    def message(self) -> SignalInstance:
        """Carries what the worker says."""

    def run_batch(self, spec: "RunSpec", concurrency: int) -> int:
        """Plan a run and start it."""

    def resume(self, run: int, concurrency: int) -> int:
        """Continue a run."""

    def pause(self, run: int) -> int:
        """Pause a run once its requests in flight are answered."""

    def cancel(self, run: int) -> int:
        """Cancel a run once its requests in flight are answered."""


class RunStates(QObject):
    """What every part of the window knows about runs, and how each is controlled.

    A run is known from the worker's reply that it begins; single questions from Read
    are not runs. Its state stays after its end until the list of runs has been read
    again, after a failure until the run goes on.

    Parameters
    ----------
    worker : RunsWorker
        The source of events, and what runs are started, paused and cancelled by.
    clock : callable, optional
        Returns seconds; never goes back.
    """

    changed = Signal()
    """A state is another: at once when a phase begins, else once a second."""
    begun = Signal(int)
    """The number of a run that starts or goes on."""
    ended = Signal(object)
    """RunState of a run that has just ended, in whatever way"""
    refused = Signal(object)
    """str, the sentence why a run could not be started, resumed, paused, cancelled"""

    def __init__(
        self, worker: RunsWorker, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._worker, self.clock = worker, clock
        self._states: dict[int, RunState] = {}
        self._told: dict[int, RunState] = {}
        self._told_s = 0.0
        self._out: tuple[RunState, ...] = ()
        self._asked: dict[int, tuple[int | None, RunMark | None]] = {}
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._beat)
        worker.message.connect(self._hear)

    def known(self, run: int) -> RunState | None:
        """Return the state of a run of this window, None of any other."""
        return self._told.get(run)

    def of(self, summary: RunSummary) -> RunState:
        """Return the state of a run: as heard from the worker, else as stored."""
        return self._told.get(summary.id) or stored_state(summary)

    def words(self, state: RunState) -> str:
        """Return what a run is doing, as of the last change."""
        return state.words(self._told_s)

    @property
    def active(self) -> tuple[RunState, ...]:
        """The runs that have not ended, the latest started first."""
        return tuple(s for s in reversed(self._told.values()) if s.is_active)

    @property
    def foremost(self) -> RunState | None:
        """The run to show where there is room for one.

        An active one, else a broken one, else one that waits in a provider's batch.
        """
        broken = [s for s in reversed(self._told.values()) if s.is_broken]
        out = [s for s in self._out if not s.is_active]
        return next(iter((*self.active, *broken, *out)), None)

    def start(self, spec: "RunSpec") -> None:
        """Plan a run and ask everything of it in the background."""
        self._asked[self._worker.run_batch(spec, _CONCURRENCY)] = None, None

    def resume(self, run: int) -> None:
        """Continue a run in the background."""
        self._asked[self._worker.resume(run, _CONCURRENCY)] = run, None
        self._queue(run)  # at once: the worker's process may have to start first

    def pause(self, run: int) -> None:
        """Pause a run once its requests in flight are answered."""
        self._asked[self._worker.pause(run)] = run, RunMark.PAUSED
        self._request(run, RunMark.PAUSED)

    def cancel(self, run: int) -> None:
        """Cancel a run once its requests in flight are answered."""
        self._asked[self._worker.cancel(run)] = run, RunMark.CANCELLED
        self._request(run, RunMark.CANCELLED)

    def _request(self, run: int, mark: RunMark) -> None:
        state = self._states.get(run)
        if state is not None and state.is_active:
            self._keep(state.requested(mark, self.clock()))

    def show_out(self, read: Iterable[RunSummary]) -> None:
        """Know the runs that wait in providers' batches, just read, newest first."""
        out = tuple(map(stored_state, read))
        if out != self._out:
            self._out = out
            self._beat()

    def forget_ended(self, read: Iterable[RunSummary]) -> None:
        """Let the list of runs, just read, tell of runs that have ended."""
        for summary in read:
            state = self._states.get(summary.id)
            if state is None or state.is_active:
                continue
            went_on = stored_state(summary).done != state.done
            if not state.is_broken or went_on:
                del self._states[summary.id]
        self._beat()

    def _hear(self, message: object) -> None:
        if isinstance(message, WorkerEvent):
            state = self._states.get(message.event.run)
            if state is not None:
                self._keep(state.after(message.event, self.clock()))
        elif isinstance(message, WorkerReply):
            self._hear_reply(message)
        elif isinstance(message, WorkerDied):
            for state in tuple(self._states.values()):
                self._break(state.run, Phase.CRASHED, message.sentence)

    def _hear_reply(self, reply: WorkerReply) -> None:
        """Begin the state of a run that starts; end that of one that failed."""
        asked = reply.id in self._asked
        run, mark = self._asked.pop(reply.id, (None, None))
        if reply.ok is None and reply.run is not None:
            self._break(reply.run, Phase.FAILED, reply.sentence)
        elif reply.ok is None and asked:
            self._go_on(run)
            self.refused.emit(reply.sentence)
        elif reply.ok is not None and isinstance(begun := reply.ok.get("run"), int):
            self._begin(begun)
        elif run is not None and mark is not None:
            self._end_unless_active(run, _ENDS[mark])

    def _begin(self, run: int) -> None:
        self._queue(run)
        self.begun.emit(run)

    def _queue(self, run: int) -> None:
        self._states.pop(run, None)  # the latest started comes last
        now = self.clock()
        self._keep(RunState(run, since_s=now, heard_s=now))

    def _end_unless_active(self, run: int, phase: Phase) -> None:
        """Report the end of a run that nobody worked on; others report their own."""
        state = self._states.get(run)
        if state is None or not state.is_active:
            self._states.pop(run, None)
            self._beat()
            self.ended.emit(RunState(run, phase))

    def _go_on(self, run: int | None) -> None:
        """Show a run as before what was refused: a pause, a cancel or to be resumed."""
        state = None if run is None else self._states.get(run)
        if state is not None and state.is_stopping:
            self._keep(replace(state, phase=Phase.RUNNING))
        elif state is not None and state.phase is Phase.QUEUED:
            del self._states[state.run]
            self._beat()

    def _break(self, run: int | None, phase: Phase, why: str) -> None:
        state = None if run is None else self._states.get(run)
        if state is not None and state.is_active:
            self._keep(state.broken(phase, why, self.clock()))

    def _keep(self, state: RunState) -> None:
        before = self._states.get(state.run)
        self._states[state.run] = state
        others = (one for one in self._out if one.run != state.run)
        self._out = (*((state,) if state.out else ()), *others)
        if before is None or before.phase is not state.phase:
            self._beat()
            if not state.is_active:
                self.ended.emit(state)

    def _beat(self) -> None:
        """Notify everybody, and again in a second while a run is active.

        In a minute if a batch is out: it may be due today instead of tomorrow then.

        All read what is kept here, so that all say the same.
        """
        self._told, self._told_s = dict(self._states), self.clock()
        if self.active:
            self._timer.start(_BEAT_MS)
        elif self._out:
            self._timer.start(_MINUTE_MS)
        else:
            self._timer.stop()
        self.changed.emit()
