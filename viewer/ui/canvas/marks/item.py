"""A mark in a view: its lines, its handles if chosen, and its text."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise, starmap
from typing import Final

from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QPainter,
    QPainterPath,
    QPainterPathStroker,
    QPen,
    QTransform,
)

from viewer.domain.geometry import PointPx
from viewer.domain.mark import REGIONS, Mark, MarkKind
from viewer.ui.canvas.overlays.aside import (
    Surroundings,
    leader_to,
    nearest_point,
    paint_leader,
    placed,
)
from viewer.ui.canvas.overlays.halo import HALO, Face, draw_text, text_size
from viewer.ui.canvas.overlays.kept_picture import Sight
from viewer.ui.widgets.theme import current

LINE_PX: Final = 1.5
REACH: Final = 7.0
"""How near, in the view's pixels, a press has to be to meet a line or a handle."""
_END: Final = 4.0
_MARGIN: Final = 12.0
_HEAD_PX: Final = 14.0
_BARB: Final = 28.0
"""Degrees between an arrow's shaft and each side of its head."""
_KNOBLESS: Final = REGIONS | {MarkKind.ARROW, MarkKind.TEXT, MarkKind.FREEHAND}
"""Kinds that show no knobs unless they are chosen."""
_PIECE: Final = 12.0
"""How long, in the view's pixels, the pieces are that labels keep off a line by."""
_MOST_PIECES: Final = 24
_SQUEEZE: Final = 2.0
"""Lines of text stand this much closer than their halos would have them."""


_Framed = tuple[tuple[float, ...], QPointF, tuple[QRectF, ...]]
"""The linear part of a map to the view, where it maps the origin, and the frames."""
Step = Callable[[QPainter], object]
"""Draws a part of a mark."""


class MarkItem:
    """A mark in native coordinates; :meth:`lay_out` decides where its words stand."""

    is_slow = False
    """Whether its lines take long to draw."""

    def __init__(
        self, mark: Mark, words: tuple[str, ...], face: Face, *, chosen: bool
    ) -> None:
        self.mark, self.words = mark, words
        self._face, self._chosen = face, chosen
        self._path = self._traced()
        self._native = QTransform()
        self._framed: _Framed | None = None
        self.tag = QRectF()
        self.leader: QLineF | None = None

    def _traced(self) -> QPainterPath:
        """Return the lines in native pixels."""
        return mark_path(self.mark)

    def lay_out(self, native: QTransform, seen: Surroundings) -> QRectF:
        """Choose a place for the words on the screen and return it.

        The arguments are those of an answer's tag.
        """
        box, size = native.mapRect(self._path.boundingRect()), self._size()
        last = native.map(_at(self.mark.end))
        near = QRectF(last, last).adjusted(-8, -24, 8, 8)
        beside = box if self.mark.kind in REGIONS else near
        own = beside.intersected(seen.area)
        self.tag = QRectF() if own.isEmpty() else placed(own, size, seen)
        self.leader = leader_to(nearest_point((own,), self.tag), self.tag)
        self._native = native
        return self.tag if self.words else QRectF()

    def follow(self, native: QTransform) -> None:
        """Let the words move with the lines until they are laid out anew."""
        moved = native.map(_at(self.mark.end)) - self._native.map(_at(self.mark.end))
        self.tag.translate(moved)
        if self.leader is not None:
            self.leader.translate(moved)
        self._native = native

    def frames(self, native: QTransform) -> tuple[QRectF, ...]:
        """Return the view's rectangles that the lines run through, end to end."""
        linear = native.m11(), native.m12(), native.m21(), native.m22()
        at = QPointF(native.dx(), native.dy())
        if self._framed is None or self._framed[0] != linear:
            self._framed = linear, at, self._pieces(native)
        _, before, pieces = self._framed
        return tuple(piece.translated(at - before) for piece in pieces)

    def _pieces(self, native: QTransform) -> tuple[QRectF, ...]:
        path = native.map(self._path)
        if not path.length():
            return ()
        pieces = min(_MOST_PIECES, 1 + round(path.length() / _PIECE))
        ends = [path.pointAtPercent(n / pieces) for n in range(pieces + 1)]
        return tuple(
            QRectF(one, other).normalized().adjusted(-2, -2, 2, 2)
            for one, other in pairwise(ends)
        )

    def handle_at(self, at: QPointF) -> int | None:
        """Return the handle at a position of the view."""
        for number, handle in enumerate(self.mark.handles):
            off = self._native.map(_at(handle)) - at
            if max(abs(off.x()), abs(off.y())) <= REACH:
                return number
        return None

    def meets(self, at: QPointF) -> bool:
        """Tell whether a position of the view lies on the lines."""
        path = self._native.map(self._path)
        near = path.boundingRect().adjusted(-REACH, -REACH, REACH, REACH)
        if not near.contains(at):  # as most of a hundred marks are not, at each press
            return False
        stroker = QPainterPathStroker()
        # The width is that of the whole stroke, half of it on each side of the line.
        stroker.setWidth(2 * REACH)
        return stroker.createStroke(path).contains(at)

    def says_at(self, at: QPointF) -> bool:
        """Tell whether a position of the view lies on the words."""
        return bool(self.words) and self.tag.contains(at)

    @property
    def words_box(self) -> QRectF:
        """The view's rectangle around the words and the line that leads to them."""
        if self.leader is None or self.tag.isNull():
            return self.tag
        ends = QRectF(self.leader.p1(), self.leader.p2()).normalized()
        return self.tag.united(ends.adjusted(-2, -2, 2, 2))

    def draw_words(self, painter: QPainter) -> None:
        """Draw the words, and a line to them where they stand apart."""
        color = QColor(current().reader)
        if self.words and self.leader is not None and not self.tag.isNull():
            paint_leader(painter, self.leader, color)
        for number, line in enumerate(() if self.tag.isNull() else self.words):
            at = self.tag.topLeft() + QPointF(0, number * self._pitch())
            draw_text(painter, at, line, self._face, color.name())

    def lines_box(self, native: QTransform) -> QRectF:
        """Return the view's rectangle around lines and handles."""
        box = native.mapRect(self._path.boundingRect())
        return box.adjusted(-_MARGIN, -_MARGIN, _MARGIN, _MARGIN)

    def line_steps(self, sight: Sight) -> Iterator[Step]:
        """Yield what draws the lines with a dark edge, and the ends or handles."""
        yield partial(self._draw_lines, sight.native)

    def _draw_lines(self, native: QTransform, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lines, curves = self._strokes(native)
        for shade, width in (
            (HALO, LINE_PX + 2.5),
            (QColor(current().reader), LINE_PX),
        ):
            pen = QPen(shade, width)
            pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            painter.setPen(pen)
            painter.drawLines(lines)
            painter.strokePath(curves, pen)

    def _strokes(self, native: QTransform) -> tuple[list[QLineF], QPainterPath]:
        """Return the straight lines and the curves, in the view's pixels.

        Lines are no part of the path: where they cross one another, as those of a large
        polygon do, Qt strokes a path twenty times slower.
        """
        lines, curves = list[QLineF](), QPainterPath()
        path = native.map(self._path)
        if self.mark.kind is MarkKind.ELLIPSE:
            curves.addPath(path)
        else:
            lines += _lines_of(path)
        if self.mark.kind is MarkKind.ARROW and len(self.mark.points) > 1:
            lines += _lines_of(_head(*(native.map(_at(p)) for p in self.mark.points)))
        for point in self.mark.handles if self._chosen else self._ends():
            curves.addPath(self._knob(native.map(_at(point))))
        return lines, curves

    def _ends(self) -> tuple[PointPx, ...]:
        return () if self.mark.kind in _KNOBLESS else self.mark.points

    def _knob(self, at: QPointF) -> QPainterPath:
        knob, box = QPainterPath(), QRectF(-_END, -_END, 2 * _END, 2 * _END)
        if self._chosen:
            knob.addRect(box.translated(at))
        else:
            knob.addEllipse(box.translated(at))
        return knob

    def _pitch(self) -> float:
        return text_size("Hg", self._face).height() - _SQUEEZE

    def _size(self) -> QSizeF:
        widths = [text_size(line, self._face).width() for line in self.words]
        tall = len(self.words) * self._pitch() + _SQUEEZE
        return QSizeF(max(widths, default=0.0), tall)


def mark_path(mark: Mark) -> QPainterPath:
    """Return a mark's lines in native pixels, as far as it is drawn."""
    path = QPainterPath()
    if mark.kind is MarkKind.ELLIPSE and mark.complete:
        path.addEllipse(QRectF(*map(_at, mark.points)).normalized())
        return path
    for line in mark.lines:
        path.moveTo(_at(line[0]))
        for point in line[1:]:
            path.lineTo(_at(point))
    return path


def _lines_of(path: QPainterPath) -> Iterator[QLineF]:
    for polygon in path.toSubpathPolygons():
        points = [polygon.at(n) for n in range(polygon.size())]
        yield from starmap(QLineF, pairwise(points))


def _head(tip: QPointF, tail: QPointF) -> QPainterPath:
    """Return an arrowhead, in view pixels."""
    head, line = QPainterPath(), QLineF(tip, tail)
    for turn in (-_BARB, _BARB):
        side = QLineF(tip, tail)
        side.setLength(min(_HEAD_PX, line.length()))
        side.setAngle(line.angle() + turn)
        head.moveTo(tip)
        head.lineTo(side.p2())
    return head


def _at(point: PointPx) -> QPointF:
    return QPointF(point.x, point.y)
