"""The empty page of Measure, with what to do next."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from viewer.ui.widgets import theme
from viewer.ui.widgets.plain_text import Label

_EMPTY_WORDS: Final = (
    "There is no run yet.\n"
    "A batch asks models about a whole data set and measures their answers."
)


def empty_page(open_batch: Callable[[], None]) -> QWidget:
    """Return the page for a store without a run: what to do next."""
    page, button = QWidget(), QPushButton("Batch…")
    words = Label(_EMPTY_WORDS, wordWrap=True)
    words.setFont(theme.title_font(words.font()))
    words.setAlignment(Qt.AlignmentFlag.AlignCenter)
    button.setProperty("primary", True)
    button.clicked.connect(open_batch)
    box = QVBoxLayout(page)
    box.addStretch(1)
    box.addWidget(words)
    box.addSpacing(16)
    box.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
    box.addStretch(1)
    return page
