"""Widgets beside one another, parted by a line that can be dragged."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QWidget


class Splitter(QSplitter):
    """Parts its widgets by a thin line.

    A style sheet could draw it, but would then be computed anew for all that a splitter
    holds, often half a workspace, where each part of it has the theme by itself.
    """

    def __init__(
        self,
        orientation: Qt.Orientation = Qt.Orientation.Horizontal,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(orientation, parent)
        self.setHandleWidth(1)

    def createHandle(self) -> QSplitterHandle:  # noqa: N802 - Qt's name
        """Return a line."""
        return _Line(self.orientation(), self)


class _Line(QSplitterHandle):
    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the line; what can be grabbed around it is not seen."""
        painter = QPainter(self)
        painter.fillRect(self.contentsRect(), self.palette().mid())
        painter.end()
