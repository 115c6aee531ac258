"""Entry of a key, which is stored only in the computer's keyring."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.errors import OverreadError
from viewer.services.privacy.decisions import set_key
from viewer.ui.application.background_tasks import run_for
from viewer.ui.widgets.labels import caption, primary
from viewer.ui.widgets.plain_text import Label


class KeyEntry(QDialog):
    """A dialog that stores an API key; shows the reason if it cannot be stored.

    Parameters
    ----------
    name : str
        The key's name in profiles.
    """

    kept = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(f"Key {name}")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._name = name
        self.field, self.problem = QLineEdit(), Label(wordWrap=True)
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setAccessibleName(f"The key that profiles call {name}")
        self.keep = primary(f"Save {name}")
        self.keep.setEnabled(False)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.keep)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addWidget(
            caption(
                "The key is stored in this computer's keyring, not in any file of "
                "Overread."
            )
        )
        column.addWidget(self.field)
        column.addWidget(self.problem)
        column.addLayout(row)
        self.problem.hide()
        self.resize(460, 0)
        self.field.textChanged.connect(lambda text: self.keep.setEnabled(bool(text)))
        self.keep.clicked.connect(self.store)

    def store(self) -> None:
        """Keep what was typed, in the background, and close."""
        name, key = self._name, self.field.text()
        self.keep.setEnabled(False)
        run_for(self, lambda: set_key(name, key), self._end, self._fail)

    def _end(self, _: None) -> None:
        self.kept.emit()
        self.close()

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, OverreadError):
            raise error
        self.keep.setEnabled(True)
        self.problem.setText(str(error))
        self.problem.show()
