"""Reference boxes: each as a box, each reader with a line and a name of his own."""

from collections.abc import Sequence
from functools import reduce
from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem

from viewer.domain.case import ReferenceBox
from viewer.ui.canvas.overlays.halo import HALO, Face, draw_text, text_size
from viewer.ui.canvas.overlays.label_places import name_place
from viewer.ui.canvas.overlays.rects import rect_of
from viewer.ui.canvas.overlays.screen_item import ScreenItem

LINE_PX: Final = 1.5
_HALO_PX: Final = 3.5
_DASHES: Final = ((), (6.0, 3.0), (1.5, 2.5), (9.0, 2.5, 1.5, 2.5), (3.0, 3.0))
"""Lines that stay apart without colour; a sixth reader's is the first one's again."""


class ReferenceBoxesItem(ScreenItem):
    """Boxes in native coordinates, their lines as wide at any zoom."""

    def __init__(
        self,
        boxes: Sequence[ReferenceBox],
        color: str,
        face: Face,
        parent: QGraphicsItem,
    ) -> None:
        super().__init__(parent)
        readers = sorted({box.reader for box in boxes})
        self._boxes = tuple((b, readers.index(b.reader)) for b in boxes)
        self._color, self._face = color, face
        self._obstacles: tuple[QRectF, ...] = ()
        self.extent = reduce(QRectF.united, (rect_of(b.box) for b in boxes))

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the extent, with room for lines and names at any zoom."""
        return self.extent.adjusted(-512, -512, 512, 512)

    def lay_out(self, obstacles: tuple[QRectF, ...]) -> None:
        """Keep names off the view's rectangles at the next paint."""
        self._obstacles = obstacles

    def names(self, native: QTransform) -> tuple[tuple[str, QRectF], ...]:
        """Return the readers' names with the view's rectangles they stand in."""
        taken = list(self._obstacles)
        placed: list[tuple[str, QRectF]] = []
        for box, _ in self._boxes:
            if box.reader:
                seen = native.mapRect(rect_of(box.box))
                size = text_size(box.reader, self._face)
                placed.append((box.reader, name_place(seen, size, taken)))
                taken.append(placed[-1][1])
        return tuple(placed)

    def draw(self, painter: QPainter, native: QTransform) -> None:
        """Draw every box, then the names over them."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for box, reader in self._boxes:
            seen = native.mapRect(rect_of(box.box))
            for pen in _pens(self._color, reader):
                painter.setPen(pen)
                painter.drawRect(seen)
        for name, place in self.names(native):
            draw_text(painter, place.topLeft(), name, self._face, self._color)


def _pens(color: str, reader: int) -> tuple[QPen, QPen]:
    """Return a dark halo's pen and a reader's own."""
    dashes = _DASHES[reader % len(_DASHES)]
    pens = (QPen(HALO, _HALO_PX), QPen(QColor(color), LINE_PX))
    for pen in pens:
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        if dashes:
            # Qt's square caps, the default, lengthen each dash by a width of the pen.
            pen.setCapStyle(Qt.PenCapStyle.FlatCap)
            # Qt counts dashes in widths of the pen; halo and line must have them alike.
            pen.setDashPattern([n * LINE_PX / pen.widthF() for n in dashes])
    return pens
