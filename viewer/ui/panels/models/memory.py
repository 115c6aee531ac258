"""Load and Unload of a model that is held in memory, with the memory it needs."""

from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.ui.tables.models_model import ModelRow, bytes_text
from viewer.ui.widgets.lighter import ProgressBar
from viewer.ui.widgets.plain_text import Label


@dataclass(frozen=True, slots=True)
class LoadWanted:
    """The user wants to load this model."""

    name: str


@dataclass(frozen=True, slots=True)
class UnloadWanted:
    """The user wants to unload this model."""

    name: str


@dataclass(frozen=True, slots=True)
class CancelLoadWanted:
    """The user wants to cancel the loading of this model."""

    name: str


@dataclass(frozen=True, slots=True)
class GetWanted:
    """The user wants to download this model of the hub; ``revision`` may be ""."""

    model: str
    revision: str


class ModelMemory(QWidget):
    """Shown for models that are loaded before they are asked."""

    load_wanted = Signal(object)
    """LoadWanted"""
    unload_wanted = Signal(object)
    """UnloadWanted"""
    cancel_wanted = Signal(object)
    """CancelLoadWanted"""
    get_wanted = Signal(object)
    """GetWanted"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._to_get = "", GetWanted("", "")
        self.words = Label(wordWrap=True)
        self.bar = ProgressBar(minimum=0, maximum=1000, textVisible=False)
        self.load, self.unload = QPushButton("Load"), QPushButton("Unload")
        self.cancel, self.get = QPushButton("Cancel loading"), QPushButton("Get…")
        row = QHBoxLayout()
        row.addWidget(self.words, 1)
        for button in (self.get, self.load, self.unload, self.cancel):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self.bar)
        self.load.clicked.connect(self.ask_to_load)
        self.unload.clicked.connect(self.ask_to_unload)
        self.cancel.clicked.connect(
            lambda: self.cancel_wanted.emit(CancelLoadWanted(self._name))
        )
        self.get.clicked.connect(lambda: self.get_wanted.emit(self._to_get))
        self.hide()

    def ask_to_load(self) -> None:
        """Request loading of the model, if possible."""
        if not (self.isHidden() or self.load.isHidden()) and self.load.isEnabled():
            self.load_wanted.emit(LoadWanted(self._name))

    def ask_to_unload(self) -> None:
        """Request unloading of the model, if it is loaded."""
        if not (self.isHidden() or self.unload.isHidden()):
            self.unload_wanted.emit(UnloadWanted(self._name))

    def show_row(self, row: ModelRow | None) -> None:
        """Show the state of a model; hide this for one that is not held in memory."""
        held = row.held if row else None
        if row is None or (held is None and row.step is None):
            self.hide()
            return
        self._name = row.line.name
        loading = row.step is not None
        loaded = held is not None and held.state == "loaded"
        self.words.setText(_words(row))
        self.bar.setVisible(loading)
        self.bar.setValue(round(1000 * row.step.part) if row.step else 0)
        self.cancel.setVisible(loading)
        self.unload.setVisible(loaded and not loading)
        self.load.setVisible(not loaded and not loading)
        self.load.setEnabled(not (held and held.error))
        revision = str(row.line.table.get("revision", ""))
        self._to_get = GetWanted(row.line.to_get, revision)
        self.get.setVisible(bool(row.line.to_get and held and held.error))
        self.show()


def _words(row: ModelRow) -> str:
    held = row.held
    if row.step is not None:
        return f"Loading {round(100 * row.step.part)} %: {row.step.what}"
    if held is None or held.error:
        return held.error if held else ""
    takes = bytes_text(held.memory_bytes) if held.memory_bytes else ""
    if held.state == "loaded":
        return f"Loaded; it uses {takes}." if takes else "Loaded."
    return f"Not loaded; it needs {takes}." if takes else "Not loaded."
