"""The reference mask: its exact outline, and a light hatch inside."""

from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem

from viewer.domain.reference import Mask
from viewer.ui.canvas.overlays.kept_picture import KeptPicture, Sight
from viewer.ui.canvas.overlays.outline import Outline
from viewer.ui.canvas.overlays.screen_item import ScreenItem

LINE_PX: Final = 1.5
_HATCH_ALPHA: Final = 70


class ReferenceItem(ScreenItem):
    """A mask's outline in native coordinates, kept as a picture while it only moves."""

    def __init__(self, mask: Mask, color: str, parent: QGraphicsItem) -> None:
        super().__init__(parent)
        self._outline = Outline(mask.array())
        self._color = QColor(color)
        self._picture = KeptPicture()

    @property
    def extent(self) -> QRectF:
        """The smallest native rectangle around the mask; empty for an empty mask."""
        return self._outline.extent

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the extent, wide enough for the line at any zoom."""
        return self.extent.adjusted(-64, -64, 64, 64)

    def draw(self, painter: QPainter, native: QTransform) -> None:
        """Draw the picture of the mask, or the mask where it is far larger."""
        edge = 2 * LINE_PX
        box = native.mapRect(self.extent).adjusted(-edge, -edge, edge, edge)
        self._picture.paint(painter, native, box, self._draw)

    def _draw(self, painter: QPainter, sight: Sight) -> None:
        """Hatch the inside at the screen's pitch and draw the outline."""
        outline = self._outline.in_view(sight.native, sight.area, sight.ratio)
        shade = QColor(self._color)
        shade.setAlpha(_HATCH_ALPHA)
        hatch = QBrush(shade, Qt.BrushStyle.BDiagPattern)
        painter.fillPath(outline.path(), hatch)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(self._color, LINE_PX)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        outline.stroke(painter, pen)
