"""Resuming what an earlier window left unfinished, and telling what is out."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QTimer

from viewer.domain.counting import counted
from viewer.domain.errors import OverreadError
from viewer.services.worker.interrupted import (
    InterruptedRun,
    interrupted_runs,
    runs_out,
)
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.notices import Notice

_LOOK_AGAIN_MS: Final = 1_000


class InterruptedRuns(QObject):
    """Resumes the runs that were interrupted when an earlier window closed.

    A run resumes by itself once the process that stores its last requests has ended, if
    its models cost nothing; a run of models with a price is only offered. Whoever sent
    them, the runs that wait in providers' batches are told, and may be resumed.

    Parameters
    ----------
    context : AppContext
        The source of the store, the notices and the runs.
    parent : QObject
        What this belongs to.
    """

    def __init__(self, context: AppContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._waiting: frozenset[int] = frozenset()
        self._background_tasks = BackgroundTasks(self)
        self._later = QTimer(self, singleShot=True, interval=_LOOK_AGAIN_MS)
        self._later.timeout.connect(self._look_again)
        context.changes.store_written.connect(self._look_for_batches)

    def look(self) -> None:
        """Find interrupted runs, and resume them or offer to."""
        self._find(self._deal_with)
        self._look_for_batches()

    def _look_for_batches(self) -> None:
        store, show = self._context.settings.store, self._context.run_states.show_out
        self._background_tasks.start("out", lambda: runs_out(store), show, self._fail)

    def _look_again(self) -> None:
        self._find(lambda found: self._deal_with(self._awaited(found)))

    def _awaited(self, found: tuple[InterruptedRun, ...]) -> tuple[InterruptedRun, ...]:
        return tuple(each for each in found if each.run in self._waiting)

    def _find(self, then: Callable[[tuple[InterruptedRun, ...]], None]) -> None:
        store = self._context.settings.store
        self._background_tasks.start(
            "look", lambda: interrupted_runs(store), then, self._fail
        )

    def _deal_with(self, found: tuple[InterruptedRun, ...]) -> None:
        for each in found:
            if not each.held:
                self._go_on(each)
        self._waiting = frozenset(each.run for each in found if each.held)
        if self._waiting:
            self._later.start()

    def _go_on(self, cut_off: InterruptedRun) -> None:
        was = f"was interrupted after {cut_off.done:,} of {cut_off.planned:,} trials"
        if cut_off.priced:
            how = "Resume it in Measure; its models have a price."
            self._context.notices.post(Notice(f"Run {cut_off.run} {was}.", how))
            if cut_off.may_be_left:
                self._context.worker.tidy(cut_off.run)
            return
        if cut_off.out:
            was = f"has {counted(cut_off.out, 'question')} in a batch"
        goes_on = f"{was} and continues"
        if cut_off.done == cut_off.planned:
            goes_on = "is complete; its files at the provider are being deleted"
        self._context.notices.say(f"Run {cut_off.run} {goes_on}.")
        self._context.run_states.resume(cut_off.run)

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self._context.notices.error(error)
