"""The notice that a batch has ended, in whatever way, and what to do next."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QWidget

from viewer.domain.answer import Status
from viewer.domain.counting import counted
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.notices import Notice, Offer
from viewer.ui.application.run_state import Phase, RunState, odd_words


class RunEndings(QObject):
    """Tells of each end of a batch; ``open_run`` shows the results of one."""

    def __init__(
        self, context: AppContext, owner: QWidget, open_run: Callable[[int], None]
    ) -> None:
        super().__init__(owner)
        self._context, self._owner, self._open_run = context, owner, open_run
        context.run_states.ended.connect(self._tell)

    def _tell(self, state: RunState) -> None:
        self._context.notices.post(self._notice(state))
        QApplication.alert(self._owner.window())

    def _notice(self, state: RunState) -> Notice:
        run, what = state.run, ending_sentence(state)
        if state.phase in {Phase.DONE, Phase.STOPPED}:
            offer = Offer("Open results", partial(self._open, run))
        else:
            resume = self._context.run_states.resume
            offer = Offer(f"Resume run {run}", partial(resume, run))
        return Notice(what, state.why, warning=state.is_broken, offer=offer)

    def _open(self, run: int) -> None:
        self._context.actions.run("window.measure")
        self._open_run(run)


def ending_sentence(state: RunState) -> str:
    """Return how a run ended, with how many trials it has and did not go well."""
    run = f"Run {state.run}"
    at = f" at {state.done:,} of {state.planned:,} trials" if state.planned else ""
    if state.phase in {Phase.DONE, Phase.STOPPED}:
        pending = state.counts.get(Status.PENDING, 0)
        trials = counted(state.planned, "trial")
        left = [f"{pending:,} pending"] if pending else []
        return (
            f"{run} has ended: {', '.join((trials, *odd_words(state.counts), *left))}."
        )
    if state.phase is Phase.CRASHED:
        return f"{run} was interrupted{at}."
    if state.phase is Phase.FAILED:
        return f"{run} was stopped by an error{at}."
    return f"{run} was {state.phase}{at}."
