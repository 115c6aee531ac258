"""The common base of drawn answers: tag, colour, provenance.

The colour identifies the model, the shape of the sign the outcome.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QTransform,
)
from PySide6.QtWidgets import QGraphicsItem

from viewer.domain.answer import HeatMapAnswer
from viewer.domain.geometry import PointPx
from viewer.domain.styles import looks_of
from viewer.ui.canvas.overlays.aside import (
    GAP,
    Surroundings,
    leader_to,
    paint_leader,
    placed,
)
from viewer.ui.canvas.overlays.corner_text import COLOR
from viewer.ui.canvas.overlays.halo import HALO, Face, text_size
from viewer.ui.canvas.overlays.legend import MIDDLE, Legend
from viewer.ui.canvas.overlays.measure_words import measure_rows
from viewer.ui.canvas.overlays.outcome_glyph import glyph_of, paint_glyph, words_of
from viewer.ui.canvas.overlays.screen_item import ScreenItem
from viewer.ui.widgets.plain_text import as_tip

if TYPE_CHECKING:
    from viewer.services.inspecting.answers import StoredAnswer

LINE_PX: Final = 1.5
FILL_ALPHA: Final = 38
"""15 % of 255; a fill is at most 20 %."""
CROSS_PX: Final = 5.0
"""Half the width of the cross at the point that stands for an answer."""
_GROUND: Final = QColor(0, 0, 0, 190)
_GLYPH_PX: Final = 14.0
_LEAST_HEIGHT: Final = 18.0
_REACH_PX: Final = 16.0
_FADED: Final = 0.3


def model_colors(models: Iterable[str]) -> dict[str, str]:
    """Return the colour of each model of some that are drawn together."""
    return {name: look.colour for name, look in looks_of(models).items()}


def provenance(answer: "StoredAnswer") -> str:
    """Return an answer's provenance, one line per fact; shown on hover."""
    parameters = ", ".join(f"{k} {v}" for k, v in answer.parameters.items())
    cell = answer.score.answer or "no cell"
    measures = measure_rows(answer.measures)
    lines = (
        f"{cell}: {words_of(answer.score)}",
        *(f"{name}: {value}" for name, value in measures),
        f"Model: {answer.model}",
        f"Version: {answer.model_returned or 'not stated by the model'}",
        f"Adapter: {answer.adapter}",
        f"Prompt: sha256 {answer.prompt_sha256[:16]}",
        f"Parameters: {parameters or 'none'}",
        f"Run: {answer.run}, trial {answer.trial}",
    )
    return "\n".join(lines)


class AnswerShape(Protocol):
    """What one kind of answer looks like, in one file each."""

    @property
    def extent(self) -> QRectF:
        """The smallest native rectangle around it, null with nothing to draw."""
        ...

    @property
    def legend(self) -> Legend | None:
        """The legend of its colours, None if there is none."""
        ...

    def frames(self, native: QTransform) -> tuple[QRectF, ...]:
        """Return the view's rectangles it fills; the tag stands beside the first."""
        ...

    def nearest(self, native: QTransform, label: QRectF) -> QPointF:
        """Return its point, in the view, that is nearest to a label."""
        ...

    def outline(self, native: QTransform) -> QPainterPath:
        """Return the native shape that reacts to hover; ``native`` maps to the view."""
        ...

    def paint(self, painter: QPainter, native: QTransform, color: QColor) -> None:
        """Draw it in the view's pixels, to which ``native`` maps."""
        ...


class AnswerItem(ScreenItem):
    """One answer in native coordinates, with a movable tag.

    :meth:`lay_out` places the tag, in the view's pixels.
    """

    def __init__(
        self,
        answer: "StoredAnswer",
        shape: AnswerShape,
        color: str,
        face: Face,
        parent: QGraphicsItem,
    ) -> None:
        super().__init__(parent)
        self.answer = answer
        self._shape, self._color, self._face = shape, QColor(color), face
        self.tag, self._tag_native = QRectF(), QRectF()
        self.leader: QLineF | None = None
        self._named = answer.model
        self._native, self._drawn_on = QTransform(), shape.extent
        self.chosen = False
        self.setToolTip(as_tip(provenance(answer)))

    @property
    def coarse(self) -> bool:
        """Whether it is a heat map whose parts are larger than native pixels."""
        drawn = self.answer.answer
        if not isinstance(drawn, HeatMapAnswer):
            return False
        return drawn.heat_map.rows < drawn.field.y1 - drawn.field.y0

    def light(self, *, chosen: bool, faded: bool) -> None:
        """Frame the tag of a chosen answer; fade answers other than the hovered one."""
        self.chosen = chosen
        self.setOpacity(_FADED if faded else 1.0)
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the native rectangle around shape and tag."""
        return self._drawn_on.united(self._tag_native)

    def shape(self) -> QPainterPath:
        """Return shape and tag: over both the answer's provenance is shown."""
        path = QPainterPath()
        # Odd-even, the default, leaves a hole where tag and shape overlap.
        path.setFillRule(Qt.FillRule.WindingFill)
        if not self._shape.extent.isNull():
            path.addPath(self._shape.outline(self._native))
        path.addRect(self._tag_native)
        return path

    def frames(self, native: QTransform) -> tuple[QRectF, ...]:
        """Return the view's rectangles that the shape fills, none without a shape."""
        return () if self._shape.extent.isNull() else self._shape.frames(native)

    def lay_out(self, native: QTransform, seen: Surroundings) -> QRectF:
        """Choose a place for the tag on the screen and return it, null for none.

        ``native`` maps native pixels to the view. A shape out of sight has no tag.
        """
        self._named = self._fitting_name(seen.area.width())
        self.tag, self.leader = self._tag_place(native, seen)
        self._lie(native)
        return self.tag

    def follow(self, native: QTransform) -> None:
        """Let the tag move with the shape until it is laid out anew."""
        middle = self._shape.extent.center()
        moved = native.map(middle) - self._native.map(middle)
        self.tag.translate(moved)
        if self.leader is not None:
            self.leader.translate(moved)
        self._lie(native)

    def _lie(self, native: QTransform) -> None:
        # Before the bounds change: the scene's index still finds the item by the old.
        self.prepareGeometryChange()
        self._native, to_native = native, native.inverted()[0]
        self._tag_native = to_native.mapRect(self.tag)
        extent = self._shape.extent
        if not extent.isNull():
            reach = (-_REACH_PX, -_REACH_PX, _REACH_PX, _REACH_PX)
            self._drawn_on = to_native.mapRect(native.mapRect(extent).adjusted(*reach))

    def _tag_place(
        self, native: QTransform, seen: Surroundings
    ) -> tuple[QRectF, QLineF | None]:
        frames = self.frames(native)
        if not frames:
            return placed(QRectF(), self._tag_size(), seen), None
        own = _in_sight(frames, seen.area)
        if own.isNull():
            return QRectF(), None
        tag = placed(own, self._tag_size(), seen)
        return tag, leader_to(self._shape.nearest(native, tag), tag)

    def draw(self, painter: QPainter, native: QTransform) -> None:
        """Draw the shape, and the tag that names the model with the outcome's sign."""
        if not self._shape.extent.isNull():
            painter.save()
            self._shape.paint(painter, native, self._color)
            painter.restore()
        if self.leader is not None:
            paint_leader(painter, self.leader, self._color)
        if not self.tag.isNull():
            self._paint_tag(painter)

    def _paint_tag(self, painter: QPainter) -> None:
        painter.fillRect(self.tag, _GROUND)
        if self.chosen:
            painter.setPen(QPen(self._color, LINE_PX))
            # A line's middle lies on the rectangle; half a pixel in, lines are sharp.
            painter.drawRect(self.tag.adjusted(0.5, 0.5, -0.5, -0.5))
        inner = self.tag.adjusted(GAP, 0, -GAP, 0)
        line = QRectF(inner.topLeft(), QSizeF(inner.width(), self._line_height()))
        square = QRectF(0, 0, _GLYPH_PX, _GLYPH_PX)
        square.moveCenter(QPointF(line.left() + _GLYPH_PX / 2, line.center().y()))
        painter.setFont(self._face.font())
        paint_glyph(painter, glyph_of(self.answer.score), square, self._color)
        painter.setPen(QColor(COLOR))
        line.setLeft(square.right() + GAP)
        painter.drawText(line, MIDDLE, self._words())
        if self._shape.legend is not None:
            below = QPointF(inner.left(), line.bottom())
            self._shape.legend.paint(painter, below, self._face)

    def _words(self) -> str:
        return f"{self._named}  {words_of(self.answer.score)}"

    def _fitting_name(self, width: float) -> str:
        """Return the model's name, shortened where the tag would not fit a view."""
        self._named = self.answer.model
        over = self._tag_size().width() + 2 * GAP - width
        if over <= 0:
            return self._named
        metrics = QFontMetricsF(self._face.font())
        room = max(0.0, metrics.horizontalAdvance(self._named) - over)
        return metrics.elidedText(self._named, Qt.TextElideMode.ElideMiddle, room)

    def _line_height(self) -> float:
        return max(text_size(self._words(), self._face).height(), _LEAST_HEIGHT)

    def _tag_size(self) -> QSizeF:
        words, legend = text_size(self._words(), self._face), self._shape.legend
        below = legend.size(self._face) if legend else QSizeF(0, 0)
        width = max(words.width() + _GLYPH_PX + GAP, below.width()) + 2 * GAP
        return QSizeF(width, self._line_height() + below.height())


def line_pen(color: QColor, join: Qt.PenJoinStyle = Qt.PenJoinStyle.MiterJoin) -> QPen:
    """Return the pen of an outline, as wide at any zoom."""
    pen = QPen(color, LINE_PX)
    pen.setJoinStyle(join)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    return pen


def shade(color: QColor) -> QColor:
    """Return the fill of a shape."""
    fill = QColor(color)
    fill.setAlpha(FILL_ALPHA)
    return fill


def paint_cross(
    painter: QPainter, native: QTransform, point: PointPx, color: QColor
) -> None:
    """Draw a cross with a dark halo at the point that stands for an answer."""
    at = native.map(QPointF(point.x, point.y))
    arms = (QPointF(CROSS_PX, 0), QPointF(0, CROSS_PX))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for pen in (QPen(HALO, LINE_PX + 2), QPen(color, LINE_PX)):
        painter.setPen(pen)
        for arm in arms:
            painter.drawLine(at - arm, at + arm)


def _in_sight(frames: Sequence[QRectF], area: QRectF) -> QRectF:
    """Return what is seen of the first frame in sight, null where none is."""
    seen = (frame.intersected(area) for frame in frames)
    return next((part for part in seen if not part.isEmpty()), QRectF())
