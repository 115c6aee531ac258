"""An answered heat map."""

from math import ceil, floor, log2
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QTransform

from viewer.domain.answer import HeatMapAnswer
from viewer.domain.geometry import PointPx
from viewer.metrics.regions import above_otsu
from viewer.ui.canvas.overlays.answer_item import line_pen
from viewer.ui.canvas.overlays.color_map import codes_of, picture_of_codes
from viewer.ui.canvas.overlays.kept_picture import Sight
from viewer.ui.canvas.overlays.kept_shape import KeptShape
from viewer.ui.canvas.overlays.legend import Legend
from viewer.ui.canvas.overlays.outline import Outline
from viewer.ui.canvas.overlays.rects import rect_of


class HeatMapShape(KeptShape):
    """The map in colours, the outline of what it marks, and a cross on its peak.

    What it marks is what the scorer compares: the elements above Otsu's threshold.
    """

    def __init__(self, answer: HeatMapAnswer, point: PointPx | None) -> None:
        values, field = answer.heat_map.values, answer.field
        super().__init__(Outline(above_otsu(values), field), rect_of(field), point)
        self._map = MapPicture(values, self.extent)
        self.legend = Legend(float(values.min()), float(values.max()))

    def _draw(self, color: QColor, painter: QPainter, sight: Sight) -> None:
        self._map.paint(painter, sight.native, sight.area)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        outline = self._outline.in_view(sight.native, sight.area, sight.ratio)
        outline.stroke(painter, line_pen(color, Qt.PenJoinStyle.BevelJoin))


_LEAST: Final = 64
"""Elements a side that no coarser scale is made of."""


class MapPicture:
    """The (rows, columns) ``values`` stretched over a native rectangle ``extent``.

    A scale is the mean of 2 × 2 elements of the one before, made when it is needed;
    between elements the colours are interpolated.
    """

    def __init__(self, values: npt.NDArray[np.float32], extent: QRectF) -> None:
        self._codes = [codes_of(values)]
        self._pictures: dict[int, QImage] = {}
        self._extent = extent

    def paint(self, painter: QPainter, native: QTransform, area: QRectF) -> None:
        """Draw the part that lies in ``area``, to which ``native`` maps."""
        if native.isRotating() or native.m11() < 0 or native.m22() < 0:
            self._paint_turned(painter, native)
            return
        box = native.mapRect(self._extent)
        picture = self._picture(box, painter.device().devicePixelRatioF())
        across, down = picture.width() / box.width(), picture.height() / box.height()
        seen = box.intersected(area).translated(-box.topLeft())
        left, top = floor(seen.left() * across), floor(seen.top() * down)
        right, bottom = ceil(seen.right() * across), ceil(seen.bottom() * down)
        # One more on each side, which those in sight fade into.
        whole = QRectF(left - 1, top - 1, right - left + 2, bottom - top + 2)
        part = whole.intersected(QRectF(picture.rect()))
        target = QRectF(
            box.left() + part.left() / across,
            box.top() + part.top() / down,
            part.width() / across,
            part.height() / down,
        )
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(target, picture, part)
        painter.restore()

    def _paint_turned(self, painter: QPainter, native: QTransform) -> None:
        box, ratio = native.mapRect(self._extent), painter.device().devicePixelRatioF()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setWorldTransform(native, combine=True)
        painter.drawImage(self._extent, self._picture(box, ratio))
        painter.restore()

    def _picture(self, box: QRectF, ratio: float) -> QImage:
        """Return the coarsest scale that is as fine as the device pixels of a box."""
        rows, columns = self._codes[0].shape
        finer = min(rows / box.height(), columns / box.width()) / ratio
        number = max(0, floor(log2(finer))) if finer > 0 else 0
        number = min(number, max(0, floor(log2(max(1, min(rows, columns) / _LEAST)))))
        while len(self._codes) <= number:
            self._codes.append(_halved(self._codes[-1]))
        if number not in self._pictures:
            # Only one: a zoom shows one scale, and codes take a quarter of it.
            self._pictures = {number: picture_of_codes(self._codes[number])}
        return self._pictures[number]


def _halved(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the mean of each 2 × 2; an odd last row or column is repeated."""
    odd = [(0, n % 2) for n in codes.shape]
    # uint16: four codes add up to 1020.
    even = np.pad(codes, odd, mode="edge").astype(np.uint16)
    rows = even[0::2] + even[1::2]
    return np.asarray((rows[:, 0::2] + rows[:, 1::2] + 2) >> 2).astype(np.uint8)
