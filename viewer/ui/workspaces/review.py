"""The workspace Review: what there is to review, then one case after another."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QVBoxLayout, QWidget

from viewer.domain.errors import OverreadError
from viewer.domain.plain import plain
from viewer.domain.reading import SessionId, SessionSummary, Task
from viewer.domain.run import RunSummary
from viewer.services.readings.task_choice import TaskChoice
from viewer.ui.application.app_context import AppContext
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.application.choices import restored
from viewer.ui.application.layout_memory import Choices
from viewer.ui.dialogs.confirm import confirm
from viewer.ui.panels.asking.pixel_looks import PixelLooks
from viewer.ui.panels.review.aid import AidSettings
from viewer.ui.panels.review.briefing import Briefing, DonePage
from viewer.ui.panels.review.offers import ReviewOffers
from viewer.ui.panels.review.opener import SessionOpener
from viewer.ui.panels.review.page import ReviewPage
from viewer.ui.panels.review.reading_results import ReadingResults
from viewer.ui.panels.review.replay import ReplayPage
from viewer.ui.panels.review.results import ReviewResults
from viewer.ui.panels.review.sealed_files import SealedFiles
from viewer.ui.panels.review.sessions import ReplayWanted, ResultsWanted
from viewer.ui.panels.review.start import ReviewStart

if TYPE_CHECKING:
    from viewer.services.readings.agreeing import PairAgreement
    from viewer.services.readings.reviewing import ErrorCounts
    from viewer.ui.panels.review.session import Asked, Session

_Offered = tuple[
    tuple[SessionSummary, ...],
    tuple[RunSummary, ...],
    tuple[str, ...],
    tuple[TaskChoice, ...],
    Mapping[SessionId, Sequence[int]],
]
"""Sessions begun, runs whose misses can be reviewed, data sets, studies' tasks, and
the recorded cases of sessions that can be replayed."""
_Results = tuple["tuple[ErrorCounts, ...]", "tuple[PairAgreement, ...]"]
_PURGED: Final = (
    "Your name and all your answers go for good, and no table counts them any more. "
    "That there was a session, and when it ended, stays on record."
)


@dataclass(frozen=True, slots=True)
class ReviewChoice:
    """What the window remembers of this workspace."""

    reader: str = ""
    aid: AidSettings = field(default_factory=AidSettings)
    task_aid: AidSettings = field(default_factory=AidSettings)


@dataclass(frozen=True, eq=False)
class _Begun:
    """A session that this window holds, and its cases.

    Without its reader's consent they are not even read.
    """

    session: "Session"
    tasks: tuple[Task, ...]
    asked: "Asked"


class ReviewWorkspace(QWidget):
    """A page to choose from, a page to review on, and a page shown at the end."""

    visits_changed = Signal()
    """``visiting`` may have changed."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._store = context, context.settings.store
        self._background_tasks = BackgroundTasks(self)
        self._offered: _Offered | None = None
        self.start, self.page = ReviewStart(), ReviewPage(context.decoder)
        self.done, self.results = DonePage(), ReviewResults()
        self.briefing = Briefing()
        self.replay = ReplayPage(self._store, context.decoder)
        self.compared = ReadingResults(self._store)
        self.files = SealedFiles(context.settings, self._fail, self)
        self.opener = SessionOpener(self._store, self.start, self._fail)
        for work in (self.files, self.opener):
            self.start.add(work)
        self._offers = ReviewOffers(
            self.start, self._store, self._background_tasks, self._fail
        )
        self._briefed: Session | None = None
        self._chosen: tuple[str, int | None] | None = None
        self._looks = PixelLooks(context, self)
        self.visiting = False
        """Whether a sealed session from another store is open."""
        self._pages = QStackedWidget()
        for page in (
            self.start,
            self.briefing,
            self.page,
            self.done,
            self.results,
            self.replay,
            self.compared,
        ):
            self._pages.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)
        self._connect()

    def _connect(self) -> None:
        self.start.run_chosen.connect(self._offers.count_run)
        self.start.dataset_chosen.connect(self._offers.count_dataset)
        sessions = self.start.sessions
        sessions.session_wanted.connect(lambda e: self.opener.go_on(e.session))
        sessions.replay_wanted.connect(self._open_replay)
        sessions.results_wanted.connect(self._compare)
        self.start.results_wanted.connect(self._open_results)
        self.start.tasks.changed.connect(self._offers.count_task)
        self.opener.opened.connect(self.open_session)
        self.briefing.agreed.connect(self._agree)
        self.briefing.left.connect(self._back)
        self.page.left.connect(self._pause)
        for page in (self.results, self.replay, self.compared):
            page.left.connect(self._back)
        self.done.back.clicked.connect(self._back)
        self.done.export.clicked.connect(self.files.export)
        self.files.told.connect(self.start.say)
        self.files.registered.connect(self.open_session)
        self.files.merged.connect(self.refresh)
        self.page.finished.connect(self._finish)
        self.page.side.bars.clicked.connect(
            lambda: self._looks.look(*self.page.image.pixels, always=True)
        )
        self._looks.decided.connect(self.page.side.tell_bars)
        self._looks.refused.connect(self.page.side.say)
        self.page.bar.withdrawal_wanted.connect(self._ask_to_withdraw)
        self._context.changes.store_written.connect(self._look_again)

    def handlers(self) -> Mapping[str, Callable[[], None]]:
        """Return this workspace's handlers by the action's id."""
        return {
            "edit.undo": self.page.undo,
            **self.page.handlers(),
            "review.pause": self._pause,
            **self.files.handlers(),
        }

    @property
    def choices(self) -> Choices:
        """The last reader, and which model's answers were shown."""
        start = self.start
        aids = start.aid.settings, start.tasks.aid.settings
        return {"review": plain(ReviewChoice(start.reader.text(), *aids))}

    def recall(self, choices: Choices) -> None:
        """Restore what :attr:`choices` has."""
        chosen = restored(ReviewChoice(), choices.get("review"))
        self.start.reader.setText(chosen.reader)
        self.start.aid.recall(chosen.aid)
        self.start.tasks.aid.recall(chosen.task_aid)

    @property
    def reviewing(self) -> bool:
        """Whether a case is on the screen."""
        return self._pages.currentWidget() is self.page

    def refresh(self) -> None:
        """Read again what there is to review."""
        self._read_offered(self._show_offered)

    def _look_again(self) -> None:
        """Offer new reviews while the user is choosing."""
        if self.start.isVisible():
            self._read_offered(self._show_others)

    def _read_offered(self, then: Callable[[_Offered], None]) -> None:
        from viewer.services.readings.opening import sessions
        from viewer.services.readings.review_offer import reviewable_runs
        from viewer.services.readings.task_choice import tasks_to_do
        from viewer.services.readings.telemetry import replayable
        from viewer.services.running.batch_form import dataset_names

        self._background_tasks.start(
            "offered",
            lambda: (
                sessions(self._store),
                reviewable_runs(self._store),
                dataset_names(self._store),
                tasks_to_do(self._store),
                replayable(self._store),
            ),
            then,
            self._fail,
        )

    def _show_others(self, offered: _Offered) -> None:
        if offered != self._offered:
            self._show_offered(offered)

    def _show_offered(self, offered: _Offered) -> None:
        self._offered = offered
        begun, runs, datasets, tasks, recorded = offered
        self.start.sessions.show_sessions(begun, recorded)
        self.start.show_runs(runs)
        self.start.show_datasets(datasets)
        self.start.tasks.offer_tasks(tasks)
        if self._chosen is not None:
            self.start.choose(*self._chosen)
            self._chosen = None

    def close_session(self) -> None:
        """Save what is on the screen and release the session."""
        self.page.close_session()
        if self._briefed is not None:
            self._briefed.close()
            self._briefed = None

    def open_session(self, session: SessionId) -> None:
        """Continue a session, unless another window holds it."""
        from viewer.ui.panels.review.session import Session

        def hold() -> _Begun:
            held = Session.hold(self._store, session)
            asked = held.asked
            return _Begun(held, () if any(asked) else held.tasks(), asked)

        self._background_tasks.start("open", hold, self._begin, self._fail)

    def open_files(self, paths: Sequence[Path]) -> None:
        """Open a session that was sealed elsewhere, or merge the answers of some."""
        if paths:
            self._context.actions.run("window.review")
            self._back()
            self.files.open(paths)

    def offer(self, dataset: str, run: int | None = None) -> None:
        """Show the start page with a data set chosen, or the cases of a run."""
        # Without what was offered, so that whichever look comes first makes the choice.
        self._chosen, self._offered = (dataset, run), None
        self._context.actions.run("window.review")
        self._back()

    def _begin(self, begun: _Begun) -> None:
        self._background_tasks.cancel_all()
        self.replay.close_recording()
        summary, self._offered = begun.session.summary, None  # offers name models
        self.start.name_no_model()
        self.start.say("")
        self.files.read_last = summary.id
        self.done.show_session(summary)
        self._visit(summary.visiting)
        if any(begun.asked) or (summary.form.briefing and not summary.done):
            self._briefed = begun.session
            self._pages.setCurrentWidget(self.briefing)
            self.briefing.show_session(summary, begun.asked)
        else:
            self._show_cases(begun)

    def _agree(self, record: bool) -> None:
        """Record what the reader agrees to, then show the first case."""
        session, self._briefed = self._briefed, None
        if session is None:
            return

        def agree() -> _Begun:
            session.agree(record=record)
            return _Begun(session, session.tasks(), session.asked)

        self._background_tasks.start("open", agree, self._show_cases, self._fail)

    def _show_cases(self, begun: _Begun) -> None:
        self._pages.setCurrentWidget(self.page)
        self.page.open(begun.session, begun.tasks)
        self.page.setFocus(Qt.FocusReason.OtherFocusReason)

    def _open_results(self, run: int) -> None:
        from viewer.services.readings.agreeing import agreement
        from viewer.services.readings.reviewing import review_results

        def show(found: "_Results") -> None:
            self.results.show_results(run, *found)
            self._show(self.results)

        self._background_tasks.start(
            "results",
            lambda: (review_results(self._store, run), agreement(self._store, run)),
            show,
            self._fail,
        )

    def _open_replay(self, event: ReplayWanted) -> None:
        self.replay.open(event.session, event.words, event.cases)
        self._pages.setCurrentWidget(self.replay)
        self.replay.play.setFocus(Qt.FocusReason.OtherFocusReason)

    def _compare(self, event: ResultsWanted) -> None:
        self.compared.open(event.session, event.words)
        self._show(self.compared)

    def _ask_to_withdraw(self) -> None:
        confirm(
            self.window(),
            f"Withdraw from the session '{self.page.bar.title.text()}'?",
            _PURGED,
            "Withdraw",
            self.page.withdraw,
        )

    def _finish(self) -> None:
        self.page.close_session()
        self._show(self.done)

    def _show(self, page: QWidget) -> None:
        """Show a page whose first visible button Enter presses."""
        self._visit(False)
        self._pages.setCurrentWidget(page)
        shown = (b for b in page.findChildren(QPushButton) if b.isVisibleTo(page))
        for button in tuple(shown)[:1]:
            button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _visit(self, visiting: bool) -> None:
        self.visiting = visiting
        self.visits_changed.emit()

    def _pause(self) -> None:
        if self.may_close(lambda: None):
            self._back()

    def may_close(self, close: Callable[[], object]) -> bool:
        """Return whether the answers on the screen are saved; else ask, then close."""
        ask, page = "Leave without the answers to this case?", self.page
        if page.keep(leaving=True):
            return True

        def leave() -> None:
            self._back()
            close()

        confirm(self.window(), ask, page.side.problem.text(), "Leave", leave)
        return False

    def _back(self) -> None:
        self.close_session()
        self.replay.close_recording()
        self._visit(False)
        self._pages.setCurrentWidget(self.start)
        self.start.reader.setFocus(Qt.FocusReason.OtherFocusReason)
        self.refresh()

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix on the current page; raise others."""
        if not isinstance(error, OverreadError):
            raise error
        self.start.say(f"{error.what} {error.how}".strip())

    def focusInEvent(self, event: QFocusEvent) -> None:  # noqa: N802 - Qt's name
        """Focus the case, or the first field to fill in."""
        (self.page if self.reviewing else self.start.reader).setFocus(event.reason())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Return from results, and from a finished review, on Escape."""
        at_start = self._pages.currentWidget() is self.start
        if event.key() != Qt.Key.Key_Escape or at_start:
            super().keyPressEvent(event)
        else:
            self._back()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Read what there is to review, unless a case is on the screen."""
        super().showEvent(event)
        if not self.reviewing:
            self.refresh()
