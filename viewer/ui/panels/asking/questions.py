"""One question at a time to the worker: asked, answered, failed or cancelled."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QObject, Signal

from viewer.domain.answer import Status
from viewer.domain.run import (
    ModelLoading,
    ModelStopped,
    RunEnded,
    RunWaiting,
    TrialDone,
)
from viewer.services.worker.background import (
    AskCommand,
    WorkerDied,
    WorkerEvent,
    WorkerReply,
)
from viewer.ui.application.app_context import WorkerBridge


@dataclass(frozen=True, slots=True)
class Answered:
    """A trial is stored; its answer can be fetched."""

    trial: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A model or the worker gave no answer; one or two sentences say why."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Ended:
    """The question has ended; nothing of it is running."""

    cancelled: bool


@dataclass(frozen=True, slots=True)
class Waiting:
    """What the question waits for: models being loaded; ``part`` 0 to 1 of the first.

    It may also wait for the reply to the same question of another process. Without
    ``words`` it waits no longer, and the models are asked.
    """

    words: str
    part: float = 0.0


class Questions(QObject):
    """Follows the runs of the latest question."""

    answered = Signal(object)
    """Carries an Answered."""
    failed = Signal(object)
    """Carries a Failed."""
    ended = Signal(object)
    """Carries an Ended."""
    waiting = Signal(object)
    """Carries a Waiting."""

    def __init__(self, worker: WorkerBridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._worker = worker
        self._asked: int | None = None
        self._runs: set[int] = set()
        self._awaited: dict[str | int, ModelLoading | RunWaiting] = {}
        self._cancelled = False
        worker.message.connect(self._hear)

    @property
    def running(self) -> bool:
        """True while an answer is awaited."""
        return self._asked is not None or bool(self._runs)

    def ask(self, command: AskCommand) -> None:
        """Ask; the signals report the result."""
        self._cancelled = False
        self._awaited.clear()
        self._asked = self._worker.ask(command)

    def cancel(self) -> None:
        """Let what is in flight finish, then end; it is stored even so.

        A model that is being loaded, or writes in this machine's memory, stops.
        """
        self._cancelled = True
        for run in self._runs:
            self._worker.cancel(run)

    def _hear(self, message: object) -> None:
        hear = _HEARD.get(type(message))
        if hear is not None:
            hear(self, message)

    def _reply(self, reply: WorkerReply) -> None:
        if reply.run is not None:
            self._run_failed(reply.run, reply.sentence)
            return
        if reply.id != self._asked:
            return
        self._asked = None
        if reply.ok is None:
            self.failed.emit(Failed(reply.sentence))
            self.ended.emit(Ended(self._cancelled))
            return
        runs = reply.ok.get("runs")
        self._runs = set(runs) if isinstance(runs, list) else set()
        if not self._runs:
            self.ended.emit(Ended(self._cancelled))
        # Cancelled before the worker had told the runs' numbers.
        elif self._cancelled:
            self.cancel()

    def _run_failed(self, run: int, sentence: str) -> None:
        if run in self._runs:
            self.failed.emit(Failed(sentence))
            self._end_run(run)

    def _event(self, message: WorkerEvent) -> None:
        event = message.event
        if event.run not in self._runs:
            return
        if isinstance(event, TrialDone):
            self._tell_trial(event)
        elif isinstance(event, ModelStopped):
            self.failed.emit(Failed(event.sentence))
        elif isinstance(event, ModelLoading):
            self._wait(event.model, event)
        elif isinstance(event, RunWaiting):
            self._wait(event.run, event)
        elif isinstance(event, RunEnded):
            self._cancelled |= event.cancelled  # wherever it was cancelled
            self._end_run(event.run)

    def _wait(self, key: str | int, event: ModelLoading | RunWaiting) -> None:
        """Report what the questions wait for: loading models, or replies to others."""
        self._awaited.pop(key, None)
        if event.words:
            self._awaited[key] = event
        if not self._cancelled:
            steps = sorted(self._awaited.values(), key=lambda step: step.run)
            words = "\n".join(step.words for step in steps)
            parts = [step.part for step in steps if isinstance(step, ModelLoading)]
            self.waiting.emit(Waiting(words, parts[0] if parts else 0.0))

    def _tell_trial(self, event: TrialDone) -> None:
        if event.score.status is Status.PROVIDER_ERROR:
            reason = event.score.reason.replace("_", " ")
            self.failed.emit(Failed(f"{event.model} did not answer: {reason}."))
        self.answered.emit(Answered(event.trial))

    def _end_run(self, run: int) -> None:
        self._runs.discard(run)
        if not self._runs:
            self.ended.emit(Ended(self._cancelled))

    def _died(self, message: WorkerDied) -> None:
        if self.running:
            self._asked, self._runs = None, set()
            self.failed.emit(Failed(message.sentence))
            self.ended.emit(Ended(self._cancelled))


_HEARD: Final[Mapping[type, Callable[..., None]]] = {
    WorkerReply: Questions._reply,  # noqa: SLF001 - the class's own table
    WorkerEvent: Questions._event,  # noqa: SLF001 - the class's own table
    WorkerDied: Questions._died,  # noqa: SLF001 - the class's own table
}
