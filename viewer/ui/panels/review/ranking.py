"""Lines of free text in the order of their rank, moved up and down."""

from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QObject, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QCompleter,
    QHBoxLayout,
    QLineEdit,
    QToolButton,
    QWidget,
)

from viewer.domain.form import RankedTextQuestion
from viewer.ui.panels.review.question import GAP, QuestionBox
from viewer.ui.widgets.icons import icon
from viewer.ui.widgets.labels import caption
from viewer.ui.widgets.plain_text import Label, as_tip

_MOVES: Final = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class RankingBox(QuestionBox):
    """A line for each rank; Return goes to the next, Alt+Up and Alt+Down move."""

    typed = True

    def __init__(
        self, question: RankedTextQuestion, parent: QWidget | None = None
    ) -> None:
        super().__init__(question, parent)
        self.lines: list[QLineEdit] = []
        self._suggestions = QStringListModel(question.suggestions, self)
        self._rows = [self._row(rank) for rank in range(question.at_most)]
        for row in self._rows:
            self.column.addWidget(row)
        self.column.addWidget(caption("Alt+Up and Alt+Down move a line."))
        self._show_rows()

    def _row(self, rank: int) -> QWidget:
        row = QWidget(self)
        line = QLineEdit(row)
        line.setAccessibleName(f"{self.heading.text()}, rank {rank + 1}")
        line.textEdited.connect(self._read)
        line.installEventFilter(self)
        # The list of suggestions hands Return to the line itself, past the filter.
        line.returnPressed.connect(partial(self._go_on, rank))
        if self._suggestions.rowCount():
            self._suggest(line)
        self.lines.append(line)
        across = QHBoxLayout(row)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(GAP // 2)
        number = Label(str(rank + 1))
        number.setFixedWidth(2 * GAP)
        across.addWidget(number)
        across.addWidget(line, 1)
        for words, picture, step in (
            ("up", "chevron-up", -1),
            ("down", "chevron-down", 1),
        ):
            button = QToolButton(row)
            button.setIcon(icon(picture))
            button.setToolTip(as_tip(f"Move line {rank + 1} {words}"))
            button.setAccessibleName(f"Move line {rank + 1} {words}")
            button.clicked.connect(partial(self.move_line, rank, step))
            across.addWidget(button)
        return row

    def _suggest(self, line: QLineEdit) -> None:
        """Offer completions while typing; free text stays allowed."""
        completer = QCompleter(self._suggestions, line)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.activated.connect(partial(self._complete, line))
        line.setCompleter(completer)

    def _complete(self, line: QLineEdit, words: str) -> None:
        line.setText(words)
        self._read()

    def paint_value(self) -> None:
        """Show the lines if they differ, so that the cursor stays in place."""
        value = self.value if isinstance(self.value, tuple) else ()
        if value != self._written():
            for rank, line in enumerate(self.lines):
                line.setText(value[rank] if rank < len(value) else "")
        self._show_rows()

    def _show_rows(self) -> None:
        """Show the filled lines, and an empty one until the ranking is locked."""
        last = max((i for i, line in enumerate(self.lines) if line.text()), default=-1)
        over = self.parentWidget()
        more = over is None or self.isEnabledTo(over)
        for rank, row in enumerate(self._rows):
            row.setVisible(rank <= last + more)

    def move_line(self, rank: int, step: int, _checked: bool = False) -> None:
        """Swap a line with the one above (-1) or below (1)."""
        other = rank + step
        if not 0 <= other < len(self.lines) or self._rows[other].isHidden():
            return
        a, b = self.lines[rank], self.lines[other]
        above, below = a.text(), b.text()
        a.setText(below)
        b.setText(above)
        b.setFocus(Qt.FocusReason.OtherFocusReason)
        self._read()

    def enter(self, *, take_keyboard: bool) -> None:
        """Focus the first empty line."""
        if not take_keyboard:
            return
        empty = next((one for one in self.lines if not one.text()), self.lines[-1])
        empty.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Go to the next line on Return, move it with Alt and an arrow."""
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        rank = next((i for i, line in enumerate(self.lines) if line is watched), -1)
        alt = event.modifiers() & Qt.KeyboardModifier.AltModifier
        key = Qt.Key(event.key())
        if alt and key in _MOVES:
            self.move_line(rank, _MOVES[key])
            return True
        if key is Qt.Key.Key_Return and self.lines[rank].text().strip():
            return self._go_on(rank)
        return super().eventFilter(watched, event)

    def _go_on(self, rank: int) -> bool:
        """Go to the next line; False after the last, where Return locks."""
        if rank + 1 >= len(self.lines) or self._rows[rank + 1].isHidden():
            return False
        self.lines[rank + 1].setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def _written(self) -> tuple[str, ...]:
        """Return the lines up to the last that is not empty."""
        texts = [line.text().strip() for line in self.lines]
        while texts and not texts[-1]:
            texts.pop()
        return tuple(texts)

    def _read(self, _: str = "") -> None:
        self.set_value(self._written() or None)
