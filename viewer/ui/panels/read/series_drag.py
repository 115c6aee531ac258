"""A tree whose series can be dragged out, into a viewport."""

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication, QTreeWidget, QTreeWidgetItem, QWidget
from shiboken6 import isValid

from viewer.ui.panels.read.hanging import Stack


@dataclass(frozen=True, slots=True)
class SeriesDropped:
    """A series was dragged out of the tree, and let go there on the screen."""

    stack: Stack
    at: QPoint


class SeriesItem(QTreeWidgetItem):
    """A row of the tree that stands for one stack of images."""

    stack = Stack("", "", ())


class SeriesTree(QTreeWidget):
    """Chooses a row when it is let go, or one could not be dragged without being hung.

    Qt's own dragging would turn an event loop of its own.
    """

    series_dropped = Signal(object)
    """Carries a SeriesDropped."""
    hang_wanted = Signal(object)
    """Stack: to hang in the active viewport, beside what hangs in the others."""
    row_clicked = Signal(int)
    """The column in which the row was clicked that is now the current one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pressed: SeriesItem | None = None
        self._pressed_at = QPointF()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Wait whether a row is clicked or dragged; a right click chooses none."""
        item = self.itemAt(event.position().toPoint())
        left = event.button() is Qt.MouseButton.LeftButton
        right = event.button() is Qt.MouseButton.RightButton
        row = item if isinstance(item, SeriesItem) else None
        self._pressed = row if left else None
        self._pressed_at = event.position()
        if row is None or not (left or right):
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Show that the row that was pressed is dragged."""
        if self._pressed is None:
            super().mouseMoveEvent(event)
            return
        moved = (event.position() - self._pressed_at).manhattanLength()
        if moved >= QApplication.startDragDistance():
            self.viewport().setCursor(Qt.CursorShape.DragCopyCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Choose the row that was clicked, or let go what was dragged."""
        row, self._pressed = self._pressed, None
        self.viewport().unsetCursor()
        if row is None:
            super().mouseReleaseEvent(event)
        elif isValid(row) and self.rect().contains(event.position().toPoint()):
            self.setCurrentItem(row)
            self.row_clicked.emit(self.columnAt(int(event.position().x())))
        elif isValid(row):
            at = event.globalPosition().toPoint()
            self.series_dropped.emit(SeriesDropped(row.stack, at))
