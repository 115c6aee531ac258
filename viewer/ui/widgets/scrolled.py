"""Pages that are larger than their place: they scroll, and fit the screen."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget


def scrolled(page: QWidget, area: QScrollArea | None = None) -> QScrollArea:
    """Return an area without a frame that is filled by a page, or scrolls it.

    Without an ``area`` of a kind of its own a new one is made.
    """
    area = area or QScrollArea()
    area.setWidget(page)
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    return area


def stacked(*parts: QWidget) -> QScrollArea:
    """Return an area that holds parts under one another at the top, or scrolls them."""
    page = QWidget()
    rows = QVBoxLayout(page)
    rows.setContentsMargins(0, 0, 0, 0)
    for part in parts:
        rows.addWidget(part)
    rows.addStretch(1)
    return scrolled(page)


def resize_on_screen(window: QWidget, width: int, height: int) -> None:
    """Give a window a size in its own pixels, or its screen's where that is smaller."""
    window.resize(QSize(width, height).boundedTo(window.screen().availableSize()))
