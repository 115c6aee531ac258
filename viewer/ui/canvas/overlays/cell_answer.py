"""An answered cell."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPainterPath, QTransform

from viewer.ui.canvas.overlays.answer_item import line_pen, shade
from viewer.ui.canvas.overlays.grid import cell_rect

if TYPE_CHECKING:
    from viewer.services.answers import StoredAnswer


def answer_rect(answer: "StoredAnswer") -> QRectF:
    """Return the answered cell in native pixels, empty without a cell."""
    label = answer.score.answer
    named = len(label) > 1 and label[0].isalpha() and label[1:].isdigit()
    cell = answer.grid.cell(label) if named else None
    return QRectF() if cell is None else cell_rect(answer.grid, answer.field, cell)


class CellShape:
    """A cell's frame and fill; nothing for an answer without a cell."""

    legend = None

    def __init__(self, extent: QRectF) -> None:
        self.extent = extent

    def anchor(self, native: QTransform) -> QRectF:
        """Return the view's rectangle beside which the tag stands."""
        return native.mapRect(self.extent)

    def outline(self, native: QTransform) -> QPainterPath:  # noqa: ARG002 - any zoom
        """Return the cell in native pixels."""
        path = QPainterPath()
        path.addRect(self.extent)
        return path

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        """Draw it in the view's pixels."""
        paint_box(painter, native.mapRect(self.extent), color)


def paint_box(painter: QPainter, box: QRectF, color: QColor) -> None:
    """Draw a rectangle's frame and fill in the view's pixels."""
    painter.fillRect(box, shade(color))
    painter.setPen(line_pen(color))
    # Smooth, so that the line's middle lies on the edge, not beside it.
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.drawRect(box)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
