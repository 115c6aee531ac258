"""An answered cell."""

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QTransform

from viewer.ui.canvas.overlays.answer_item import line_pen, shade
from viewer.ui.canvas.overlays.aside import nearest_point
from viewer.ui.canvas.overlays.grid import cell_rect

if TYPE_CHECKING:
    from viewer.services.inspecting.answers import StoredAnswer

INSET_PX: Final = 3.0
"""How far the frames of answers that name one cell lie apart, in the view's pixels."""


def answer_rect(answer: "StoredAnswer") -> QRectF:
    """Return the answered cell in native pixels, empty without a cell."""
    label = answer.score.answer
    named = len(label) > 1 and label[0].isalpha() and label[1:].isdigit()
    cell = answer.grid.cell(label) if named else None
    return QRectF() if cell is None else cell_rect(answer.grid, answer.field, cell)


class CellShape:
    """A cell's frame and fill; nothing for an answer without a cell.

    ``depth`` counts the answers on top of it that name the same cell: each frame lies
    within the one above, so that every model's colour is seen, and one fills it.
    """

    legend = None

    def __init__(self, extent: QRectF, depth: int = 0) -> None:
        self.extent, self._depth = extent, depth

    def frames(self, native: QTransform) -> tuple[QRectF, ...]:
        """Return the cell in the view."""
        return (native.mapRect(self.extent),)

    def nearest(self, native: QTransform, label: QRectF) -> QPointF:
        """Return the cell's point, in the view, that is nearest to a label."""
        return nearest_point(self.frames(native), label)

    def outline(self, native: QTransform) -> QPainterPath:  # noqa: ARG002 - any zoom
        """Return the cell in native pixels."""
        path = QPainterPath()
        path.addRect(self.extent)
        return path

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        """Draw it in the view's pixels."""
        box, by = native.mapRect(self.extent), self._depth * INSET_PX
        paint_box(
            painter, box.adjusted(by, by, -by, -by), color, filled=self._depth == 0
        )


def paint_box(
    painter: QPainter, box: QRectF, color: QColor, *, filled: bool = True
) -> None:
    """Draw a rectangle's frame, and its fill, in the view's pixels."""
    if filled:
        painter.fillRect(box, shade(color))
    painter.setPen(line_pen(color))
    # Smooth, so that the line's middle lies on the edge, not beside it.
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.drawRect(box)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
