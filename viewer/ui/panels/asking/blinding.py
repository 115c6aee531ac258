"""Visibility of answers and reference: chosen once, for every case.

Both are hidden until a person shows them. With Read first they stay locked, whatever
is chosen, until the reader has committed what was seen without them.
"""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.counting import counted
from viewer.ui.widgets.labels import caption, primary
from viewer.ui.widgets.plain_text import Label, as_tip

_LOCKED: Final = "Answers and reference are locked until you commit your reading."
_FOR_ALL: Final = "Applies to every case until you change it"


@dataclass(frozen=True, slots=True)
class BlindingChoice:
    """What the user wants to see over every image."""

    answers: bool = False
    reference: bool = False
    read_first: bool = False


@dataclass(frozen=True, slots=True)
class BlindingChanged:
    """Another choice, or a case that is locked or unlocked."""

    choice: BlindingChoice


@dataclass(frozen=True, slots=True)
class CommitWanted:
    """The reader commits a reading; ``words`` are the findings, "" if none."""

    words: str


class Blinding(QWidget):
    """The check boxes; two of them are disabled while a case is locked."""

    changed = Signal(object)
    """Carries a BlindingChanged."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.answers = _box("Answers", f"Show models' answers (V). {_FOR_ALL}")
        self.reference = _box("Reference", f"Show the reference (R). {_FOR_ALL}")
        self.read_first = _box(
            "Read first",
            "Lock answers and reference of each case until you commit your reading",
        )
        self._locked = False
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        for box in (self.answers, self.reference, self.read_first):
            box.toggled.connect(self._tell)
            row.addWidget(box)
        row.addStretch(1)

    @property
    def choice(self) -> BlindingChoice:
        """What is ticked, even while a lock overrides it."""
        return BlindingChoice(
            self.answers.isChecked(),
            self.reference.isChecked(),
            self.read_first.isChecked(),
        )

    def set_choice(self, choice: BlindingChoice) -> None:
        """Restore an earlier choice."""
        self.answers.setChecked(choice.answers)
        self.reference.setChecked(choice.reference)
        self.read_first.setChecked(choice.read_first)

    @property
    def locked(self) -> bool:
        """Whether the case with the focus is locked until its reader commits."""
        return self._locked

    def set_locked(self, locked: bool) -> None:
        """Lock the case with the focus, or unlock it."""
        if locked is not self._locked:
            self._locked = locked
            self.answers.setEnabled(not locked)
            self.reference.setEnabled(not locked)
            self._tell()

    def _tell(self, *_: object) -> None:
        self.changed.emit(BlindingChanged(self.choice))


class HiddenPage(QWidget):
    """Replaces hidden answers: their number, and a button that shows them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.show_them = QPushButton("Show answers")
        self.show_them.setToolTip(_FOR_ALL)
        self._words = caption()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._words)
        column.addWidget(self.show_them)
        column.addStretch(1)

    def set_count(self, count: int) -> None:
        """Say how many answers there are."""
        verb = "is" if count == 1 else "are"
        self._words.setText(
            f"{counted(count, 'answer')} about this image {verb} hidden."
        )


class LockedPage(QWidget):
    """Replaces locked answers: the reader's own text, and Commit reading."""

    commit_wanted = Signal(object)
    """Carries a CommitWanted."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._why = Label(_LOCKED, wordWrap=True)
        self.words = QLineEdit(placeholderText="What do you see? (optional)")
        self.words.setAccessibleName("Your reading in words")
        self.commit = primary("Commit reading")
        self.commit.setToolTip(
            as_tip(
                "Store your text and marks of this case as they are now, and unlock "
                "its answers and reference. This cannot be undone."
            )
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._why)
        column.addWidget(self.words)
        column.addWidget(self.commit)
        column.addStretch(1)
        self.commit.clicked.connect(self._ask_to_commit)

    def say_kept(self) -> None:
        """Say that a question was answered, without revealing the answer."""
        self._why.setText(f"{_LOCKED} The answer to your question is kept.")

    def begin(self, words: str) -> None:
        """Ask for the reading of the next case, prefilled with ``words``."""
        self._why.setText(_LOCKED)
        self.words.setText(words)

    def _ask_to_commit(self) -> None:
        self.commit_wanted.emit(CommitWanted(self.words.text().strip()))


def _box(words: str, tip: str) -> QCheckBox:
    box = QCheckBox(words)
    box.setToolTip(as_tip(tip))
    return box
