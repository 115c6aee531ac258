"""Widgets of Qt that would hold the window up, made lighter."""

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QProgressBar, QSplitter, QSplitterHandle, QWidget


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


class ProgressBar(QProgressBar):
    """Shows progress with the window's next picture.

    Qt's paints it at once, and with it all else in the window that has changed.
    """

    def setValue(self, value: int) -> None:  # noqa: N802 - Qt's name
        """Show how far something is."""
        with self._later():
            super().setValue(value)

    def setMaximum(self, maximum: int) -> None:  # noqa: N802 - Qt's name
        """Show out of how much; 0 if that is unknown."""
        self.setRange(self.minimum(), maximum)

    def setRange(self, minimum: int, maximum: int) -> None:  # noqa: N802 - Qt's name
        """Set the range of the bar; 0 and 0 if it is unknown."""
        with self._later():
            super().setRange(minimum, maximum)

    @contextmanager
    def _later(self) -> Iterator[None]:
        self.setUpdatesEnabled(False)
        yield
        self.setUpdatesEnabled(True)
