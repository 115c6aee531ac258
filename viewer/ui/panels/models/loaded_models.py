"""Which models the worker holds in memory, as it reports them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from viewer.domain.run import ModelLoading, RunEnded
from viewer.services.commands import HeldModel, LoadStep
from viewer.services.worker.background import (
    WorkerDied,
    WorkerEvent,
    WorkerLoading,
    WorkerReply,
    held_models,
)
from viewer.ui.application.app_context import WorkerBridge

_NAMELESS = ""


@dataclass(frozen=True, slots=True)
class HoldingFailed:
    """A model could not be loaded or unloaded."""

    sentence: str


class LoadedModels(QObject):
    """Asks the worker to load and unload models, and keeps their states."""

    changed = Signal()
    failed = Signal(object)
    """HoldingFailed"""

    def __init__(self, worker: WorkerBridge, parent: QObject) -> None:
        super().__init__(parent)
        self._worker = worker
        self._held: dict[str, HeldModel] = {}
        self._steps: dict[str, LoadStep] = {}
        self._asked: dict[int, str] = {}
        self._runs: dict[str, int] = {}
        worker.message.connect(self._hear)

    @property
    def held(self) -> Mapping[str, HeldModel]:
        """The loadable models by name."""
        return self._held

    @property
    def steps(self) -> Mapping[str, LoadStep]:
        """The loading progress of models by name."""
        return self._steps

    def look(self) -> None:
        """Request the state of every model."""
        self._asked[self._worker.model_states()] = _NAMELESS

    def load(self, name: str) -> None:
        """Load a model."""
        self._steps[name] = LoadStep(name, 0.0, "beginning")
        self._asked[self._worker.load_model(name)] = name
        self.changed.emit()

    def unload(self, name: str) -> None:
        """Unload a model."""
        self._asked[self._worker.unload_model(name)] = name

    def cancel(self, name: str) -> None:
        """Cancel the loading of a model, or the run that waits for it."""
        run = self._runs.get(name)
        if run is not None:
            self._worker.pause(run)
        else:
            self._asked[self._worker.cancel_load(name)] = _NAMELESS

    def _hear(self, message: object) -> None:
        event = message.event if isinstance(message, WorkerEvent) else None
        if isinstance(message, WorkerLoading):
            self._take_step(message.step)
        elif isinstance(event, ModelLoading) and event.waited_s is None:
            self._take_step_of_run(event)
        elif isinstance(event, RunEnded):
            self._end_run(event.run)
        elif isinstance(message, WorkerReply) and message.id in self._asked:
            self._take_in(message)
        elif isinstance(message, WorkerReply) and message.run is not None:
            self._end_run(message.run)
        elif isinstance(message, WorkerDied):
            self._forget()

    def _take_step(self, step: LoadStep) -> None:
        if step.what:
            self._steps[step.name] = step
        else:
            self._steps.pop(step.name, None)
            self._look_again()
        self.changed.emit()

    def _take_step_of_run(self, event: ModelLoading) -> None:
        """Show loading for a question too; cancelling it pauses its run."""
        if event.what:
            self._runs[event.model] = event.run
        else:
            self._runs.pop(event.model, None)
        self._take_step(LoadStep(event.model, event.part, event.what))

    def _end_run(self, run: int) -> None:
        """Forget what a run was waiting for; it may have loaded a model."""
        for name in [name for name, each in self._runs.items() if each == run]:
            del self._runs[name]
            self._steps.pop(name, None)
            self.changed.emit()
        self._look_again()

    def _look_again(self) -> None:
        if self._held:
            self.look()

    def _take_in(self, reply: WorkerReply) -> None:
        self._steps.pop(self._asked.pop(reply.id), None)
        if reply.ok is None:
            self.failed.emit(HoldingFailed(reply.sentence))
        elif "models" in reply.ok:
            self._held = {model.name: model for model in held_models(reply)}
        else:
            self._held |= {model.name: model for model in held_models(reply)}
        self.changed.emit()

    def _forget(self) -> None:
        """Mark every model as unloaded; the next command starts another worker."""
        self._asked.clear()
        self._steps.clear()
        self._runs.clear()
        self._held = {n: replace(m, state="unloaded") for n, m in self._held.items()}
        self.changed.emit()
