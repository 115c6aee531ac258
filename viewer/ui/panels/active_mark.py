"""A line over a viewport that says whether commands are meant for it."""

from typing import Final

from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from viewer.ui import theme
from viewer.ui.plain_text import as_tip

_HEIGHT: Final = 3


class ActiveMark(QWidget):
    """In the accent over the active viewport; beside the image, not on it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFixedHeight(_HEIGHT)
        self.active = False

    def show_active(self, active: bool) -> None:
        """Say whether commands and Ask are meant for the viewport."""
        self.active = active
        words = "Commands and Ask mean this image" if active else ""
        self.setToolTip(as_tip(words))
        self.setAccessibleName(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Fill it, in the colours of the theme in use."""
        colors = theme.current()
        fill = colors.accent if self.active else colors.surroundings
        QPainter(self).fillRect(event.rect(), QColor(fill))
