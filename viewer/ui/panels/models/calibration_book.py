"""The coordinate conventions that the worker detected for models."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from viewer.services.commands import CalibrationStep
from viewer.services.worker.background import WorkerCalibrating, WorkerDied, WorkerReply
from viewer.ui.application.app_context import WorkerBridge


@dataclass(frozen=True, slots=True)
class FoundConvention:
    """The result of a calibration; ``convention`` is "" if none reads the replies."""

    sentence: str
    convention: str


@dataclass(frozen=True, slots=True)
class CalibrationFailed:
    """A calibration could not be finished."""

    sentence: str


class CalibrationBook(QObject):
    """Runs calibrations in the worker, and holds the results of this session."""

    changed = Signal()
    failed = Signal(object)
    """CalibrationFailed"""

    def __init__(self, worker: WorkerBridge, parent: QObject) -> None:
        super().__init__(parent)
        self._worker = worker
        self._found: dict[str, FoundConvention] = {}
        self._steps: dict[str, CalibrationStep] = {}
        self._asked: dict[int, str] = {}
        worker.message.connect(self._hear)

    def found(self, name: str) -> FoundConvention | None:
        """Return a model's calibration, None before it is calibrated."""
        return self._found.get(name)

    def step(self, name: str) -> CalibrationStep | None:
        """Return the progress of a model's calibration, None while none is running."""
        return self._steps.get(name)

    def calibrate(self, name: str) -> None:
        """Find out which convention a model answers in."""
        if name not in self._steps:
            self._steps[name] = CalibrationStep(name, 0, 0)
            self._asked[self._worker.calibrate(name)] = name
            self.changed.emit()

    def stop(self, name: str) -> None:
        """Stop a model's calibration."""
        self._worker.cancel_calibration(name)

    def _hear(self, message: object) -> None:
        if isinstance(message, WorkerCalibrating):
            self._steps[message.step.name] = message.step
            self.changed.emit()
        elif isinstance(message, WorkerReply) and message.id in self._asked:
            self._end(message)
        elif isinstance(message, WorkerDied):
            self._asked.clear()
            self._steps.clear()
            self.changed.emit()

    def _end(self, reply: WorkerReply) -> None:
        name = self._asked.pop(reply.id)
        self._steps.pop(name, None)
        found = (reply.ok or {}).get("calibrated")
        if isinstance(found, Mapping):
            convention = str(found["convention"] or "")
            self._found[name] = FoundConvention(str(found["sentence"]), convention)
        else:
            self.failed.emit(CalibrationFailed(reply.sentence))
        self.changed.emit()
