"""The card of the one check: what the chosen model did with a known mark."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.model_check import ModelCheck
from viewer.services.commands import CalibrationStep
from viewer.services.configuring.model_list import ModelLine
from viewer.ui.widgets.labels import caption, selectable
from viewer.ui.widgets.lighter import ProgressBar

_BEFORE: Final = (
    "Not checked yet. A check asks up to five short questions about images with a "
    "known mark: whether the model sees them, whether its answers are read correctly, "
    "and how fast it is."
)
_ASKING: Final = "Asking about images with a known mark…"


@dataclass(frozen=True, slots=True)
class CheckWanted:
    """The user wants this model to be checked."""

    name: str


@dataclass(frozen=True, slots=True)
class StopCheckWanted:
    """The user wants to stop the check of this model."""

    name: str


class ModelCheckCard(QFrame):
    """The result of the last check in plain words, what is wrong, and a new check."""

    check_wanted = Signal(object)
    """CheckWanted"""
    stop_wanted = Signal(object)
    """StopCheckWanted"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._name = ""
        self.words, self.wrong, self.when = selectable(), selectable(), caption()
        self.check, self.stop = QPushButton("Check"), QPushButton("Cancel")
        self.bar = ProgressBar(textVisible=False)
        text, row = QVBoxLayout(), QHBoxLayout(self)
        text.setSpacing(4)
        for widget in (self.words, self.wrong, self.when, self.bar):
            text.addWidget(widget)
        row.setContentsMargins(12, 8, 12, 8)
        row.addLayout(text, 1)
        for button in (self.check, self.stop):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.check.clicked.connect(self.ask_to_check)
        self.stop.clicked.connect(
            lambda: self.stop_wanted.emit(StopCheckWanted(self._name))
        )

    def ask_to_check(self) -> None:
        """Request a check if the model is saved and none is running."""
        if self._name and self.check.isEnabled():
            self.check_wanted.emit(CheckWanted(self._name))

    def show_model(
        self, line: ModelLine, failed: str, step: CalibrationStep | None, *, saved: bool
    ) -> None:
        """Show a model's last check, why one failed, and the progress of one."""
        self._name, found = line.name, line.check
        asking = step and (step.awaited or _ASKING)
        self.words.setText(asking or line.check_words or _BEFORE)
        wrong = "" if step else failed or line.check_wrong
        self.wrong.setText(f"⚠ {wrong}")
        self.wrong.setVisible(bool(wrong))
        self.when.setText(_when(found) if found else "")
        self.when.setVisible(found is not None and step is None)
        self.bar.setVisible(step is not None)
        self.bar.setMaximum(step.total if step else 1)
        self.bar.setValue(step.done if step else 0)
        self.check.setText("Check again" if found else "Check")
        self.check.setEnabled(saved)
        self.check.setVisible(step is None)
        self.stop.setVisible(step is not None)


def _when(found: ModelCheck) -> str:
    at = datetime.fromisoformat(found.at).astimezone()
    called = f" It calls itself {found.answered_as}." if found.answered_as else ""
    return f"Checked on {at:%Y-%m-%d at %H:%M}.{called}"
