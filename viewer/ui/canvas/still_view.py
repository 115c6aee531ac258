"""A graphics view whose scene is its viewport: it never scrolls and takes files."""

from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPen,
)
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsScene,
    QGraphicsView,
    QToolTip,
    QWidget,
)

from viewer.domain.geometry import SizePx
from viewer.ui.canvas.events import FilesDropped
from viewer.ui.widgets.plain_text import as_tip
from viewer.ui.widgets.theme import current


class StillView(QGraphicsView):
    """Has a scene in its own pixels, painted whole whenever anything changes."""

    files_dropped = Signal(object)
    """FilesDropped"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.stage = QGraphicsScene(self)
        self.setScene(self.stage)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        off = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setHorizontalScrollBarPolicy(off)
        self.setVerticalScrollBarPolicy(off)
        self.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.FullViewportUpdate)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAcceptDrops(True)
        self.setMinimumSize(160, 120)
        self.viewport().setMouseTracking(True)

    @property
    def area(self) -> QRectF:
        """The viewport in the view's pixels."""
        return QRectF(self.viewport().rect())

    @property
    def ratio(self) -> float:
        """Device pixels per pixel of the view."""
        return self.viewport().devicePixelRatioF()

    @property
    def screen_size(self) -> SizePx:
        """The viewport in device pixels."""
        ratio, size = self.ratio, self.viewport().size()
        return SizePx(
            max(1, round(size.height() * ratio)), max(1, round(size.width() * ratio))
        )

    def tip_at(self, at: QPointF) -> str:  # noqa: ARG002 - for views that say something
        """Return the view's own tool tip at a position; "" leaves it to the items."""
        return ""

    def viewportEvent(self, event: QEvent) -> bool:  # noqa: N802
        """Show the view's own tool tip, if it has one."""
        if isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            tip = self.tip_at(QPointF(event.pos()))
            if tip:
                QToolTip.showText(event.globalPos(), as_tip(tip), self.viewport())
                return True
        return super().viewportEvent(event)

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:  # noqa: N802, ARG002
        """Frame the view that has the keyboard."""
        if self.hasFocus():
            painter.setPen(QPen(QColor(current().accent), 1))
            # Qt draws a rectangle's right and bottom line one pixel beyond its size.
            painter.drawRect(self.area.adjusted(0, 0, -1, -1))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Leave double clicks to whoever holds the view."""
        event.ignore()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        """Ignore the context menu: the right button zooms."""
        event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        """Take files."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:  # noqa: N802
        """Take files anywhere."""
        event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        """Tell which files and folders were let go."""
        # A browser drops links to pages as well.
        urls = event.mimeData().urls()
        paths = tuple(Path(url.toLocalFile()) for url in urls if url.isLocalFile())
        if paths:
            event.acceptProposedAction()
            self.files_dropped.emit(FilesDropped(paths))
