"""A check box whose name, however long, does not widen the panel."""

from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

_LEAST: Final = 120
_SLACK: Final = 2
"""What rounding may take where a pixel of the view is several of the screen."""


class NameBox(QCheckBox):
    """Elides the middle of a long name; screen readers get it whole."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(name, parent)
        self.name = name
        self.setAccessibleName(name)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size with the whole name."""
        hint = super().sizeHint()
        whole = self.fontMetrics().horizontalAdvance(self.name)
        return QSize(self._beside() + whole + _SLACK, hint.height())

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size with a part of the name."""
        hint = self.sizeHint()
        return QSize(min(_LEAST, hint.width()), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Show the name, elided if there is not enough room."""
        super().resizeEvent(event)
        if event.size().width() >= self.sizeHint().width():
            self.setText(self.name)
            return
        room, middle = (
            event.size().width() - self._beside(),
            Qt.TextElideMode.ElideMiddle,
        )
        self.setText(self.fontMetrics().elidedText(self.name, middle, room))

    def _beside(self) -> int:
        """Return the width of the box without its text."""
        drawn = self.fontMetrics().horizontalAdvance(self.text())
        return super().sizeHint().width() - drawn
