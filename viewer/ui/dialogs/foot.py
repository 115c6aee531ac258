"""The foot of a page that works and then registers: progress, message, buttons."""

from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from viewer.ui.widgets.labels import primary, selectable
from viewer.ui.widgets.lighter import ProgressBar


class Foot(QWidget):
    """A message beside the buttons; during work its progress and a way to stop.

    ``go`` is the page's final action.
    """

    def __init__(self, go: str) -> None:
        super().__init__()
        self.progress, self.stop = ProgressBar(), QPushButton("Stop")
        self.sentence = selectable()
        self.go, self.leave = primary(go), QPushButton("Close")
        self.progress.setTextVisible(False)
        self.go.setDefault(True)
        for button in (self.stop, self.leave):
            button.setAutoDefault(False)
        foot = QGridLayout(self)
        foot.setContentsMargins(0, 0, 0, 0)
        foot.addWidget(self.progress, 0, 0)
        foot.addWidget(self.stop, 0, 1, 1, 2)
        foot.addWidget(self.sentence, 1, 0)
        foot.addWidget(self.leave, 1, 1)
        foot.addWidget(self.go, 1, 2)
        foot.setColumnStretch(0, 1)
        self.ready()

    def busy(self, words: str) -> None:
        """Show the work in progress; nothing can be registered meanwhile."""
        self.progress.setRange(0, 0)
        self.progress.setFormat(words)
        self.sentence.setText(words)
        for widget in (self.progress, self.stop):
            widget.setVisible(True)
        self.go.setEnabled(False)

    def ready(self) -> None:
        """Show no progress any more."""
        for widget in (self.progress, self.stop):
            widget.setVisible(False)

    def tell(self, done: int, every: int, words: str) -> None:
        """Show progress; ``words`` describe how many of how many."""
        self.progress.setRange(0, every)
        self.progress.setValue(done)
        self.sentence.setText(words)
