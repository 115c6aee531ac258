"""An answered heat map."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter

from viewer.domain.answer import HeatMapAnswer
from viewer.domain.geometry import PointPx
from viewer.metrics.regions import above_otsu
from viewer.ui.canvas.overlays.answer_item import line_pen
from viewer.ui.canvas.overlays.kept_picture import Sight
from viewer.ui.canvas.overlays.kept_shape import KeptShape
from viewer.ui.canvas.overlays.legend import Legend
from viewer.ui.canvas.overlays.map_picture import MapPicture
from viewer.ui.canvas.overlays.outline import Outline
from viewer.ui.canvas.overlays.rects import rect_of


class HeatMapShape(KeptShape):
    """The map in colours, the outline of what it marks, and a cross on its peak.

    What it marks is what the scorer compares: the elements above Otsu's threshold.
    """

    def __init__(self, said: HeatMapAnswer, point: PointPx | None) -> None:
        values, field = said.heat_map.values, said.field
        super().__init__(Outline(above_otsu(values), field), rect_of(field), point)
        self._map = MapPicture(values, self.extent)
        self.legend = Legend(float(values.min()), float(values.max()))

    def _draw(self, color: QColor, painter: QPainter, sight: Sight) -> None:
        self._map.paint(painter, sight.native, sight.area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = self._outline.in_view(sight.native, sight.area, sight.ratio)
        outline.stroke(painter, line_pen(color, Qt.PenJoinStyle.BevelJoin))
