"""The status bar: where data goes, the window, the value at the cursor, the batch."""

import time
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QStatusBar,
    QToolButton,
    QWidget,
)

from viewer.domain.run import Event, RunEnded, RunStarted, TrialDone
from viewer.ui.icons import IconLabel, icon

_ICON: Final = 14
_BAR_WIDTH: Final = 120


class StatusFields(QObject):
    """What the workspaces write into the status bar; "" clears a field."""

    window_changed = Signal(object)
    """str, such as "W 350 L 40" """
    cursor_changed = Signal(object)
    """str, such as "(812, 1304) 1023 HU" """

    work_changed = Signal(object)
    """str, such as "Phantoms · 3 of 13" """

    def show_window(self, text: str) -> None:
        """Show the window of the image that has the focus."""
        self.window_changed.emit(text)

    def show_cursor(self, text: str) -> None:
        """Show the pixel under the cursor and its value."""
        self.cursor_changed.emit(text)

    def show_work(self, text: str) -> None:
        """Show what goes on in the background beside batches."""
        self.work_changed.emit(text)


@dataclass(frozen=True, slots=True)
class CancelAsked:
    """The person wants a run to end after what is in flight."""

    run: int


@dataclass(slots=True)
class Pace:
    """How far a run is, and since when; times in seconds of a monotonic clock."""

    run: int
    planned: int
    done: int
    started: float
    done_before: int

    def seconds_left(self, now: float) -> float | None:
        """Return how long the rest takes at this pace; None before the first."""
        here = self.done - self.done_before
        if here <= 0:
            return None
        return (now - self.started) / here * (self.planned - self.done)


def clock_text(seconds: float) -> str:
    """Return a duration as ``1:36``, with hours as ``2:01:36``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class BatchLine(QWidget):
    """A running batch: how far, how long still, and Cancel."""

    cancel_asked = Signal(object)
    """CancelAsked"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pace: Pace | None = None
        self.text = QLabel(self)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(_BAR_WIDTH)
        self.cancel = QToolButton(self)
        self.cancel.setIcon(icon("close-circle-outline"))
        self.cancel.clicked.connect(self._ask_cancel)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self.text, self.bar, self.cancel):
            row.addWidget(widget)
        self.hide()

    def follow(self, event: Event) -> None:
        """Show what an event of a batch changes; single questions are not shown."""
        match event:
            case RunStarted(run, planned, done) if planned > 1:
                self._pace = Pace(run, planned, done, time.monotonic(), done)
                self.cancel.setEnabled(True)
                self.cancel.setToolTip(f"Cancel run {run}: finish what is in flight")
                self.show()
            case TrialDone(run=run) if self._pace and self._pace.run == run:
                self._pace.done += 1
            case RunEnded(run=run) if self._pace and self._pace.run == run:
                self.stop()
        self._paint()

    def stop(self) -> None:
        """Show that no batch is running any more."""
        self._pace = None
        self.hide()

    def _paint(self) -> None:
        if self._pace is None:
            return
        pace = self._pace
        left = pace.seconds_left(time.monotonic())
        parts = [f"Run {pace.run}", f"{pace.done} of {pace.planned}"]
        if left is not None:
            parts.append(f"{clock_text(left)} left")
        self.text.setText(" · ".join(parts))
        self.bar.setMaximum(pace.planned)
        self.bar.setValue(pace.done)

    def _ask_cancel(self) -> None:
        if self._pace is not None:
            self.cancel.setEnabled(False)
            self.cancel_asked.emit(CancelAsked(self._pace.run))


class StatusBar(QStatusBar):
    """The bar at the foot of the window."""

    def __init__(self, fields: StatusFields, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeGripEnabled(False)
        self.window_text, self.cursor_text = QLabel(self), QLabel(self)
        self.work_text = QLabel(self)
        self.batch = BatchLine(self)
        fixed = (self._lock(), self.window_text, self.cursor_text, self.work_text)
        for widget in fixed:
            self.addWidget(widget)
        self.addPermanentWidget(self.batch)
        fields.window_changed.connect(self.window_text.setText)
        fields.cursor_changed.connect(self.cursor_text.setText)
        fields.work_changed.connect(self.work_text.setText)

    def _lock(self) -> QWidget:
        lock, words = IconLabel("lock-outline", _ICON), QLabel("Local only")
        box = QWidget(self)
        box.setToolTip("Nothing leaves this machine unless a model's profile names one")
        row = QHBoxLayout(box)
        row.setContentsMargins(4, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(lock)
        row.addWidget(words)
        return box
