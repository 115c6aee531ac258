"""The workspace Measure: runs, their results and the trials behind each number."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QKeyEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QStackedWidget,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.domain.plain import plain
from viewer.domain.run import ModelStopped, RunStatus, RunSummary
from viewer.services.exporting.export_table import export_table
from viewer.services.inspecting.runs import trial_rows
from viewer.services.worker.background import WorkerEvent
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.choices import restored
from viewer.ui.application.layout_memory import Choices
from viewer.ui.application.notices import Notice
from viewer.ui.application.run_state import Phase, RunState
from viewer.ui.dialogs.housekeeping import ask_to_delete, ask_to_delete_reply
from viewer.ui.dialogs.word_reviews import stopped_notice
from viewer.ui.panels.charts.figures import FiguresPage
from viewer.ui.panels.comparing.place import ComparePlace
from viewer.ui.panels.measure.batches import BatchDraft, Batches
from viewer.ui.panels.measure.filmstrip import Filmstrip, TrialChosen
from viewer.ui.panels.measure.han_notice import tell_of_han
from viewer.ui.panels.measure.no_runs import empty_page
from viewer.ui.panels.measure.outcome_words import trials_title
from viewer.ui.panels.measure.predictions_page import CasesFound, PredictionsPage
from viewer.ui.panels.measure.results_groups_panel import GroupsChoice, GroupsPanel
from viewer.ui.panels.measure.results_panel import ResultsPanel
from viewer.ui.panels.measure.run_ending import RunEndings
from viewer.ui.panels.measure.run_export import FORMS, RunExport
from viewer.ui.panels.measure.run_list import RunList
from viewer.ui.panels.measure.run_reading import RunReading
from viewer.ui.panels.measure.run_report import RunReport
from viewer.ui.panels.measure.script_copy import ScriptCopy
from viewer.ui.panels.measure.trial_details import TrialDetails
from viewer.ui.tables.results_model import RowKey
from viewer.ui.widgets.lighter import Splitter
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import scrolled

_PAGES: Final = ("run", "predictions", "figures")
_RESULTS: Final = 540
"""The width of the results in the smallest window; wider ones scroll there."""
_LARGE: Final = 20_000
"""The number of trials above which a report is computed only when shown."""


@dataclass(frozen=True, slots=True)
class MeasureChoice:
    """The user's choices in this workspace, for the next start."""

    page: str = "run"
    groups: GroupsChoice = field(default_factory=GroupsChoice)
    batch: BatchDraft = field(default_factory=BatchDraft)


class MeasureWorkspace(QWidget):
    """Runs at the left, results at the right, the cases of a number below.

    One page shows the report of the selected run, the other predictions of this run or
    of all, grouped and filtered.
    """

    trial_chosen = Signal(object)
    """TrialChosen: the user wants to see this trial's case with its answer"""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._store = context, context.settings.store
        self._background_tasks = BackgroundTasks(self)
        self.batches = Batches(context, self)
        self._chosen: TrialChosen | None = None
        self._ended: set[int] = set()
        self._shown_run: int | None = None
        self.runs, self.results = RunList(context.run_states), ResultsPanel()
        self._reading = RunReading(context, self, self._show_runs, self._fail)
        self.predictions, self.figures = PredictionsPage(context), FiguresPage(context)
        self.film = Filmstrip(self._store, context.decoder)
        self.report = RunReport(
            context, self, self.runs, self.results, self.film, self._fail
        )
        self.told = TrialDetails(context, self, self.trial_chosen.emit)
        self.state = Label(wordWrap=True)
        self.state.setAccessibleName("State of the run")
        self._scripts = ScriptCopy(context, self, self.runs)
        self._pages, self.pages = QStackedWidget(), QTabWidget()
        self._lay_out()
        self.comparing = ComparePlace(context, self._pages, self.runs)
        self._connect()

    def handlers(self) -> Mapping[str, Callable[[], None]]:
        """Return this workspace's handlers by the action's id."""
        return {
            "file.batch": self.batches.open,
            "file.export": self._export,
            **{x.action: RunExport(self._context, self.runs, x).ask for x in FORMS},
            "edit.copy": lambda: self.comparing.copy_or(self._shown.table.copy),
            "edit.find": self._find,
            "run.compare": self.comparing.open,
            **self.tour_handlers(),
            "run.resume": self.runs.resume.click,
            "run.pause": self.runs.pause.click,
            "run.cancel": self.runs.cancel.click,
            "run.delete": self._delete_run,
            "reply.delete": lambda: ask_to_delete_reply(
                self.window(), self._context, self.film.current
            ),
        }

    def tour_handlers(self) -> Mapping[str, Callable[[], None]]:
        """Return the handlers of the tour of disagreements, which Read offers too."""
        return {
            "tour.next": lambda: self.predictions.tour.step(1),
            "tour.previous": lambda: self.predictions.tour.step(-1),
        }

    @property
    def choices(self) -> Choices:
        """The user's choices, for the next start."""
        page = _PAGES[self.pages.currentIndex()]
        choice = MeasureChoice(page, self.groups.choice, self.batches.draft)
        return {"measure": plain(choice)}

    def recall(self, choices: Choices) -> None:
        """Restore the choices of the previous session."""
        choice = restored(MeasureChoice(), choices.get("measure"))
        self.groups.recall(choice.groups)
        self.batches.recall(choice.batch)
        page = choice.page if choice.page in _PAGES else _PAGES[0]
        self.pages.setCurrentIndex(_PAGES.index(page))

    @property
    def groups(self) -> GroupsPanel:
        """The table of grouped predictions."""
        return self.predictions.groups

    @property
    def _shown(self) -> ResultsPanel | GroupsPanel | FiguresPage:
        """The panel of the current page."""
        panels = (self.results, self.groups, self.figures)
        return panels[self.pages.currentIndex()]

    def _export(self) -> None:
        if not self.comparing.export():
            self._shown.ask_where_to_export()

    def _delete_run(self) -> None:
        """Ask about deleting the selected run."""
        from viewer.services.housekeeping.delete import Kind, Target

        if self.runs.selected is None:
            self._context.notices.say("Select a run first, then delete it.")
            return
        target = Target(Kind.RUN, str(self.runs.selected.id))
        ask_to_delete(self.window(), self._context, target)

    def _find(self) -> None:
        if self._shown_groups:
            self.groups.filters.choices["finding"].setFocus()
        elif self._shown is self.figures:
            self.figures.choice.setFocus()
        else:
            self.results.filters["finding"].setFocus()

    def _tell_of_han(self) -> None:
        answers = (row.score.answer for row in self.film.model.trials)
        tell_of_han(self._context.notices, answers)

    def return_to_row(self) -> None:
        """Return to the row, and the trial, that a case was opened from."""
        if self.comparing.return_to_item():
            return
        if self._chosen is not None:
            self.film.select(self._chosen.trial)
        self.film.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def refresh(self) -> None:
        """Read the runs again."""
        self._reading.read()

    def _look_again(self) -> None:
        """Show what has been written since."""
        self.report.forget()
        if self._reading.read_in_time() and self._shown_groups:
            self.groups.refresh_soon()

    def export_to(self, path: Path) -> None:
        """Write the selected run's results.csv."""
        table = self.results.table.results.table
        self._background_tasks.start(
            path,
            lambda: export_table(table, path),
            lambda _: self._context.notices.say(f"{path.name} has been saved."),
            self._fail,
        )

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Read the runs when first shown."""
        super().showEvent(event)
        self._reading.read_unless_fresh()

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Pass the focus to the current page."""
        self._shown.table.setFocus(event.reason())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Return from a comparison on Escape, also from the list of runs."""
        if event.key() == Qt.Key.Key_Escape and self.comparing.shown:
            self.comparing.leave()
        else:
            super().keyPressEvent(event)

    def _connect(self) -> None:
        self.runs.run_selected.connect(self._show_run)
        self.pages.currentChanged.connect(self._show_page)
        self.predictions.cases_found.connect(self._show_cases)
        self.groups.table.cases_wanted.connect(self.film.enter)
        self.predictions.tour.stop_reached.connect(
            lambda event: self.told.route(event, self._choose)
        )
        self.runs.batch_wanted.connect(self.batches.open)
        self.runs.delete_wanted.connect(self._delete_run)
        self.results.row_chosen.connect(self._show_trials)
        self.results.save_wanted.connect(self.export_to)
        self.results.script_wanted.connect(self._scripts.copy)
        self.film.trial_chosen.connect(self._choose)
        self.film.words_wanted.connect(self.told.show)
        self.film.view.addAction(self._context.actions["reply.delete"])
        self._context.changes.deleted.connect(self.film.forget)
        self.film.model.modelReset.connect(self._tell_of_han)
        self.comparing.trial_chosen.connect(
            lambda event: self.told.route(event, self.trial_chosen.emit)
        )
        self._context.worker.message.connect(self._hear)
        states = self._context.run_states
        states.begun.connect(self._open_run)
        states.ended.connect(self._run_ended)
        states.changed.connect(self._follow)
        states.refused.connect(self._tell)
        RunEndings(self._context, self, self._open_run)
        self._context.changes.store_written.connect(self._look_again)

    def _lay_out(self) -> None:
        right = QWidget()
        above = QVBoxLayout(right)
        above.setContentsMargins(12, 8, 12, 8)
        above.setSpacing(12)
        self.pages.setDocumentMode(True)
        self.pages.tabBar().setDrawBase(False)
        self.pages.addTab(self.results, "Run")
        self.pages.addTab(self.predictions, "Predictions")
        self.pages.addTab(self.figures, "Figures")
        self.pages.setTabToolTip(0, "The selected run's results.csv, with its chart")
        self.pages.setTabToolTip(1, "All predictions, grouped as you choose")
        self.pages.setTabToolTip(2, "The paper's figures of the selected run")
        above.addWidget(self.state)
        above.addWidget(self.pages, 1)
        above.addWidget(self.film)  # after the pages: Tab goes there last
        self._pages.addWidget(empty_page(self.batches.open))
        area = scrolled(right)
        area.setMinimumWidth(_RESULTS)
        self._pages.addWidget(area)
        self._pages.addWidget(QWidget())
        self._pages.setCurrentIndex(2)  # "no run yet" is true once the runs are read
        across = Splitter(Qt.Orientation.Horizontal)
        across.addWidget(self.runs)
        across.addWidget(self._pages)
        across.setStretchFactor(1, 1)
        across.setSizes([260, 1200])
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(across)

    def _show_runs(self, runs: tuple[RunSummary, ...]) -> None:
        if not self.comparing.shown:
            self._pages.setCurrentIndex(1 if runs else 0)
        before = self.runs.selected
        self.runs.show_runs(runs)
        now = self.runs.selected
        self._show_state()
        if before and now and before.id == now.id:
            self._show_again(before, now)

    def _show_again(self, before: RunSummary, now: RunSummary) -> None:
        """Show new results of the selected run, whoever asked or scored it."""
        finished = now.status is RunStatus.FINISHED
        ended = now.status is not before.status or now.id in self._ended
        if ended or (finished and now.counts != before.counts):
            self._ended.discard(now.id)
            self._show_page()
        elif finished and self._shown is self.results:
            self.report.compute(now, again=True)
        else:
            self.report.follow()

    def _show_run(self, run: int) -> None:
        """Show a run on the current page; a large one's predictions first."""
        summary, fresh = self.runs.selected, run != self._shown_run
        self._show_state()
        self._shown_run = self.predictions.tour.run = run
        large = summary is not None and summary.n_planned > _LARGE
        kept = self.report.is_kept(run)
        if fresh and large and not kept and self._shown is self.results:
            self.pages.setCurrentIndex(1)  # which shows the page
        else:
            self._show_page()

    @property
    def _shown_groups(self) -> bool:
        return self._shown is self.groups

    def _show_page(self) -> None:
        """Show the selected run on the current page."""
        figures, summary = self._shown is self.figures, self.runs.selected
        self.film.setVisible(not figures)
        if summary is None:
            return
        if self._shown_groups:
            self._background_tasks.cancel("trials")
            self.predictions.show_run(summary.id)
        elif figures:
            self.figures.show_run(summary.id)
        else:
            self.report.show(summary)

    def _show_trials(self, key: RowKey | None) -> None:
        """Show the trials behind a row of the run's results."""
        if self._shown_groups:
            return
        self._background_tasks.cancel("trials")
        summary = self.runs.selected
        if key is None or summary is None:
            self.film.show_trials("", ())
            return
        run, words = summary.id, self.results.shown.words
        self._background_tasks.start(
            "trials",
            lambda: trial_rows(
                self._store,
                run,
                finding=key.finding,
                view=key.view,
                condition=key.condition,
                model=key.model,
            ),
            lambda rows: self.film.show_trials(trials_title(key, rows, words), rows),
            self._fail,
        )

    def _show_cases(self, found: CasesFound) -> None:
        """Show the trials that a number of the predictions counts."""
        if self._shown_groups:
            self.film.show_ids(found.title, found.ids, found.of)

    def _choose(self, event: TrialChosen) -> None:
        self._chosen = event
        self.trial_chosen.emit(event)

    def _hear(self, message: object) -> None:
        """Say that a model of a run is not asked any more, and why."""
        event = message.event if isinstance(message, WorkerEvent) else None
        known = self._context.run_states.known
        # a single question's are shown where it was asked
        if isinstance(event, ModelStopped) and known(event.run) is not None:
            notice = stopped_notice(self.window(), self._context, event)
            self._context.notices.post(notice)

    def _tell(self, why: str) -> None:
        """Say why a run was not started, resumed, paused or cancelled."""
        self._context.notices.post(Notice(why))

    def _follow(self) -> None:
        """Show what the runs in progress have come to."""
        self._show_state()
        self.report.follow()
        if self.groups.isVisible() and self._context.run_states.active:
            self.groups.refresh_soon()

    def _show_state(self) -> None:
        """Say what the selected run is doing, and why it stopped, unless it is done."""
        summary, states = self.runs.selected, self._context.run_states
        words = ""
        if (
            summary is not None
            and (state := states.of(summary)).phase is not Phase.DONE
        ):
            words = f"Run {summary.id} · {states.words(state)}"
            words += f". {state.why}" if state.why else ""
        self.state.setText(words)
        self.state.setVisible(bool(words))

    def _run_ended(self, state: RunState) -> None:
        """Read the runs again, and what one that ended has come to."""
        self.report.forget(state.run)
        self._ended.add(state.run)
        self.refresh()
        self.groups.refresh_soon()

    def _open_run(self, run: int) -> None:
        """Select a run once it is listed."""
        self.report.forget(run)
        self.comparing.leave()
        self.runs.wanted = run
        self.refresh()

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix; raise others."""
        if not isinstance(error, OverreadError):
            raise error
        self.results.show_title("")
        self._context.notices.error(error)
