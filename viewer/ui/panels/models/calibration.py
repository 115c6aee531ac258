"""The coordinate convention of the chosen model's answers."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.counting import counted
from viewer.services.commands import CalibrationStep
from viewer.ui.panels.models.calibration_book import FoundConvention
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.lighter import ProgressBar
from viewer.ui.widgets.plain_text import Label

_BEFORE: Final = (
    "A calibration asks where markers are in images made for it, to find out how the "
    "model writes coordinates. A model that names grid cells needs none."
)


@dataclass(frozen=True, slots=True)
class CalibrateWanted:
    """The user wants to find out how this model writes coordinates."""

    name: str


@dataclass(frozen=True, slots=True)
class StopCalibrationWanted:
    """The user wants to stop this model's calibration."""

    name: str


@dataclass(frozen=True, slots=True)
class ConventionWanted:
    """The user wants this convention in the model's settings."""

    convention: str


class ModelCalibration(QWidget):
    """The button Calibrate, its progress, and the result."""

    calibrate_wanted = Signal(object)
    """CalibrateWanted"""
    stop_wanted = Signal(object)
    """StopCalibrationWanted"""
    convention_wanted = Signal(object)
    """ConventionWanted"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._convention = "", ""
        self.words, self.found = caption(_BEFORE), Label(wordWrap=True)
        self.calibrate, self.stop = QPushButton("Calibrate"), QPushButton("Cancel")
        self.use, self.bar = (
            QPushButton("Use these coordinates"),
            ProgressBar(textVisible=False),
        )
        row, below = QHBoxLayout(), QHBoxLayout()
        row.addWidget(self.words, 1)
        for button in (self.calibrate, self.stop):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        below.addWidget(self.found, 1)
        below.addWidget(self.use, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(8)
        column.addLayout(row)
        column.addWidget(self.bar)
        column.addLayout(below)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.calibrate.clicked.connect(self.ask_to_calibrate)
        self.stop.clicked.connect(
            lambda: self.stop_wanted.emit(StopCalibrationWanted(self._name))
        )
        self.use.clicked.connect(
            lambda: self.convention_wanted.emit(ConventionWanted(self._convention))
        )

    def ask_to_calibrate(self) -> None:
        """Request a calibration if the model is saved and none is running."""
        if self._name and self.calibrate.isEnabled():
            self.calibrate_wanted.emit(CalibrateWanted(self._name))

    def show_model(
        self,
        name: str,
        found: FoundConvention | None,
        step: CalibrationStep | None,
        *,
        saved: bool,
    ) -> None:
        """Show a model's calibration and its progress."""
        self._name, self._convention = name, found.convention if found else ""
        self.calibrate.setText(f"Calibrate {name}".strip())
        self.calibrate.setEnabled(saved)
        self.calibrate.setVisible(step is None)
        for widget in (self.bar, self.stop):
            widget.setVisible(step is not None)
        self.bar.setMaximum(step.total if step else 1)
        self.bar.setValue(step.done if step else 0)
        self.words.setText(_words(step))
        self.found.setText(found.sentence if found else "")
        self.found.setVisible(found is not None)
        self.use.setVisible(bool(self._convention))


def _words(step: CalibrationStep | None) -> str:
    if step is None:
        return _BEFORE
    if step.awaited:
        return step.awaited
    if not step.total:
        return "Asking the first question…"
    return f"{step.done} of {counted(step.total, 'question')} answered"
