"""Messages of a view while it waits for an image, or has none."""

from typing import Final

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter

from viewer.ui.canvas.overlays.corner_text import COLOR
from viewer.ui.canvas.overlays.halo import TEXT, draw_text, text_size
from viewer.ui.widgets.theme import DARK

EMPTY: Final = "Open a file, or drop files and folders here."
EMPTY_BESIDE: Final = "Drag a series here from the cases."
"""The text of an empty view beside others."""
_PATIENCE_MS: Final = 150
"""An image that comes sooner needs no words, which would only flicker."""
_FROM_TOP: Final = 0.1
_MARGIN_PX: Final = 12


class Waiting(QObject):
    """The message on what is being opened, shown after a short delay."""

    changed = Signal()
    """What is painted is other now."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.words, self.empty = "", EMPTY
        self._late = QTimer(self, singleShot=True, interval=_PATIENCE_MS)
        self._late.timeout.connect(self.changed)

    def start(self, words: str) -> None:
        """Start waiting for something, or update its progress."""
        if not self.words:
            self._late.start()
        self.words = words
        self.changed.emit()

    def fail(self, words: str) -> None:
        """Show at once why there is no image."""
        self._late.stop()
        self.words = words
        self.changed.emit()

    def end(self) -> None:
        """Wait no longer."""
        self.words = ""
        self._late.stop()
        self.changed.emit()

    @property
    def text(self) -> str:
        """The text in an empty view; none in the first moment of waiting."""
        if not self.words:
            return self.empty
        return "" if self._late.isActive() else self.words

    def paint_alone(self, painter: QPainter, area: QRectF) -> None:
        """Write in the middle of an empty view."""
        painter.setPen(QColor(COLOR if self.words else DARK.muted))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        edge = _MARGIN_PX
        painter.drawText(area.adjusted(edge, edge, -edge, -edge), flags, self.text)

    def paint_over(self, painter: QPainter, area: QRectF) -> None:
        """Write over the image before, which stays until the next one is there."""
        if self.words and not self._late.isActive():
            width = text_size(self.words, TEXT).width()
            left = area.center().x() - width / 2
            at = QPointF(left, area.top() + _FROM_TOP * area.height())
            draw_text(painter, at, self.words, TEXT, COLOR)
