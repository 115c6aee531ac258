"""What a case says in words beside its images: the question, and texts to be read."""

from collections.abc import Iterable, Iterator
from typing import Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from viewer.domain.reading import Exhibit, Task
from viewer.ui.widgets.labels import selectable, title
from viewer.ui.widgets.scrolled import scrolled

WIDTH: Final = 380
"""Some 60 letters in a line."""
_WIDEST: Final = 560
_OUTPUT: Final = "Output to be graded"
_PAGE: Final = 0.85
"""The part of the height that a page moves on."""


class CaseTexts(QScrollArea):
    """The question of a case over its texts, and after the lock what is right."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.question = title("")
        self.question.setWordWrap(True)
        self.truth, self._texts = _Column(framed=True), _Column()
        self.overview = _Column(framed=True)
        self._told: tuple[Exhibit, ...] = ()
        inner = QWidget()
        inner.setMaximumWidth(_WIDEST)
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(12)
        for part in (self.question, self.truth, self._texts, self.overview):
            column.addWidget(part)
        column.addStretch(1)
        scrolled(inner, self)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setMinimumWidth(200)

    def show_task(self, task: Task) -> None:
        """Show the texts of a case, those of a later stage too."""
        told = tuple(_texts_of(task))
        added = told[: len(self._told)] == self._told and len(told) > len(self._told)
        self._told = told
        self.question.setText(task.question)
        self._texts.show_exhibits(told)
        self.show_truth(())
        self.setVisible(bool(task.question or told))
        end = self.verticalScrollBar().maximum if added and task.stage else int
        QTimer.singleShot(0, self, lambda: self.verticalScrollBar().setValue(end()))

    def show_truth(self, truth: Iterable[Exhibit]) -> None:
        """Show what is right of a locked case, over everything else."""
        self.truth.show_exhibits(tuple(truth))
        self.verticalScrollBar().setValue(0)

    def turn(self, pages: int) -> None:
        """Scroll by pages, down or with a negative number up."""
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + round(pages * _PAGE * self.viewport().height()))


class _Column(QFrame):
    """Titles over their texts."""

    def __init__(self, *, framed: bool = False) -> None:
        super().__init__()
        if framed:
            self.setObjectName("truth")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(*([8] * 4 if framed else [0] * 4))
        self._column.setSpacing(4)
        self.hide()  # until it has something to say

    def show_exhibits(self, exhibits: tuple[Exhibit, ...]) -> None:
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for one in exhibits:
            if self._column.count():
                self._column.addSpacing(8)
            if one.title:
                self._column.addWidget(_heading(one.title))
            if one.text:
                self._column.addWidget(selectable(one.text))
        self.setVisible(bool(exhibits))


def _heading(words: str) -> QWidget:
    heading = selectable(words)
    font = heading.font()
    font.setBold(True)
    heading.setFont(font)
    return heading


def _texts_of(task: Task) -> Iterator[Exhibit]:
    """Yield the texts of a case, an output to be graded last."""
    for one in task.exhibits:
        if one.image is None:
            yield one.exhibit
    if task.answer_text and task.question:
        yield Exhibit(_OUTPUT, task.answer_text)
