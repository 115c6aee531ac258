"""Painting and erasing masks with a brush."""

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import QGraphicsItem, QStyleOptionGraphicsItem, QWidget

from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.framed_view import FramedView
from viewer.ui.canvas.mark_editing import MarkEditing
from viewer.ui.canvas.marks.brush import BrushLine, brush_width, widen_brush
from viewer.ui.canvas.overlays.halo import HALO
from viewer.ui.canvas.tools.catalog import PAINTS
from viewer.ui.widgets.theme import current

_RING_PX: Final = 1.5
_TOPMOST: Final = 1000.0
_LEFT: Final = Qt.MouseButton.LeftButton


class Painting(QObject):
    """The brush over a view: it takes the left button while its tool is chosen.

    With Alt the brush erases; Shift and the wheel set its size, and Esc discards the
    line that is being painted, or ends the mask.
    """

    def __init__(self, view: FramedView, marks: MarkEditing) -> None:
        super().__init__(view)
        self._view, self._marks = view, marks
        self._tool: Tool | None = None
        self._line: BrushLine | None = None
        self._ring: QPointF | None = None
        self._item = _BrushItem(lambda: view.area, self._paint)
        view.stage.addItem(self._item)
        view.installEventFilter(self)
        # The last that was installed is asked first: before the view itself.
        view.viewport().installEventFilter(self)

    def use(self, tool: Tool) -> None:
        """Paint or erase from now on, or do neither."""
        self._tool = tool if tool in PAINTS else None
        self._line, self._ring = None, None
        self._item.update()

    def widen(self, steps: int) -> None:
        """Make the brush wider or, with negative steps, narrower."""
        geometry = self._marks.geometry
        if geometry is not None:
            widen_brush(steps, geometry)
            self._item.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """Take what is meant for the brush, and let all else pass."""
        if self._tool is None:
            return super().eventFilter(watched, event)
        if isinstance(event, QKeyEvent):
            return self._key(event)
        if watched is self._view:
            return False
        if isinstance(event, QWheelEvent):
            return self._wheel(event)
        if isinstance(event, QMouseEvent):
            return self._mouse(event)
        if event.type() is QEvent.Type.Leave:
            self._hover(None)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        goes_on = self._line is not None or self._marks.chosen_mask is not None
        if event.key() != Qt.Key.Key_Escape or not goes_on:
            return False
        # Else the window would take Esc as a command of its own.
        event.accept()
        if event.type() is QEvent.Type.KeyPress:
            self._line = None
            self._marks.cancel()
        return True

    def _wheel(self, event: QWheelEvent) -> bool:
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if shift:
            self.widen(1 if event.angleDelta().y() > 0 else -1)
        return shift

    def _mouse(self, event: QMouseEvent) -> bool:
        at = event.position()
        self._hover(at)
        if event.type() is QEvent.Type.MouseMove:
            return False  # the value under the cursor is told all the same
        if event.button() is not _LEFT:
            return False
        if event.type() is QEvent.Type.MouseButtonRelease:
            self._end()
        else:
            alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
            self._begin(at, erases=alt or self._tool is Tool.ERASER)
        return True

    def _begin(self, at: QPointF, *, erases: bool) -> None:
        geometry = self._marks.geometry
        if geometry is not None:
            self._view.setFocus()
            point, width = self._view.native_at(at), brush_width(geometry)
            self._line = BrushLine(point, width, geometry, erases=erases)

    def _hover(self, at: QPointF | None) -> None:
        """Show the ring at a position, and continue a line; None takes it away."""
        self._ring = at
        if self._line is not None and at is not None:
            self._line.to(self._view.native_at(at))
        self._item.update()

    def _end(self) -> None:
        """Paint what the line covers, as one edit."""
        line, self._line = self._line, None
        covered = line.patch() if line is not None else None
        if line is not None and covered is not None:
            self._marks.paint(covered, erases=line.erases)

    def _paint(self, painter: QPainter) -> None:
        """Draw the line and the ring around the brush, in the view's pixels."""
        color, geometry = QColor(current().reader), self._marks.geometry
        if self._line is not None:
            self._line.paint(painter, self._view.native_transform, color)
        if self._ring is None or geometry is None:
            return
        native = self._view.native_transform
        # However the image is turned, one of both is 0.
        half = brush_width(geometry) * (abs(native.m11()) + abs(native.m12())) / 2
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for shade, width in ((HALO, _RING_PX + 2), (color, _RING_PX)):
            painter.setPen(QPen(shade, width))
            painter.drawEllipse(self._ring, half, half)


class _BrushItem(QGraphicsItem):
    """The brush, over every overlay."""

    def __init__(
        self, area: Callable[[], QRectF], draw: Callable[[QPainter], None]
    ) -> None:
        super().__init__()
        self._area, self._draw = area, draw
        self.setZValue(_TOPMOST)

    def boundingRect(self) -> QRectF:  # noqa: N802 - Qt's name
        """Return the whole view: what is erased may be anywhere."""
        return self._area()

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Draw the brush in the view's pixels."""
        self._draw(painter)
