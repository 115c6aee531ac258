"""An answered mask."""

from functools import partial

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QTransform

from viewer.domain.answer import MaskAnswer
from viewer.domain.geometry import PointPx
from viewer.ui.canvas.overlays.answer_item import (
    LINE_PX,
    line_pen,
    paint_cross,
    shade,
)
from viewer.ui.canvas.overlays.kept_picture import KeptPicture
from viewer.ui.canvas.overlays.reference import outline_path


class MaskShape:
    """A mask's exact outline and fill, and a cross at the point that stands for it."""

    legend = None

    def __init__(self, said: MaskAnswer, point: PointPx | None) -> None:
        self._path, self._point = outline_path(said.mask.array()), point
        self._picture = KeptPicture()
        self.extent = self._path.boundingRect()

    def anchor(self, native: QTransform) -> QRectF:
        """Return the view's rectangle beside which the tag stands."""
        return native.mapRect(self.extent)

    def outline(self, native: QTransform) -> QPainterPath:  # noqa: ARG002 - any zoom
        """Return the mask's outline in native pixels."""
        return self._path

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        """Draw the kept picture, and the cross."""
        edge = 2 * LINE_PX
        box = native.mapRect(self.extent).adjusted(-edge, -edge, edge, edge)
        self._picture.paint(painter, native, box, partial(self._draw, color))
        if self._point is not None:
            paint_cross(painter, native, self._point, color)

    def _draw(self, color: QColor, painter: QPainter, native: QTransform) -> None:
        outline = native.map(self._path)
        painter.fillPath(outline, shade(color))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.strokePath(outline, line_pen(color, Qt.PenJoinStyle.BevelJoin))
