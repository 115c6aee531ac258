"""An answered heat map."""

from functools import partial

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QTransform

from viewer.domain.answer import HeatMapAnswer
from viewer.domain.geometry import PointPx
from viewer.metrics.regions import above_otsu
from viewer.ui.canvas.overlays.answer_item import LINE_PX, line_pen, paint_cross
from viewer.ui.canvas.overlays.color_map import picture_of
from viewer.ui.canvas.overlays.kept_picture import KeptPicture
from viewer.ui.canvas.overlays.legend import Legend
from viewer.ui.canvas.overlays.reference import outline_path


class HeatMapShape:
    """The map in colours, the outline of what it marks, and a cross on its peak.

    What it marks is what the scorer compares: the elements above Otsu's threshold.
    """

    def __init__(self, said: HeatMapAnswer, point: PointPx | None) -> None:
        values, field = said.heat_map.values, said.field
        rows, columns = values.shape
        width, height = field.x1 - field.x0, field.y1 - field.y0
        stretch = QTransform(width / columns, 0, 0, height / rows, field.x0, field.y0)
        self._path = stretch.map(outline_path(above_otsu(values)))
        self._map, self._picture, self._point = picture_of(values), KeptPicture(), point
        self.extent = QRectF(field.x0, field.y0, width, height)
        self.legend = Legend(float(values.min()), float(values.max()))

    def anchor(self, native: QTransform) -> QRectF:
        """Return the view's rectangle around what the map marks."""
        return native.mapRect(self._path.boundingRect())

    def outline(self, native: QTransform) -> QPainterPath:  # noqa: ARG002 - any zoom
        """Return the outline of what the map marks, in native pixels."""
        return self._path

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        """Draw the kept picture, and the cross."""
        edge = 2 * LINE_PX
        box = native.mapRect(self.extent).adjusted(-edge, -edge, edge, edge)
        self._picture.paint(painter, native, box, partial(self._draw, color))
        if self._point is not None:
            paint_cross(painter, native, self._point, color)

    def _draw(self, color: QColor, painter: QPainter, native: QTransform) -> None:
        painter.drawImage(native.mapRect(self.extent), self._map)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = line_pen(color, Qt.PenJoinStyle.BevelJoin)
        painter.strokePath(native.map(self._path), pen)
