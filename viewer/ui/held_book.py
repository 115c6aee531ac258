"""Which models the worker holds in memory, as the worker tells it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal

from viewer.domain.run import RunEnded
from viewer.services.background import (
    WorkerDied,
    WorkerEvent,
    WorkerLoading,
    WorkerReply,
    held_models,
)
from viewer.services.commands import HeldModel, LoadStep
from viewer.ui.desk import WorkerBridge

_NAMELESS = ""


@dataclass(frozen=True, slots=True)
class HoldingFailed:
    """A model could not be loaded or let go."""

    sentence: str


class HeldBook(QObject):
    """Asks the worker to load and unload models, and keeps what it says of them."""

    changed = Signal()
    failed = Signal(object)
    """HoldingFailed"""

    def __init__(self, worker: WorkerBridge, parent: QObject) -> None:
        super().__init__(parent)
        self._worker = worker
        self._held: dict[str, HeldModel] = {}
        self._steps: dict[str, LoadStep] = {}
        self._asked: dict[int, str] = {}
        worker.message.connect(self._hear)

    @property
    def held(self) -> Mapping[str, HeldModel]:
        """The models that are loaded before they are asked, by name."""
        return self._held

    @property
    def steps(self) -> Mapping[str, LoadStep]:
        """How far those are that are being loaded, by name."""
        return self._steps

    def look(self) -> None:
        """Ask where every model stands."""
        self._asked[self._worker.model_states()] = _NAMELESS

    def load(self, name: str) -> None:
        """Load a model."""
        self._steps[name] = LoadStep(name, 0.0, "beginning")
        self._asked[self._worker.load_model(name)] = name
        self.changed.emit()

    def unload(self, name: str) -> None:
        """Give a model's memory back."""
        self._asked[self._worker.unload_model(name)] = name

    def cancel(self, name: str) -> None:
        """Stop the loading of a model."""
        self._asked[self._worker.cancel_load(name)] = _NAMELESS

    def _hear(self, message: object) -> None:
        if isinstance(message, WorkerLoading):
            self._steps[message.step.name] = message.step
            self.changed.emit()
        elif isinstance(message, WorkerReply) and message.id in self._asked:
            self._take_in(message)
        elif isinstance(message, WorkerDied):
            self._forget()
        elif self._held and _is_end(message):
            self.look()  # a question may have loaded one

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
        """Nothing is in memory any more; the next command starts another worker."""
        self._asked.clear()
        self._steps.clear()
        self._held = {n: replace(m, state="unloaded") for n, m in self._held.items()}
        self.changed.emit()


def _is_end(message: object) -> bool:
    return isinstance(message, WorkerEvent) and isinstance(message.event, RunEnded)
