"""Review text of cases that may identify a person, before it may be sent."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QPushButton,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from viewer.domain.counting import counted
from viewer.domain.errors import OverreadError
from viewer.domain.privacy import ReviewDecision
from viewer.settings import Settings
from viewer.ui.application.background_tasks import BackgroundTasks
from viewer.ui.dialogs.read_only_tables import Columns, fill, read_only_table
from viewer.ui.widgets import theme
from viewer.ui.widgets.labels import caption, primary, selectable, title
from viewer.ui.widgets.lighter import Splitter
from viewer.ui.widgets.plain_text import Label
from viewer.ui.widgets.scrolled import resize_on_screen

if TYPE_CHECKING:
    from viewer.services.privacy.word_review import WordsToRead

_SIZE: Final = (980, 640)
_COLUMNS: Final = Columns(("Case", "Found", "Decision"), wide=1)
_WHY: Final = (
    "Text that seems to contain a name, a date, a person's number or an address must "
    "be reviewed before it may leave this machine. A decision applies to exactly this "
    "text; decide again to change it."
)
_NONE: Final = "No text was found that seems to identify a person."
_NO_DATASET: Final = "No data set is registered yet: use File ▸ Import data set…."
_DECIDED: Final = {
    None: "Waiting",
    ReviewDecision.CLEAN: "Identifies nobody",
    ReviewDecision.BLOCKED: "May not leave",
}
_GO_ON: Final = "A run that stopped for this continues with Resume run."


class WordReview(QDialog):
    """The cases of a data set that wait for a decision or have one."""

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Review words")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setModal(False)
        self._store = settings.store
        self._background_tasks = BackgroundTasks(self)
        self._found: tuple[WordsToRead, ...] = ()
        self.dataset, self.cases = QComboBox(), read_only_table(_COLUMNS)
        self.whose, self.words = title("Its text"), MarkedWords()
        self.sentence = selectable()
        self.every = QPushButton("Choose &all")
        self.clean = primary("&Nothing identifies anybody")
        self.block = QPushButton("May not &leave")
        self.leave = QPushButton("Close")
        self._lay_out()
        self._connect()
        self._show_found(())

    def read(self, dataset: str = "") -> None:
        """List the data sets and read one of them; "" is the one chosen already."""
        from viewer.services.running.batch_form import dataset_names

        wanted, store = dataset or self.dataset.currentText(), self._store
        self._background_tasks.start(
            "list",
            lambda: dataset_names(store),
            lambda names: self._offer_datasets(names, wanted),
            self._fail,
        )

    def _offer_datasets(self, names: tuple[str, ...], wanted: str) -> None:
        self.dataset.clear()
        self.dataset.addItems(names)
        self.dataset.setCurrentIndex(max(0, self.dataset.findText(wanted)))
        self.dataset.setEnabled(bool(names))
        if names:
            self._read_words()
        else:
            self.sentence.setText(_NO_DATASET)

    def _read_words(self) -> None:
        from viewer.services.privacy.word_review import words_of_dataset

        store, name = self._store, self.dataset.currentText()
        self._show_found(())
        self.sentence.setText("Reading the text of its cases …")
        self._background_tasks.start(
            "read", lambda: words_of_dataset(store, name), self._read, self._fail
        )

    def _read(self, found: "tuple[WordsToRead, ...]") -> None:
        self._show_found(found)
        self._go_to_waiting(0)
        self.cases.setFocus()
        if not found:
            self.sentence.setText(_NONE)

    def _show_found(self, found: "tuple[WordsToRead, ...]") -> None:
        self._found = found
        fill(self.cases, [_row(one) for one in found])
        self.every.setEnabled(bool(found))
        self._show_chosen()

    def _go_to_waiting(self, after: int) -> None:
        """Choose the next case that nobody decided about; stay where there is none."""
        rows = (*range(after, len(self._found)), *range(after))
        for row in rows:
            if self._found[row].decision is None:
                self.cases.selectRow(row)
                return
        if not self._chosen() and self._found:
            self.cases.selectRow(0)

    def _chosen(self) -> list[int]:
        rows = self.cases.selectionModel().selectedRows()
        return sorted(index.row() for index in rows)

    def _show_chosen(self) -> None:
        """Show the words of the case that has the keyboard, and what there is to do."""
        chosen, row = self._chosen(), self.cases.currentRow()
        for button in (self.clean, self.block):
            button.setEnabled(bool(chosen) and "keep" not in self._background_tasks)
        shown = self._found[row] if chosen and row < len(self._found) else None
        self.whose.setText(f"Text of {shown.item}" if shown else "Text")
        self.words.show_pieces(shown.pieces if shown else ())
        self.sentence.setText(_state(self._found, len(chosen)))

    def _decide(self, decision: ReviewDecision) -> None:
        from viewer.services.privacy.word_review import keep_words

        store, rows = self._store, self._chosen()
        chosen = [self._found[row] for row in rows]
        self._background_tasks.start(
            "keep",
            lambda: keep_words(store, chosen, decision),
            lambda _: self._decided(chosen, decision, rows[-1]),
            self._fail,
        )
        self._show_chosen()
        self.sentence.setText("Saving the decision …")

    def _decided(
        self, chosen: "Sequence[WordsToRead]", decision: ReviewDecision, last: int
    ) -> None:
        """Show the decision on every occurrence of the same words."""
        decided_texts = {one.sha256 for one in chosen}
        self._show_found(
            tuple(
                replace(one, decision=decision) if one.sha256 in decided_texts else one
                for one in self._found
            )
        )
        self._go_to_waiting(min(last, len(self._found)))
        decided = f"{counted(len(chosen), 'case')}: {_DECIDED[decision].lower()}."
        self.sentence.setText(f"{decided} {_state(self._found, 0)} {_GO_ON}")

    def _fail(self, error: Exception) -> None:
        """Show an error that the user can fix; raise others."""
        self._show_chosen()
        if not isinstance(error, OverreadError):
            raise error
        self.sentence.setText(str(error))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        """Repaint the marked words in the colours of the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.words.paint_again()

    def _connect(self) -> None:
        self.dataset.activated.connect(self._read_words)
        self.cases.itemSelectionChanged.connect(self._show_chosen)
        self.every.clicked.connect(self.cases.selectAll)
        self.clean.clicked.connect(lambda: self._decide(ReviewDecision.CLEAN))
        self.block.clicked.connect(lambda: self._decide(ReviewDecision.BLOCKED))
        self.leave.clicked.connect(self.reject)

    def _lay_out(self) -> None:
        self.dataset.setAccessibleName("Data set")
        grow = QComboBox.SizeAdjustPolicy.AdjustToContents
        self.dataset.setSizeAdjustPolicy(grow)
        self.cases.setTabKeyNavigation(False)
        self.cases.setWordWrap(False)
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        self.cases.horizontalHeader().setDefaultAlignment(left)
        self.clean.setToolTip("The text of the selected cases may leave this machine")
        self.block.setToolTip(
            "Questions with the text of the selected cases are not sent"
        )
        top = QHBoxLayout()
        top.addWidget(Label("Data set"))
        top.addWidget(self.dataset)
        top.addStretch(1)
        column = QVBoxLayout(self)
        column.addLayout(top)
        column.addWidget(caption(_WHY))
        column.addWidget(self._both(), 1)
        column.addWidget(self.sentence)
        column.addLayout(self._buttons())
        resize_on_screen(self, *_SIZE)

    def _both(self) -> Splitter:
        """Return the cases next to the words of one of them."""
        right, both = QWidget(), Splitter(Qt.Orientation.Horizontal)
        column = QVBoxLayout(right)
        column.setContentsMargins(8, 0, 0, 0)
        column.addWidget(self.whose)
        column.addWidget(self.words, 1)
        for part in (self.cases, right):
            both.addWidget(part)
        both.setChildrenCollapsible(False)
        both.setSizes([_SIZE[0] // 2, _SIZE[0] // 2])
        return both

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(self.every)
        row.addStretch(1)
        for button in (self.leave, self.block, self.clean):
            row.addWidget(button)
        for button in (self.every, self.leave, self.block, self.clean):
            button.setAutoDefault(False)  # Return in the list decides nothing
        return row


def _row(one: "WordsToRead") -> tuple[str, ...]:
    return one.item, ", ".join(one.found), _DECIDED[one.decision]


def _state(found: "Sequence[WordsToRead]", chosen: int) -> str:
    """Return how many words are undecided and, if several, how many are selected."""
    if not found:
        return ""
    waiting = sum(one.decision is None for one in found)
    wait = "waits" if waiting == 1 else "wait"
    state = f"{waiting:,} of {counted(len(found), 'case')} {wait} for a decision."
    return f"{state} {chosen:,} are selected." if chosen > 1 else state


class MarkedWords(QTextEdit):
    """Shows a text in pieces, with findings on a warning colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setAccessibleName("Text of the case")
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._pieces: tuple[tuple[str, bool], ...] = ()

    def show_pieces(self, pieces: Sequence[tuple[str, bool]]) -> None:
        """Show pieces, each with whether it is marked, from the first marked one."""
        if tuple(pieces) != self._pieces:
            self._pieces = tuple(pieces)
            self.paint_again()

    def paint_again(self) -> None:
        """Show the same in the colours of the theme in use."""
        self.clear()
        cursor, marked, first = self.textCursor(), _marked(), 0
        for words, found in self._pieces:
            first = first or (cursor.position() if found else 0)
            cursor.insertText(words, marked if found else QTextCharFormat())
        cursor.setPosition(first, QTextCursor.MoveMode.MoveAnchor)
        self.setTextCursor(cursor)
        self.ensureCursorVisible()


def _marked() -> QTextCharFormat:
    style, colours = QTextCharFormat(), theme.current()
    style.setBackground(QColor(colours.warning))
    style.setForeground(QColor(colours.on_accent))
    return style
