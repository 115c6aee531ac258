"""A painted mask in a view: its outline, and a light fill."""

from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform

from viewer.domain.mark import Mark
from viewer.domain.reference import Patch
from viewer.ui.canvas.marks.item import LINE_PX, REACH, MarkItem, Step
from viewer.ui.canvas.overlays.answer_item import shade
from viewer.ui.canvas.overlays.halo import HALO, Face
from viewer.ui.canvas.overlays.kept_picture import Sight
from viewer.ui.canvas.overlays.outline import Loops, Outline
from viewer.ui.widgets.theme import current

_CHOSEN_PX: Final = 2.5
_HALO_PX: Final = 2.5


def mark_item(
    mark: Mark, words: tuple[str, ...], face: Face, *, chosen: bool
) -> MarkItem:
    """Return what draws a mark, complete or still being drawn."""
    kind = MarkItem if mark.painted is None else MaskItem
    return kind(mark, words, face, chosen=chosen)


@lru_cache(maxsize=32)
def _outline_of(patch: Patch) -> Outline:
    """Return the outline of a mask, traced once however often it is drawn anew."""
    return Outline(patch.mask.array(), patch.box)


class MaskItem(MarkItem):
    """A mask in native coordinates."""

    is_slow = True

    def _traced(self) -> QPainterPath:
        """Return the outline in native pixels."""
        assert self.mark.painted is not None  # noqa: S101 - it is a mask's item
        self._outline = _outline_of(self.mark.painted)
        return self._outline.path

    def frames(self, native: QTransform) -> tuple[QRectF, ...]:
        """Return the view's rectangle around the mask."""
        return (native.mapRect(self._outline.extent),)

    def meets(self, at: QPointF) -> bool:
        """Tell whether a position of the view lies on the outline."""
        spot = QRectF(at, QSizeF(0, 0))
        off = self._outline.nearest(self._native, spot) - at
        return max(abs(off.x()), abs(off.y())) <= REACH

    def line_steps(self, sight: Sight) -> Iterator[Step]:
        """Yield what fills the inside and draws the outline; wider if chosen."""
        outline = self._outline.in_view(sight.native, sight.area, sight.ratio)
        yield partial(_fill, outline)
        width = _CHOSEN_PX if self._chosen else LINE_PX
        for tint, pixels in (
            (HALO, width + _HALO_PX),
            (QColor(current().reader), width),
        ):
            pen = QPen(tint, pixels)
            pen.setJoinStyle(Qt.PenJoinStyle.BevelJoin)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            yield from (partial(_stroke, path, pen) for path in outline.pieces())


def _fill(outline: Loops, painter: QPainter) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillPath(outline.path(), shade(QColor(current().reader)))


def _stroke(path: QPainterPath, pen: QPen, painter: QPainter) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.strokePath(path, pen)
