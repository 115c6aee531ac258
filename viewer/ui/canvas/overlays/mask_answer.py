"""An answered mask."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter

from viewer.domain.answer import MaskAnswer
from viewer.domain.geometry import PointPx
from viewer.ui.canvas.overlays.answer_item import line_pen, shade
from viewer.ui.canvas.overlays.kept_picture import Sight
from viewer.ui.canvas.overlays.kept_shape import KeptShape
from viewer.ui.canvas.overlays.outline import Outline


class MaskShape(KeptShape):
    """A mask's exact outline and fill, and a cross at the point that stands for it."""

    legend = None

    def __init__(self, answer: MaskAnswer, point: PointPx | None) -> None:
        outline = Outline(answer.mask.array())
        super().__init__(outline, outline.extent, point)

    def _draw(self, color: QColor, painter: QPainter, sight: Sight) -> None:
        outline = self._outline.in_view(sight.native, sight.area, sight.ratio)
        painter.fillPath(outline.path(), shade(color))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline.stroke(painter, line_pen(color, Qt.PenJoinStyle.BevelJoin))
