"""The line of a running batch in the status bar."""

from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from viewer.domain.counting import counted
from viewer.domain.run import Event, ModelLoading, RunEnded
from viewer.ui.application.run_state import Phase, RunState
from viewer.ui.application.run_states import RunStates
from viewer.ui.widgets.icons import icon
from viewer.ui.widgets.lighter import ProgressBar
from viewer.ui.widgets.plain_text import ShortLabel, as_tip

if TYPE_CHECKING:
    from viewer.services.worker.background import WorkerMessage

_BAR_WIDTH: Final = 120
_WHOLE: Final = 1000


class BatchLine(QWidget):
    """The foremost run: its state, progress, Pause, Cancel and Resume.

    Without a run, what a single question loads.
    """

    def __init__(self, states: RunStates, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._states = states
        self._question: ModelLoading | None = None
        self.text = ShortLabel(parent=self)
        self.bar = ProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(_BAR_WIDTH)
        self.bar.setMaximum(_WHOLE)
        self.pause, self.cancel = QToolButton(self), QToolButton(self)
        self.resume = QToolButton(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.text)
        row.addWidget(self.bar)
        for button, name, act in (
            (self.pause, "pause-circle-outline", self._pause),
            (self.cancel, "close-circle-outline", self._cancel),
            (self.resume, "play-circle-outline", self._resume),
        ):
            button.setIcon(icon(name))
            button.clicked.connect(act)
            row.addWidget(button)
        states.changed.connect(self._paint)
        self._paint()

    def hear(self, message: "WorkerMessage") -> None:
        """Follow what the worker does, and that it died."""
        from viewer.services.worker.background import WorkerDied, WorkerEvent

        if isinstance(message, WorkerEvent):
            self.follow(message.event)
        elif isinstance(message, WorkerDied):
            self.forget_question()

    def follow(self, event: Event) -> None:
        """Show what a single question loads, until it ends."""
        if self._states.known(event.run) is not None:
            return
        if isinstance(event, ModelLoading):
            self._question = event if event.what else None
        elif isinstance(event, RunEnded) and self._is_asked(event.run):
            self._question = None
        else:
            return
        self._paint()

    def forget_question(self) -> None:
        """Show that no question is loading a model any more."""
        self._question = None
        self._paint()

    def _is_asked(self, run: int) -> bool:
        return self._question is not None and self._question.run == run

    def _paint(self) -> None:
        state = self._states.foremost
        self.setVisible(state is not None or self._question is not None)
        if state is not None:
            self._paint_run(state)
        elif self._question is not None:
            self._paint_question(self._question)

    def _paint_run(self, state: RunState) -> None:
        others = len(self._states.active) - state.is_active
        more = f" · and {counted(others, 'other run')}" if others else ""
        self.text.setText(f"Run {state.run} · {self._states.words(state)}{more}")
        self.bar.setValue(round(_WHOLE * state.part))
        self.bar.setVisible(state.is_active or state.is_broken)
        stops = state.is_active and state.phase is not Phase.CANCELLING
        run = f"run {state.run}"
        _offer(
            self.pause,
            f"Pause {run}: finish what is in flight, resume later",
            shown=stops and not state.is_stopping,
        )
        _offer(
            self.cancel,
            f"Cancel {run}: finish what is in flight, then end",
            shown=stops,
        )
        _offer(self.resume, f"Resume {run}", shown=not state.is_active)

    def _paint_question(self, question: ModelLoading) -> None:
        self.text.setText(question.words)
        self.bar.show()
        self.bar.setValue(round(_WHOLE * question.part))
        tip = f"Cancel the question that waits for {question.model}"
        _offer(self.cancel, tip, shown=True)
        for button in (self.pause, self.resume):
            button.hide()

    def _pause(self) -> None:
        if state := self._states.foremost:
            self._states.pause(state.run)

    def _cancel(self) -> None:
        shown = self._states.foremost or self._question
        if shown is not None:
            self._states.cancel(shown.run)

    def _resume(self) -> None:
        if state := self._states.foremost:
            self._states.resume(state.run)


def _offer(button: QToolButton, does: str, *, shown: bool) -> None:
    button.setVisible(shown)
    button.setToolTip(as_tip(does))
    button.setAccessibleName(does)
