"""The checks and calibrations of models that the worker runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from viewer.domain.model_check import ModelCheck
from viewer.domain.plain import made
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
    """A calibration or a check could not be finished."""

    sentence: str


@dataclass(frozen=True, slots=True)
class ModelChecked:
    """A model was checked; the store has the result."""

    check: ModelCheck


class CalibrationBook(QObject):
    """Runs checks and calibrations in the worker; holds the results of this session."""

    changed = Signal()
    checked = Signal(object)
    """ModelChecked"""
    failed = Signal(object)
    """CalibrationFailed"""

    def __init__(self, worker: WorkerBridge, parent: QObject) -> None:
        super().__init__(parent)
        self._worker = worker
        self._found: dict[str, FoundConvention] = {}
        self._steps: dict[str, CalibrationStep] = {}
        self._asked: dict[int, str] = {}
        self._checks: set[str] = set()
        self._why: dict[str, str] = {}
        worker.message.connect(self._hear)

    def found(self, name: str) -> FoundConvention | None:
        """Return a model's calibration, None before it is calibrated."""
        return self._found.get(name)

    def step(self, name: str) -> CalibrationStep | None:
        """Return the progress of a model's calibration, None while none is running."""
        return None if name in self._checks else self._steps.get(name)

    def check_step(self, name: str) -> CalibrationStep | None:
        """Return the progress of a model's check, None while none is running."""
        return self._steps.get(name) if name in self._checks else None

    def why_unchecked(self, name: str) -> str:
        """Return why the last check of a model failed, "" if it did not."""
        return self._why.get(name, "")

    def check(self, name: str) -> None:
        """Find out what a model does with a known mark."""
        if name not in self._steps:
            self._checks.add(name)
            self._why.pop(name, None)
            self._begin(name, self._worker.check_model(name))

    def calibrate(self, name: str) -> None:
        """Find out which convention a model answers in."""
        if name not in self._steps:
            self._begin(name, self._worker.calibrate(name))

    def _begin(self, name: str, number: int) -> None:
        self._steps[name] = CalibrationStep(name, 0, 0)
        self._asked[number] = name
        self.changed.emit()

    def stop(self, name: str) -> None:
        """Stop a model's calibration or check."""
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
            self._checks.clear()
            self.changed.emit()

    def _end(self, reply: WorkerReply) -> None:
        name = self._asked.pop(reply.id)
        self._steps.pop(name, None)
        was_check = name in self._checks
        self._checks.discard(name)
        if was_check:
            self._end_check(name, reply)
        else:
            self._end_calibration(name, reply)
        self.changed.emit()

    def _end_check(self, name: str, reply: WorkerReply) -> None:
        if reply.ok is None:
            self._why[name] = reply.sentence
            self.failed.emit(CalibrationFailed(reply.sentence))
        else:
            where = "the worker's reply"
            found = made(ModelCheck, reply.ok.get("checked"), where=where)
            self.checked.emit(ModelChecked(found))

    def _end_calibration(self, name: str, reply: WorkerReply) -> None:
        found = (reply.ok or {}).get("calibrated")
        if isinstance(found, Mapping):
            convention = str(found["convention"] or "")
            self._found[name] = FoundConvention(str(found["sentence"]), convention)
        else:
            self.failed.emit(CalibrationFailed(reply.sentence))
