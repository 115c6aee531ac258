"""Titles and captions that follow the theme."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QPushButton

from viewer.ui.widgets.plain_text import Label, as_tip
from viewer.ui.widgets.theme import caption_font, title_font


def title(text: str) -> QLabel:
    """Return a panel's title."""
    label = Label(text)
    label.setFont(title_font(label.font()))
    return label


def caption(text: str = "") -> QLabel:
    """Return a small muted line that wraps."""
    label = Label(text, wordWrap=True)
    as_caption(label)
    return label


def as_caption(label: QLabel) -> None:
    """Make a label small and muted."""
    label.setFont(caption_font(label.font()))
    label.setForegroundRole(QPalette.ColorRole.PlaceholderText)


def selectable(words: str = "") -> QLabel:
    """Return a line that wraps and whose words can be selected and copied."""
    label = Label(words)
    label.setWordWrap(True)
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    return label


def primary(text: str) -> QPushButton:
    """Return the primary button of a panel."""
    button = QPushButton(text)
    button.setProperty("primary", True)
    return button


def link(text: str, tip: str) -> QPushButton:
    """Return a button that looks like a line of text."""
    button = QPushButton(text)
    button.setFont(caption_font(button.font()))
    button.setToolTip(as_tip(tip))
    button.setProperty("link", True)
    return button
