"""Opening of a session for the reader named on the start page."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal

from viewer.domain.reading import NameTakenError, SessionId, SessionSummary
from viewer.services.readings.task_choice import TaskWanted
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.confirm import confirm
from viewer.ui.dialogs.import_reading import FilesRead
from viewer.ui.dialogs.who_reads import ask_who_reads
from viewer.ui.panels.review.start import ReviewStart, ReviewWanted, StudyWanted
from viewer.ui.panels.review.work_bar import WorkBar

_Opens = Callable[..., SessionId]
"""Opens a session, given its ``reader``, who may be ``returning``."""


class SessionOpener(WorkBar):
    """Opens what is wanted, and asks who reads if somebody has this name.

    It is seen only while images are drawn for the cases. ``fail`` is called with
    errors, as Review shows them.
    """

    opened = Signal(object)
    """SessionId: a session that is to be read"""

    def __init__(
        self, store: Path, start: ReviewStart, fail: Callable[[Exception], None]
    ) -> None:
        super().__init__("Drawn", start)
        self._store, self._start, self._fail = store, start, fail
        self._background_tasks = BackgroundTasks(self)
        start.review_wanted.connect(self._open_review)
        start.study_wanted.connect(self._open_study)
        start.task_wanted.connect(self._open_task)

    def go_on(self, session: SessionId) -> None:
        """Have a session read once every image made for it is there."""
        from viewer.services.readings.redrawing import redraw_missing

        told, stop = self.begin(), self.stop

        def draw() -> SessionId:
            redraw_missing(self._store, session, progress=told, stop=stop)
            return session

        def show(drawn: SessionId) -> None:
            self.hide()
            self.opened.emit(drawn)

        self._background_tasks.start("open", draw, show, self._refuse)

    def _open_review(self, event: ReviewWanted) -> None:
        from viewer.services.readings.agreeing import open_adjudication
        from viewer.services.readings.opening import open_error_review

        sample = event.sample
        self._open(
            partial(open_adjudication, self._store, event.run)
            if event.adjudicate
            else partial(
                open_error_review,
                self._store,
                event.run,
                cap=sample.cap,
                telemetry=event.telemetry,
                views=sample.views,
                condition=sample.condition,
            )
        )

    def _open_study(self, event: StudyWanted) -> None:
        from viewer.services.readings.opening import open_reader_study

        self._open(
            partial(
                open_reader_study,
                self._store,
                event.dataset,
                event.form,
                place=event.place,
                grid=event.sample.grid,
                findings=event.sample.findings,
                telemetry=event.telemetry,
                views=event.sample.views,
                aid=event.aid,
                seed=event.seed,
            )
        )

    def _open_task(self, wanted: TaskWanted) -> None:
        from viewer.services.readings.task_readings import open_task

        told = self.begin()
        self._open(
            partial(open_task, self._store, wanted, progress=told, stop=self.stop)
        )

    def show_progress(self, told: FilesRead) -> None:
        """Show how many images are drawn, in words too."""
        super().show_progress(told)
        self._start.say(f"Drawing image {told.done} of {told.every} …")
        self.show()

    def _open(
        self, opens: _Opens, reader: str = "", *, returning: bool = False
    ) -> None:
        from viewer.services.readings.opening import session

        name = reader or self._start.reader.text()

        def open_it() -> SessionSummary:
            return session(self._store, opens(reader=name, returning=returning))

        def show(begun: SessionSummary) -> None:
            self.hide()
            self._go_on(begun, known=returning)

        def fail(error: Exception) -> None:
            if isinstance(error, NameTakenError):
                self._ask(opens, error)
            else:
                self._refuse(error)

        self._background_tasks.start("open", open_it, show, fail)

    def _refuse(self, error: Exception) -> None:
        self.hide()
        self._fail(error)

    def _ask(self, opens: _Opens, taken: NameTakenError) -> None:
        def go_on(name: str, *, returning: bool) -> None:
            self._start.reader.setText(name)
            self._open(opens, name, returning=returning)

        ask_who_reads(
            self.window(),
            taken,
            partial(go_on, returning=True),
            partial(go_on, returning=False),
        )

    def _go_on(self, begun: SessionSummary, *, known: bool) -> None:
        """Read a session; ask first if somebody of the reader's name has read in it."""
        if known or not begun.done:
            self.go_on(begun.id)
            return
        confirm(
            self.window(),
            f"Continue as {begun.reader}?",
            f"{begun.reader} has locked {begun.done:,} of {begun.planned:,} cases of "
            "this session. If that was another reader of the same name, cancel and "
            "enter a name that differs.",
            "Continue",
            lambda: self.go_on(begun.id),
        )
