"""The results of the selected run: computed in the background, anew while it runs."""

import time
from collections.abc import Callable
from typing import Final

from PySide6.QtWidgets import QWidget

from viewer.domain.errors import UnknownRunError
from viewer.domain.run import RunStatus, RunSummary
from viewer.services.inspecting.runs import RunResults, run_doubt, run_results
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.panels.measure.filmstrip import Filmstrip
from viewer.ui.panels.measure.results_panel import ResultsPanel
from viewer.ui.panels.measure.run_list import RunList, run_title

_TABLE: Final = "table"
_DOUBT: Final = "doubt"
_REST_S: Final = 2.0
_RESTS: Final = 5.0
"""Between two computations of a run in progress lies at least so long, and so many
times what the last one took."""


class RunReport:
    """Shows the results of the run that is selected in a list.

    Parameters
    ----------
    context : AppContext
        The source of the store and of the runs in progress.
    owner : QWidget
        Destroying it drops what is being computed.
    runs : RunList
        The list of runs.
    results, film : ResultsPanel, Filmstrip
        Where results and their trials are shown.
    fail : callable
        Handles an error.
    """

    def __init__(
        self,
        context: AppContext,
        owner: QWidget,
        runs: RunList,
        results: ResultsPanel,
        film: Filmstrip,
        fail: Callable[[Exception], None],
    ) -> None:
        self._context, self._store = context, context.settings.store
        self._runs, self._results, self._film = runs, results, film
        self._fail_aloud = fail
        self._background_tasks = BackgroundTasks(owner)
        self._tables: dict[int, RunResults] = {}
        self._shown: int | None = None
        self._done = 0
        self._due_s = 0.0

    def _fail(self, error: Exception) -> None:
        """Show an error, but not that a run was deleted while it was read."""
        if not isinstance(error, UnknownRunError):
            self._fail_aloud(error)

    @property
    def is_computing(self) -> bool:
        """True while results are being computed."""
        return _TABLE in self._background_tasks

    def is_kept(self, run: int) -> bool:
        """Tell whether a run's results need not be computed."""
        return run in self._tables

    def forget(self, run: int | None = None) -> None:
        """Drop the results of a run, or of every run if no number is given."""
        for number in list(self._tables) if run is None else [run]:
            self._tables.pop(number, None)

    def show(self, summary: RunSummary) -> None:
        """Show a run's results; those of a finished run are cached."""
        self._background_tasks.cancel(_TABLE)
        self._background_tasks.cancel(_DOUBT)
        self._results.show_doubt("")
        run = summary.id
        if run in self._tables:
            self._show_table(run, self._tables[run])
            return
        waiting = f"Computing the results of run {run} …"
        if run == self._shown:
            self._results.show_title(waiting)
        else:  # neither chart nor trials of another run stand below this title
            self._results.show_waiting(waiting)
            self._film.show_trials("", ())
        self.compute(summary)

    def follow(self) -> None:
        """Compute an unfinished run's results anew if it has more of them now."""
        summary = self._runs.selected
        if summary is None or summary.status is RunStatus.FINISHED:
            return
        due = time.monotonic() >= self._due_s and not self.is_computing
        more = self._context.run_states.of(summary).done != self._done
        if due and more and self._results.isVisible():
            self.compute(summary, again=True)

    def compute(self, summary: RunSummary, *, again: bool = False) -> None:
        """Compute a run's results; with ``again`` leave unchanged ones as they are."""
        run, done = summary.id, summary.status is RunStatus.FINISHED
        self._done = self._context.run_states.of(summary).done
        started_s = time.monotonic()

        def keep(results: RunResults) -> None:
            took_s = time.monotonic() - started_s
            self._due_s = time.monotonic() + max(_REST_S, _RESTS * took_s)
            self._keep(run, results, done=done, again=again)

        self._background_tasks.start(
            _TABLE, lambda: run_results(self._store, run), keep, self._fail
        )

    def _keep(self, run: int, results: RunResults, *, done: bool, again: bool) -> None:
        if done and not results.words.graded:  # grades may come at any time
            self._tables[run] = results
        if not again or results != self._results.shown:
            self._show_table(run, results)

    def _show_table(self, run: int, results: RunResults) -> None:
        summary = self._runs.selected
        if summary is None or summary.id != run:
            return
        unfinished = summary.status is not RunStatus.FINISHED
        so_far = " · so far" if unfinished else ""
        self._results.show_title(run_title(summary) + so_far)
        self._results.show_results(results)
        self._shown = run
        if not unfinished:
            self._background_tasks.start(
                _DOUBT,
                lambda: run_doubt(self._store, run),
                self._results.show_doubt,
                self._fail,
                priority=-1,
            )
