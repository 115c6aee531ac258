"""Answered cells: colour says which model, the shape of the sign what came of it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from viewer.ui.canvas.overlays.aside import GAP, around, stepped_aside
from viewer.ui.canvas.overlays.corner_text import COLOR
from viewer.ui.canvas.overlays.grid import cell_rect
from viewer.ui.canvas.overlays.halo import Face, text_size
from viewer.ui.canvas.overlays.outcome_glyph import glyph_of, paint_glyph, words_of

if TYPE_CHECKING:
    from viewer.services.answers import StoredAnswer

LINE_PX: Final = 1.5
FILL_ALPHA: Final = 38
"""15 % of 255; a fill is at most 20 %."""
_GROUND: Final = QColor(0, 0, 0, 190)
_GLYPH_PX: Final = 14.0
_MIDDLE: Final = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft


def model_colors(models: Sequence[str], palette: Sequence[str]) -> dict[str, str]:
    """Return a colour for each model: the first named has the first, and so on."""
    names = list(dict.fromkeys(models))
    return {name: palette[i % len(palette)] for i, name in enumerate(names)}


def answer_rect(answer: "StoredAnswer") -> QRectF:
    """Return the answered cell in native pixels, empty without a cell."""
    label = answer.score.answer
    named = len(label) > 1 and label[0].isalpha() and label[1:].isdigit()
    cell = answer.grid.cell(label) if named else None
    return QRectF() if cell is None else cell_rect(answer.grid, answer.field, cell)


def provenance(answer: "StoredAnswer") -> str:
    """Return where an answer comes from, a line each; shown on hover."""
    parameters = ", ".join(f"{k} {v}" for k, v in answer.parameters.items())
    said = answer.score.answer or "no cell"
    lines = (
        f"{said}: {words_of(answer.score)}",
        f"Model: {answer.model}",
        f"Version: {answer.model_returned or 'not stated by the model'}",
        f"Adapter: {answer.adapter}",
        f"Prompt: sha256 {answer.prompt_sha256[:16]}",
        f"Parameters: {parameters or 'none'}",
        f"Run: {answer.run}, trial {answer.trial}",
    )
    return "\n".join(lines)


class AnswerItem(QGraphicsItem):
    """One answer in native coordinates, with a tag that steps aside.

    :meth:`lay_out` decides where the tag stands, in the view's pixels.
    """

    def __init__(
        self,
        answer: "StoredAnswer",
        color: str,
        face: Face,
        parent: QGraphicsItem,
    ) -> None:
        super().__init__(parent)
        self.answer = answer
        self._cell = answer_rect(answer)
        self._color = QColor(color)
        self._face = face
        self.tag, self._tag_native = QRectF(), QRectF()
        self.setToolTip(provenance(answer))

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the native rectangle around cell and tag."""
        return self._cell.united(self._tag_native)

    def shape(self) -> QPainterPath:
        """Return cell and tag: over both the answer's provenance is shown."""
        path = QPainterPath()
        path.addRect(self._cell)
        path.addRect(self._tag_native)
        return path

    def lay_out(
        self, native: QTransform, area: QRectF, taken: Sequence[QRectF], clear: QRectF
    ) -> QRectF:
        """Choose a place for the tag on the screen and return it.

        ``native`` maps native pixels to the view, ``taken`` are the view's rectangles
        to stay off, ``clear`` the reference's: it is covered only if all else fails.
        """
        size = self._tag_size()
        box = native.mapRect(self._cell)
        places = around(box, size) if not box.isEmpty() else _column(area, size)
        self.tag = stepped_aside(places, size, area, taken, clear)
        self.prepareGeometryChange()
        self._tag_native = native.inverted()[0].mapRect(self.tag)
        return self.tag

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Draw the cell with its sign, and the tag that names the model."""
        box = painter.worldTransform().mapRect(self._cell)
        painter.save()
        painter.setWorldTransform(QTransform())
        if not self._cell.isEmpty():
            self._paint_cell(painter, box)
        self._paint_tag(painter)
        painter.restore()

    def _paint_cell(self, painter: QPainter, box: QRectF) -> None:
        fill = QColor(self._color)
        fill.setAlpha(FILL_ALPHA)
        painter.fillRect(box, fill)
        pen = QPen(self._color, LINE_PX)
        pen.setJoinStyle(Qt.PenJoinStyle.MiterJoin)
        painter.setPen(pen)
        # Smooth, so that the line's middle lies on the cell's edge, not beside it.
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawRect(box)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_tag(self, painter: QPainter) -> None:
        painter.fillRect(self.tag, _GROUND)
        inner = self.tag.adjusted(GAP, 0, -GAP, 0)
        square = QRectF(0, 0, _GLYPH_PX, _GLYPH_PX)
        square.moveCenter(QPointF(inner.left() + _GLYPH_PX / 2, inner.center().y()))
        painter.setFont(self._face.font())
        paint_glyph(painter, glyph_of(self.answer.score), square, self._color)
        painter.setPen(QColor(COLOR))
        inner.setLeft(square.right() + GAP)
        painter.drawText(inner, _MIDDLE, self._words())

    def _words(self) -> str:
        return f"{self.answer.model}  {words_of(self.answer.score)}"

    def _tag_size(self) -> QSizeF:
        words = text_size(self._words(), self._face)
        return QSizeF(words.width() + _GLYPH_PX + 3 * GAP, max(words.height(), 18.0))


def _column(area: QRectF, size: QSizeF) -> tuple[QPointF, ...]:
    """Return the places of a tag without a cell: down the left edge of the view."""
    pitch = size.height() + GAP
    count = max(1, int(area.height() / pitch) - 1)
    return tuple(
        QPointF(area.left() + 2 * GAP, 2 * GAP + i * pitch) for i in range(count)
    )
