"""The marks of a view in two layers: the lines of all, and over them their words.

Qt strokes the smooth lines of a hundred marks in tens of milliseconds. Mostly a view is
painted again though no mark changed, or one, or all moved together. So a layer of many
is a picture, in which only what changed or came into sight is drawn again.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from itertools import chain
from math import ceil, floor
from time import thread_time
from typing import Final

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF
from PySide6.QtGui import QImage, QPainter, QPainterPath, QTransform
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from viewer.ui.canvas.marks.item import MarkItem, Step
from viewer.ui.canvas.overlays.kept_picture import Sight

_FEW: Final = 8
"""So many marks are drawn as quickly as a picture of them."""
_TURN_S: Final = 0.008
"""So long a turn of the event loop draws marks."""
_PARTS: Final = 4
"""Where more marks changed, all are drawn again."""
_WHOLE: Final = 1e-3
"""Less than this is no part of a device pixel."""


class MarksLayer(QGraphicsItem):
    """One layer of the marks, drawn in the view's pixels.

    After a zoom it takes some turns of the event loop to draw many marks, and shows
    meanwhile the picture that it had, magnified.

    Parameters
    ----------
    parent : QGraphicsItem
        Maps native pixels to the view.
    ask_for_turn : callable
        Called where :meth:`go_on` is to be called in another turn.
    """

    def __init__(
        self, parent: QGraphicsItem, ask_for_turn: Callable[[], object]
    ) -> None:
        super().__init__(parent)
        self._ask_for_turn = ask_for_turn
        self._bounds = QRectF()
        self._marks: tuple[MarkItem, ...] = ()
        self._drawn: tuple[MarkItem, ...] = ()
        self._sight = Sight(QTransform(), QRectF(), 1.0)
        self._picture, self._before = QImage(), QImage()
        self._before_native = QTransform()
        self._steps: Iterator[Step] = iter(())
        self._stale = True
        self.unfinished = False
        """Whether the picture lacks marks."""

    @abstractmethod
    def box(self, mark: MarkItem, native: QTransform) -> QRectF:
        """Return the view's rectangle that a mark is drawn in."""

    @abstractmethod
    def steps(self, mark: MarkItem, sight: Sight) -> Iterator[Step]:
        """Yield what draws a mark."""

    def set_marks(self, marks: tuple[MarkItem, ...]) -> None:
        """Draw marks in place of those before; the last lies on top."""
        self._marks = marks
        self.update()

    def lie_on(self, native: QTransform, area: QRectF) -> None:
        """Lie over all of the view that is seen."""
        self.prepareGeometryChange()
        self._bounds = native.inverted()[0].mapRect(area)

    def draw_anew(self) -> None:
        """Draw every mark anew with the next picture of the view."""
        self._stale = True
        self.update()

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the native rectangle that is seen."""
        return self._bounds

    def shape(self) -> QPainterPath:
        """Return nothing: the mouse meets the marks."""
        return QPainterPath()

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Draw the layer."""
        if len(self._marks) <= _FEW and not any(mark.is_slow for mark in self._marks):
            for _ in self.paint_each(painter):
                continue
        else:
            native = painter.worldTransform()
            painter.save()
            painter.setWorldTransform(QTransform())
            self._paint_picture(painter, native)
            painter.restore()

    def paint_each(self, painter: QPainter) -> Iterator[None]:
        """Draw the marks themselves, with a pause after each step."""
        ratio = painter.device().devicePixelRatioF()
        sight = Sight(painter.worldTransform(), QRectF(painter.viewport()), ratio)
        painter.save()
        painter.setWorldTransform(QTransform())
        for step in self._all_steps(sight):
            step(painter)
            yield
        painter.restore()

    def _all_steps(self, sight: Sight) -> Iterator[Step]:
        return chain.from_iterable(self.steps(mark, sight) for mark in self._marks)

    def _paint_picture(self, painter: QPainter, native: QTransform) -> None:
        ratio = painter.device().devicePixelRatioF()
        self._follow(Sight(native, QRectF(painter.viewport()), ratio))
        if not self.go_on():
            self._ask_for_turn()
        if self.unfinished and not self._before.isNull():
            painter.setWorldTransform(self._before_native.inverted()[0] * native)
            painter.drawImage(QPointF(), self._before)
        else:
            painter.drawImage(QPointF(), self._picture)

    def _follow(self, sight: Sight) -> None:
        """Draw what differs from the picture, or begin it anew."""
        moved, changed = self._moved_to(sight), {*self._drawn} ^ {*self._marks}
        if moved == QPoint() and not changed:
            return
        slow = any(mark.is_slow for mark in changed) or len(changed) > _PARTS
        both = bool(changed) and moved != QPoint()
        if moved is None or self.unfinished or slow or both:
            self._begin(sight)
        elif changed:
            self._drawn = self._marks
            for mark in changed:
                self._draw_part(_outer(self.box(mark, sight.native), sight.ratio))
        else:
            self._sight = sight
            self._scroll(moved)

    def _moved_to(self, sight: Sight) -> QPoint | None:
        """Return by how many device pixels all moved, None where that is not all."""
        one, other, ratio = self._sight.native, sight.native, sight.ratio
        alike = self._sight.area == sight.area and self._sight.ratio == ratio
        if self._stale or not alike or _linear(one) != _linear(other):
            return None
        x, y = (other.dx() - one.dx()) * ratio, (other.dy() - one.dy()) * ratio
        moved = QPoint(round(x), round(y))
        whole = max(abs(x - moved.x()), abs(y - moved.y())) < _WHOLE
        return moved if whole else None

    def _begin(self, sight: Sight) -> None:
        """Begin the picture; until it is finished the one before is shown."""
        if not self.unfinished:
            self._before, self._before_native = self._picture, self._sight.native
        self._sight, self._drawn, self._stale = sight, self._marks, False
        self._picture, self._steps = self._blank(), self._all_steps(sight)
        self.unfinished = True

    def _blank(self) -> QImage:
        pixels = (self._sight.area.size() * self._sight.ratio).toSize()
        picture = QImage(pixels, QImage.Format.Format_ARGB32_Premultiplied)
        picture.setDevicePixelRatio(self._sight.ratio)
        picture.fill(0)
        return picture

    def go_on(self, seconds: float = _TURN_S) -> bool:
        """Draw for so many seconds; return whether the picture lacks nothing then."""
        if not self.unfinished:
            return True
        painter, until = QPainter(self._picture), thread_time() + seconds
        for step in self._steps:
            step(painter)
            if thread_time() > until:
                break
        else:
            self.unfinished, self._before = False, QImage()
        painter.end()
        return not self.unfinished

    def _scroll(self, moved: QPoint) -> None:
        """Move the picture, and draw what comes into sight."""
        before, self._picture = self._picture, self._blank()
        painter = QPainter(self._picture)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
        painter.drawImage(QPointF(moved) / self._sight.ratio, before)
        painter.end()
        whole = self._picture.rect()
        kept = whole.translated(moved)
        for part in (
            QRect(whole.left(), whole.top(), whole.width(), moved.y()),
            QRect(whole.left(), kept.bottom() + 1, whole.width(), -moved.y()),
            QRect(whole.left(), whole.top(), moved.x(), whole.height()),
            QRect(kept.right() + 1, whole.top(), -moved.x(), whole.height()),
        ):
            if part.isValid():
                self._draw_part(part)

    def _draw_part(self, part: QRect) -> None:
        """Draw a part of the picture, in device pixels, anew."""
        part, ratio = part.intersected(self._picture.rect()), self._sight.ratio
        area = QRectF(QPointF(part.topLeft()) / ratio, part.size().toSizeF() / ratio)
        sight = Sight(self._sight.native, area, ratio)
        painter = QPainter(self._picture)
        painter.setClipRect(area)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
        painter.fillRect(area, 0)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        for mark in self._marks:
            if self.box(mark, sight.native).intersects(area):
                for step in self.steps(mark, sight):
                    step(painter)
        painter.end()


class LinesLayer(MarksLayer):
    """The lines of the marks, and their knobs."""

    def box(self, mark: MarkItem, native: QTransform) -> QRectF:
        """Return the view's rectangle around its lines and knobs."""
        return mark.lines_box(native)

    def steps(self, mark: MarkItem, sight: Sight) -> Iterator[Step]:
        """Yield what draws its lines."""
        return mark.line_steps(sight)


class WordsLayer(MarksLayer):
    """The words of the marks, and the lines that lead to them."""

    def box(self, mark: MarkItem, native: QTransform) -> QRectF:  # noqa: ARG002 - has its own
        """Return the view's rectangle around its words and the line to them."""
        return mark.words_box

    def steps(self, mark: MarkItem, sight: Sight) -> Iterator[Step]:  # noqa: ARG002 - has its own
        """Yield what draws its words."""
        yield mark.draw_words


def _linear(native: QTransform) -> tuple[float, ...]:
    return native.m11(), native.m12(), native.m21(), native.m22()


def _outer(box: QRectF, ratio: float) -> QRect:
    """Return the device pixels that a rectangle of the view touches."""
    left, top = floor(box.left() * ratio), floor(box.top() * ratio)
    right, bottom = ceil(box.right() * ratio), ceil(box.bottom() * ratio)
    return QRect(left, top, right - left, bottom - top)
