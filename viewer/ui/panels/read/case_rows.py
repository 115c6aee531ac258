"""The rows of the case list, their names fitted into the cells, and their dragging."""

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QMouseEvent
from PySide6.QtWidgets import (
    QApplication,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)
from shiboken6 import isValid

from viewer.domain.case import ReadingState
from viewer.domain.errors import OverreadError
from viewer.domain.escapes import visible
from viewer.ui.panels.read.case_listing import COLUMNS, Entry, Key, States, captions
from viewer.ui.panels.read.hanging import Stack
from viewer.ui.widgets.plain_text import as_tip

_QT_NEW_LINE: Final = "\u2028"
"""How a delegate's option parts lines."""


class CaseRow(QTreeWidgetItem):
    """One stack of images."""

    stack = Stack("", "", ())
    key: Key = ()
    """The keys of its patient, study and stack."""
    entry: Entry | None = None
    failed = False
    """Whether its thumbnail could not be made."""

    def show_entry(self, entry: Entry, states: States) -> None:
        """Show a new stack, or one that has changed."""
        self.stack, self.entry = entry.stack, entry
        for place, column in enumerate(COLUMNS):
            self.setText(place, visible(column.text(entry, states)))
            self.setToolTip(place, as_tip(column.tip))
        path = str(entry.stack.images[0].ref.path)
        self.setToolTip(0, as_tip("\n".join((*captions(entry.stack), path))))
        state = states.get(entry.stack.key, ReadingState.UNREAD)
        role = Qt.ItemDataRole.AccessibleTextRole
        self.setData(len(COLUMNS) - 1, role, state.value)

    def fail(self, error: Exception | None) -> None:
        """Say that its thumbnail cannot be made, and why."""
        self.failed = True
        self.setToolTip(0, as_tip(_sentence(error)))
        self.setText(0, f"{self.text(0)}\ncannot be read")


_LETTERS: Final = 14
"""Of a name, for which a thumbnail is drawn at half its size, or not at all."""
_HAS_ICON: Final = QStyleOptionViewItem.ViewItemFeature.HasDecoration


class NameDelegate(QStyledItemDelegate):
    """Draws names that are too long on two lines, and shortens them in the middle.

    What tells files of a folder apart is mostly the end of their names.
    """

    def initStyleOption(  # noqa: N802 - Qt's name
        self,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Fit the text into the cell; a thumbnail gives way in a narrow one."""
        super().initStyleOption(option, index)
        # Decided without the frame of the focus, whose row would differ from the rest.
        focus = option.state & QStyle.StateFlag.State_HasFocus
        option.state &= ~focus
        least = option.fontMetrics.averageCharWidth() * _LETTERS
        for side in (option.decorationSize / 2, QSize()):
            if option.features & _HAS_ICON and _room(option) < least:
                option.decorationSize = side
                if side.isEmpty():
                    option.features &= ~_HAS_ICON
        option.state |= focus
        room = _room(option)
        text = option.text.replace(_QT_NEW_LINE, "\n")
        lines = option.rect.height() // option.fontMetrics.lineSpacing()
        shown = fitted(text, option.fontMetrics, room, lines) if room > 0 else text
        option.text = shown.replace("\n", _QT_NEW_LINE)


def _room(option: QStyleOptionViewItem) -> int:
    """Return how wide a text in a cell may be, in pixels."""
    style = option.widget.style()
    part = style.SubElement.SE_ItemViewItemText
    room = style.subElementRect(part, option, option.widget).width()
    return room - 2 * (style.pixelMetric(style.PixelMetric.PM_FocusFrameHMargin) + 2)


def fitted(text: str, metrics: QFontMetrics, width: int, most: int = 3) -> str:
    """Return at most ``most`` lines, each no wider than the width in pixels.

    The first line that is too wide is wrapped if there is room for another line.
    """
    lines = text.split("\n")
    long = [i for i, x in enumerate(lines) if metrics.horizontalAdvance(x) > width]
    if long and len(lines) < most:
        line = lines[long[0]]
        end = len(line)
        while end > 1 and metrics.horizontalAdvance(line[:end]) > width:
            end -= 1
        breaks = (line.rfind(sign, end // 2, end + 1) for sign in " _-.")
        end = next((at for at in breaks if at > 0), end)
        lines[long[0] : long[0] + 1] = [line[:end], line[end:].strip()]
    middle = Qt.TextElideMode.ElideMiddle
    return "\n".join(metrics.elidedText(line, middle, width) for line in lines)


def _sentence(error: Exception | None) -> str:
    return str(error) if isinstance(error, OverreadError) else type(error).__name__


@dataclass(frozen=True, slots=True)
class SeriesDropped:
    """A series was dragged out of the tree, and let go there on the screen."""

    stack: Stack
    at: QPoint


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
        self._pressed: CaseRow | None = None
        self._pressed_at = QPointF()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Wait whether a row is clicked or dragged; a right click chooses none."""
        item = self.itemAt(event.position().toPoint())
        left = event.button() is Qt.MouseButton.LeftButton
        right = event.button() is Qt.MouseButton.RightButton
        row = item if isinstance(item, CaseRow) else None
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
