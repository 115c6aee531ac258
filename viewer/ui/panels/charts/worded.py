"""A figure of words alone on the screen: a card for each step, as high as its text."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QPalette
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from viewer.domain.figure import Figure, StripFigure
from viewer.ui import theme
from viewer.ui.plain_text import Label

_BESIDE: Final = 3
"""Cards beside one another."""
_GAP_PX: Final = 32
_MARGIN_PX: Final = 16


def is_worded(figure: Figure) -> bool:
    """Tell whether a figure is steps of a method without a picture."""
    return isinstance(figure, StripFigure) and not any(
        step.picture is not None for step in figure.steps
    )


def worded_page(figure: StripFigure) -> QWidget:
    """Return a page with each step's title over its words, from the top left."""
    page = QWidget()
    page.setAutoFillBackground(True)
    palette = page.palette()
    palette.setColor(QPalette.ColorRole.Window, theme.current().panel)
    page.setPalette(palette)
    cards = QGridLayout()
    cards.setHorizontalSpacing(_GAP_PX)
    for number, step in enumerate(figure.steps):
        row, column = divmod(number, _BESIDE)
        title = _words(f"{number + 1} · {step.title}", theme.title_font)
        cards.addWidget(title, 2 * row, column)
        cards.addWidget(_words(step.words, theme.reading_font), 2 * row + 1, column)
        cards.setColumnStretch(column, 1)
    box = QVBoxLayout(page)
    box.setContentsMargins(*(_MARGIN_PX,) * 4)
    box.addLayout(cards)
    box.addStretch(1)
    return page


def _words(text: str, font: Callable[[QFont], QFont]) -> QLabel:
    label = Label(text, wordWrap=True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    label.setFont(font(label.font()))
    return label
