"""The status bar: where data goes, window, value at the cursor, use, the batch."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtWidgets import (
    QHBoxLayout,
    QProgressBar,
    QStatusBar,
    QToolButton,
    QWidget,
)

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
from viewer.ui.widgets.icons import IconLabel, icon
from viewer.ui.widgets.plain_text import Label, as_tip

_ICON: Final = 14
_BAR_WIDTH: Final = 120
_WHOLE: Final = 1000


@dataclass(frozen=True, eq=False)
class WorkShown:
    """Work beside batches, "" for none, and how to stop it, if possible."""

    text: str
    stop: Callable[[], None] | None = None
    stop_tip: str = ""


@dataclass(frozen=True, slots=True)
class HostsShown:
    """Remote hosts of the next question, and what prevents sending."""

    hosts: tuple[str, ...] = ()
    restricted: str = ""


class StatusFields(QObject):
    """What the workspaces write into the status bar; "" clears a field."""

    tool_changed = Signal(object)
    """str, such as "Tool: Length" """
    window_changed = Signal(object)
    """str, such as "W 350 L 40" """
    cursor_changed = Signal(object)
    """str, such as "(812, 1304) 1023 HU" """

    work_changed = Signal(object)
    """WorkShown, such as "Phantoms · 3 of 13" """
    use_changed = Signal(object)
    """str, such as "3 requests $0.00 · cache 212 MB" """
    hosts_changed = Signal(object)
    """HostsShown"""

    def show_tool(self, text: str) -> None:
        """Show what a drag on the image does."""
        self.tool_changed.emit(f"Tool: {text}")

    def show_window(self, text: str) -> None:
        """Show the window of the image that has the focus."""
        self.window_changed.emit(text)

    def show_cursor(self, text: str) -> None:
        """Show the pixel under the cursor and its value."""
        self.cursor_changed.emit(text)

    def show_work(
        self, text: str, stop: Callable[[], None] | None = None, stop_tip: str = ""
    ) -> None:
        """Show what goes on in the background, and a button where it can be stopped."""
        self.work_changed.emit(WorkShown(text, stop, stop_tip))

    def show_use(self, text: str) -> None:
        """Show what was asked since the window opened, and the store's images."""
        self.use_changed.emit(text)

    def show_hosts(self, hosts: tuple[str, ...], restricted: str = "") -> None:
        """Show to which other machines the ticked models send; none: local only.

        ``restricted`` names the data set that keeps the image here, "" for none.
        """
        self.hosts_changed.emit(HostsShown(hosts, restricted))


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


class WorkLine(QWidget):
    """Background work beside batches, and a button that stops it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = WorkShown("")
        self.text, self.stop = Label(parent=self), QToolButton(self)
        self.stop.setIcon(icon("close-circle-outline"))
        self.stop.clicked.connect(self._stop)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.text)
        row.addWidget(self.stop)
        self.stop.hide()

    def show_work(self, shown: WorkShown) -> None:
        """Show other work, or none."""
        self._shown = shown
        self.text.setText(shown.text)
        self.stop.setVisible(shown.stop is not None)
        self.stop.setToolTip(as_tip(shown.stop_tip))
        self.stop.setAccessibleName(shown.stop_tip)

    def _stop(self) -> None:
        if self._shown.stop is not None:
            self._shown.stop()


class Destinations(QWidget):
    """Where images go: nowhere, or the hosts of the models that are ticked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lock, self.words = IconLabel("lock-outline", _ICON), Label(parent=self)
        row = QHBoxLayout(self)
        row.setContentsMargins(4, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._lock)
        row.addWidget(self.words)
        self.show_hosts(HostsShown())

    def show_hosts(self, shown: HostsShown) -> None:
        """Say which other machines the next question goes to; none: local only."""
        hosts, names = shown.hosts, ", ".join(shown.hosts)
        self._lock.show_icon("lock-open-variant-outline" if hosts else "lock-outline")
        restriction = f"Local only: '{shown.restricted}' is restricted"
        here = restriction if shown.restricted else "Local only"
        self.words.setText(f"Sends to {names}" if hosts else here)
        self.setToolTip(
            as_tip(
                f"A ticked model sends to {names}: images leave this machine"
                if hosts
                else _kept_tip(shown.restricted)
            )
        )


def _kept_tip(restricted: str) -> str:
    if restricted:
        return (
            f"The data set '{restricted}' is restricted: no image leaves this machine"
        )
    return "Every ticked model runs on this machine: no image leaves it"


class StatusBar(QStatusBar):
    """The bar at the foot of the window."""

    def __init__(self, fields: StatusFields, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.tool_text, self.window_text = Label(parent=self), Label(parent=self)
        self.cursor_text = Label(parent=self)
        self.work, self.use_text = WorkLine(self), Label(parent=self)
        self.destinations = Destinations(self)
        self.batch = BatchLine(self)
        self.use_text.setToolTip(
            "Questions since the window opened, and the images stored as sent"
        )
        fixed = (
            self.destinations,
            self.tool_text,
            self.window_text,
            self.cursor_text,
            self.use_text,
            self.work,
        )
        for widget in fixed:
            self.addWidget(widget)
        self.addPermanentWidget(self.batch)
        fields.tool_changed.connect(self.tool_text.setText)
        fields.window_changed.connect(self.window_text.setText)
        fields.cursor_changed.connect(self.cursor_text.setText)
        fields.work_changed.connect(self.work.show_work)
        fields.use_changed.connect(self.use_text.setText)
        fields.hosts_changed.connect(self.destinations.show_hosts)
