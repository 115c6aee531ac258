"""How far long work is, and a way to cancel it."""

from threading import Event

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from viewer.ui.dialogs.import_reading import FilesRead, Seldom
from viewer.ui.widgets.lighter import ProgressBar


class WorkBar(QWidget):
    """A bar and a button, seen only during work; ``words`` say what is done."""

    progressed = Signal(object)
    """FilesRead, emitted in the thread that works"""

    def __init__(self, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.bar, self.cancel = ProgressBar(), QPushButton("Cancel")
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(words)
        self.stop = Event()
        """Set once the work is to stop."""
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.bar, 1)
        row.addWidget(self.cancel)
        self.cancel.clicked.connect(self._cancel)
        self.progressed.connect(self.show_progress)
        self.hide()

    def begin(self) -> Seldom:
        """Return whom to tell how much is done; Cancel stops what begins now."""
        self.stop = Event()
        self.bar.setRange(0, 0)
        return Seldom(self.progressed.emit)

    def show_progress(self, told: FilesRead) -> None:
        """Show how much is done."""
        self.bar.setRange(0, told.every)
        self.bar.setValue(told.done)

    def _cancel(self) -> None:
        self.stop.set()
