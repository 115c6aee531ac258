"""A painted mask on the scene: its outline, and a light fill."""

from functools import lru_cache, partial
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem

from viewer.domain.mark import Mark
from viewer.domain.reference import Patch
from viewer.ui.canvas.marks.item import LINE_PX, REACH, MarkItem
from viewer.ui.canvas.overlays.answer_item import shade
from viewer.ui.canvas.overlays.halo import HALO, Face
from viewer.ui.canvas.overlays.kept_picture import KeptPicture, Sight
from viewer.ui.canvas.overlays.outline import Outline

_CHOSEN_PX: Final = 2.5
_HALO_PX: Final = 2.5


def mark_item(
    mark: Mark, words: tuple[str, ...], face: Face, parent: QGraphicsItem, *,
    chosen: bool,
) -> MarkItem:  # fmt: skip
    """Return what draws a mark, complete or still being drawn."""
    kind = MarkItem if mark.painted is None else MaskItem
    return kind(mark, words, face, parent, chosen=chosen)


@lru_cache(maxsize=32)
def _outline_of(patch: Patch) -> Outline:
    """Return the outline of a mask, traced once however often it is drawn anew."""
    return Outline(patch.mask.array(), patch.box)


class MaskItem(MarkItem):
    """A mask in native coordinates, kept as a picture while it only moves."""

    def _traced(self) -> QPainterPath:
        """Return the outline in native pixels."""
        assert self.mark.painted is not None  # noqa: S101 - it is a mask's item
        self._outline, self._picture = _outline_of(self.mark.painted), KeptPicture()
        return self._outline.path

    def frames(self, native: QTransform) -> tuple[QRectF, ...]:
        """Return the view's rectangle around the mask."""
        return (native.mapRect(self._outline.extent),)

    def meets(self, at: QPointF) -> bool:
        """Tell whether a position of the view lies on the outline."""
        spot = QRectF(at, QSizeF(0, 0))
        off = self._outline.nearest(self._native, spot) - at
        return max(abs(off.x()), abs(off.y())) <= REACH

    def _draw_lines(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        edge = _CHOSEN_PX + _HALO_PX
        box = native.mapRect(self._outline.extent).adjusted(-edge, -edge, edge, edge)
        self._picture.paint(painter, native, box, partial(self._draw_mask, color))

    def _draw_mask(self, color: QColor, painter: QPainter, sight: Sight) -> None:
        """Fill the inside and draw the outline with a dark edge; wider if chosen."""
        outline = self._outline.in_view(sight.native, sight.area, sight.ratio)
        painter.fillPath(outline.path(), shade(color))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = _CHOSEN_PX if self._chosen else LINE_PX
        for tint, pixels in ((HALO, width + _HALO_PX), (color, width)):
            pen = QPen(tint, pixels)
            pen.setJoinStyle(Qt.PenJoinStyle.BevelJoin)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            outline.stroke(painter, pen)
