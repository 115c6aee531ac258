"""The line of a running batch in the status bar."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QToolButton, QWidget

from viewer.domain.run import (
    Event,
    ModelLoading,
    RunEnded,
    RunSpent,
    RunStarted,
    RunWaiting,
    TrialDone,
)
from viewer.services.configuring.money import spent_words
from viewer.ui.application.run_progress import RunProgress
from viewer.ui.widgets.icons import icon
from viewer.ui.widgets.plain_text import Label, as_tip

_BAR_WIDTH: Final = 120
_WHOLE: Final = 1000


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """The user wants a run to end as cancelled after the requests in flight."""

    run: int


@dataclass(frozen=True, slots=True)
class PauseAsked:
    """The user wants a run to pause after the requests in flight."""

    run: int


class BatchLine(QWidget):
    """A running batch: progress, rate, failures, and Pause and Cancel."""

    pause_asked = Signal(object)
    """PauseAsked"""
    cancel_asked = Signal(object)
    """CancelAsked"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._progress: RunProgress | None = None
        self._question: ModelLoading | None = None
        self._spent = ""
        self.text = Label(parent=self)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(_BAR_WIDTH)
        self.pause, self.cancel = QToolButton(self), QToolButton(self)
        self.pause.setIcon(icon("pause-circle-outline"))
        self.cancel.setIcon(icon("close-circle-outline"))
        self.pause.clicked.connect(lambda: self._ask(self.pause_asked, PauseAsked))
        self.cancel.clicked.connect(lambda: self._ask(self.cancel_asked, CancelAsked))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self.text, self.bar, self.pause, self.cancel):
            row.addWidget(widget)
        self.hide()

    def follow(self, event: Event) -> None:
        """Show what an event of a batch changes; of a question only what it loads."""
        shown = self._progress
        match event:
            case RunStarted(run, planned, done) if planned > 1:
                self._show_question(None)
                now = time.monotonic()
                self._progress = RunProgress(run, planned, done, done, now)
                self._offer(run)
                self.show()
            case TrialDone(run=run) if shown and shown.run == run:
                self._progress = shown.after(event)
            case ModelLoading(run=run) if shown and shown.run == run:
                self._progress = shown.waiting(event, time.monotonic())
            case RunWaiting(run=run) if shown and shown.run == run:
                self._progress = replace(shown, awaited=event.words)
            case ModelLoading() if not shown:
                self._show_question(event if event.what else None)
            case RunEnded(run=run) if self._question and self._question.run == run:
                self._show_question(None)
            case RunSpent(run=run) if shown and shown.run == run:
                self._spent = f" · {spent_words(event)}"
            case RunEnded(run=run) if shown and shown.run == run:
                self.stop()
        self._paint()

    def stop(self) -> None:
        """Show that no batch is running any more."""
        self._progress, self._spent = None, ""
        self._show_question(None)
        self.hide()

    def _show_question(self, event: ModelLoading | None) -> None:
        """Show what a single question waits for; it can be cancelled, not paused."""
        before, self._question = self._question, event
        self.pause.setVisible(event is None)
        if event is not None and (before is None or before.run != event.run):
            tip = f"Cancel the question that waits for {event.model}"
            self.cancel.setEnabled(True)
            self.cancel.setToolTip(as_tip(tip))
            self.cancel.setAccessibleName(tip)
        self.setVisible(event is not None or self._progress is not None)

    def _offer(self, run: int) -> None:
        for button, does in (
            (self.pause, f"Pause run {run}: finish what is in flight, resume later"),
            (self.cancel, f"Cancel run {run}: finish what is in flight, then end"),
        ):
            button.setEnabled(True)
            button.setToolTip(as_tip(does))
            button.setAccessibleName(does)

    def _paint(self) -> None:
        progress, question = self._progress, self._question
        if progress is not None:
            words = progress.words(time.monotonic())
            self.text.setText(f"Run {progress.run} · {words}{self._spent}")
            self.bar.setMaximum(_WHOLE if progress.loading else progress.planned)
            part = round(_WHOLE * progress.part)
            self.bar.setValue(part if progress.loading else progress.done)
        elif question is not None:
            self.text.setText(question.words)
            self.bar.setMaximum(_WHOLE)
            self.bar.setValue(round(_WHOLE * question.part))

    def _ask(self, signal: SignalInstance, event: Callable[[int], object]) -> None:
        shown = self._progress or self._question
        if shown is not None:
            self.pause.setEnabled(False)
            self.cancel.setEnabled(False)
            signal.emit(event(shown.run))
