"""The image view: one image on black, its overlays, and the gestures of a reader.

The scene's coordinates are the view's pixels. One root item carries the transform of
native pixels and every overlay is its child, so image and overlays share one mapping.
The image itself is painted as the background, at the screen's resolution.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QCursor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from viewer.domain.case import ReferenceBox
from viewer.domain.geometry import PointPx
from viewer.domain.reference import Mask
from viewer.imaging.pyramid import Pyramid
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.application.preferences import current
from viewer.ui.canvas.annotations import Annotations
from viewer.ui.canvas.display import Display, first_display, value_text
from viewer.ui.canvas.events import (
    AnswerClicked,
    AnswerHovered,
    CursorMoved,
    PointedAt,
    Scrolled,
    Tool,
)
from viewer.ui.canvas.framed_view import FramedView
from viewer.ui.canvas.layers import Layers
from viewer.ui.canvas.mark_editing import MarkEditing
from viewer.ui.canvas.overlays.grid import GridOverlay
from viewer.ui.canvas.overlays.halo import TEXT
from viewer.ui.canvas.stacks import are_alike, is_stack
from viewer.ui.canvas.tools.catalog import CURSORS, DRAGS, DRAWN, PAINTS
from viewer.ui.canvas.waiting import Waiting

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

    from viewer.domain.mark import Mark
    from viewer.domain.presentation import PresentationState
    from viewer.domain.slide_objects import SlideObjects
    from viewer.services.inspecting.answers import StoredAnswer
    from viewer.ui.canvas.lens import Lens
    from viewer.ui.canvas.marks.item import MarkItem
    from viewer.ui.canvas.overlays.answer_item import AnswerItem
    from viewer.ui.canvas.overlays.locator import Line
    from viewer.ui.canvas.painting import Painting
    from viewer.ui.canvas.tools.drag import Drag

_CLICK_PX: Final = 4  # a press that moves less is no drag
_ENTER: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})
_ZOOM_STEP: Final = 1.2
_WHEEL_STEP: Final = 120


class ImageView(FramedView):
    """Shows one image.

    Left drag is the tool that is set, middle drag pans, right drag zooms; the wheel
    scrolls a stack and zooms a single image, with Ctrl it always zooms.
    """

    cursor_moved = Signal(object)
    """CursorMoved"""
    answer_hovered = Signal(object)
    """AnswerHovered"""
    answer_clicked = Signal(object)
    """AnswerClicked"""
    outline_wanted = Signal()
    """The user wants the content of the chosen mark outlined."""
    scrolled = Signal(object)
    """Scrolled"""
    pointed = Signal(object)
    """PointedAt"""
    menu_wanted = Signal(object)
    """QPoint of the screen: a right click where no mark is, or the menu key."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._before: tuple[ShownImage, Display] | None = None
        self._annotations: Annotations | None = None
        self._tool = Tool.WINDOW
        self._drag: Drag | None = None
        self._lens: Lens | None = None
        self._pressed = QPointF()
        self._wheel = 0
        self._hovered: StoredAnswer | None = None
        self._layers = Layers(self.stage, TEXT)
        self.waiting = Waiting(self)
        self.waiting.changed.connect(self.redraw)
        self.marks = MarkEditing(self, self._layers, self)
        self.marks.ask_label = self._ask_label
        self._painting: Painting | None = None
        self.setAccessibleName("Image")

    def _ask_label(self, mark: "Mark") -> None:
        from viewer.ui.canvas.mark_label import ask_label

        ask_label(self.marks, self, mark)

    def show_image(self, shown: ShownImage, pyramid: Pyramid | None = None) -> None:
        """Show an image; the next of a series keeps window and zoom.

        ``pyramid`` is the image's, built in the background; without one it is made
        here, which takes a large radiograph tens of milliseconds.
        """
        self.waiting.end()
        self._tiles = None
        display = first_display(shown, pyramid or Pyramid(shown.image))
        if self._before is not None and are_alike(self._before[0], shown):
            display.follow(self._before[1])
        else:
            self._layers.set_grid(None)
            self._fitted, self.orientation = True, 1
        self._shown, self._display, self._before = shown, display, (shown, display)
        self._annotations = Annotations(shown)
        self._layers.set_objects(None)
        self._layers.slide = None if shown.ref.frame else shown.slide
        self._layers.clear()
        self.marks.show(shown)
        self._recentre()
        self._tell_sense()
        self._tell_window()
        if self.viewport().underMouse():  # which the value of the last image was for
            self._tell_cursor(QPointF(self.viewport().mapFromGlobal(QCursor.pos())))

    def present(
        self, shown: ShownImage, pyramid: Pyramid, state: "PresentationState | None"
    ) -> None:
        """Show an image by a presentation state, or once more by its own file."""
        self._before = None
        self.show_image(shown, pyramid)
        self._layers.set_presentation(state)
        if state is not None:
            self.orientation = state.orientation
            self.frame_area(state.area, state.magnified)

    def imitate(self, other: "ImageView", finer: float) -> None:
        """Show what another view shows, with ``finer`` times as many device pixels."""
        if other._shown is None or other._display is None:  # noqa: SLF001 - its own kind
            return
        self.marks.use(other.marks.book)
        self.show_image(other._shown, other._display.pyramid)  # noqa: SLF001
        if self._display is not None:
            self._display.follow(other._display)  # noqa: SLF001
        self._tiles = other._tiles  # noqa: SLF001
        self._layers.imitate(other._layers)  # noqa: SLF001
        self.orientation = other.orientation
        self._move(other._camera.finer(finer))  # noqa: SLF001

    def rename(self, shown: ShownImage) -> None:
        """Show the same image with other words over it."""
        self._annotations = Annotations(shown)
        self.redraw()

    def clear(self) -> None:
        """Show only what to do next."""
        self._before = None
        self._empty()
        self.waiting.end()

    def fail(self, words: str) -> None:
        """Say why an image of a series cannot be shown; the next keeps the window."""
        self._empty()
        self.waiting.fail(words)

    def _empty(self) -> None:
        self._shown, self._display, self._annotations = None, None, None
        self._tiles = None
        self._layers.set_grid(None)
        self._layers.clear()
        self.marks.show(None)
        self.redraw()
        self._tell_sense()
        self.cursor_moved.emit(CursorMoved(None, ""))

    def set_grid(self, overlay: GridOverlay | None) -> None:
        """Lay a grid over the image, or none."""
        self._layers.set_grid(overlay)
        self.redraw()

    def set_reference(
        self, mask: Mask | None, boxes: tuple[ReferenceBox, ...] = ()
    ) -> None:
        """Draw a reference, boxes as boxes, else a mask, or none."""
        self._layers.set_reference(mask, boxes)
        self.redraw()

    def set_objects(self, objects: "SlideObjects | None") -> None:
        """Draw objects of other programs on a whole slide, or none."""
        self._layers.set_objects(objects)
        self.redraw()

    def set_planes(self, bits: "npt.NDArray[np.bool_] | None") -> None:
        """Draw the overlay planes of the file, or none."""
        self._layers.set_planes(bits)
        self.redraw()

    def leave_out_texts(self) -> None:
        """Draw nothing that the file's author wrote; its shutter stays."""
        self.set_planes(None)
        state = self._layers.presentation
        if state is not None:
            self._layers.set_presentation(replace(state, notes=()))
            self.redraw()

    def set_answers(self, answers: "tuple[StoredAnswer, ...]") -> None:
        """Draw answers; each model's colour goes by the order they come in."""
        self._layers.set_answers(answers)
        self.redraw()

    @property
    def answer_items(self) -> "tuple[AnswerItem, ...]":
        """The answers drawn, the topmost last."""
        return self._layers.answers

    @property
    def mark_items(self) -> "tuple[MarkItem, ...]":
        """The marks drawn, the topmost first."""
        return () if self._layers.hidden else self._layers.marks

    def hide_overlays(self, hidden: bool) -> None:
        """Hide grid, reference, answers and marks, or show them again."""
        self._layers.hide(hidden=hidden)
        self.redraw()

    def reset(self) -> None:
        """Go back to the file's window and the whole image, and remove marks."""
        if self._display is None or self._shown is None:
            return
        self._display.reset()
        self.orientation = 1
        if not current().reset_keeps_marks:
            self.marks.remove_all()
        self.fit()
        self._tell_window()
        self._tell_sense()
        self.windowed.emit()

    @property
    def painting(self) -> "Painting":
        """The brush of masks, made when it is first needed."""
        if self._painting is None:
            from viewer.ui.canvas.painting import Painting

            self._painting = Painting(self, self.marks)
        return self._painting

    def set_tool(self, tool: Tool) -> None:
        """Choose what a drag with the left button does."""
        self._tool = tool
        self.marks.cancel(keep_mask=tool in PAINTS)
        if tool in PAINTS or self._painting is not None:
            self.painting.use(tool)
        self.viewport().setCursor(CURSORS[tool])

    def set_locator(self, lines: "Sequence[Line]", cross: PointPx | None) -> None:
        """Draw reference lines and a cross-hair in place of those before."""
        if self._layers.set_locator(lines, cross):
            self.redraw()

    def point_at(self, at: QPointF) -> None:
        """Show a position with the cross-hair."""
        if self._shown is not None:
            self.pointed.emit(PointedAt(self.native_at(at)))

    def scroll_by(self, steps: int) -> None:
        """Ask for another image of the stack."""
        self.scrolled.emit(Scrolled(steps))

    def magnify(self, at: QPointF | None) -> None:
        """Show a lens over the image around a position; None takes it away."""
        if at is None or self._display is None:
            if self._lens is not None:
                self._lens.hide()
            return
        if self._lens is None:
            from viewer.ui.canvas.lens import Lens

            self._lens = Lens(self.viewport())
        self._lens.show_at(at, self._display, self._camera, self._turned, self._tiles)

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:  # noqa: N802
        """Paint black and the image."""
        painter.fillRect(rect, Qt.GlobalColor.black)
        if self._display is None:
            self.waiting.paint_alone(painter, self.area)
            return
        if self._tiles is not None:
            inverted, screen = self._display.inverted, self.screen_size
            self._tiles.paint(
                painter, self._camera, screen, self.ratio, inverted=inverted
            )
            return
        frame = self.sampled()
        if not frame.image.isNull():
            ratio = self.ratio
            frame.image.setDevicePixelRatio(ratio)
            at = QPointF(frame.left / ratio, frame.top / ratio)
            painter.drawImage(at, frame.image)

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:  # noqa: N802
        """Paint annotations over the image."""
        if self._annotations is not None:
            self._annotations.paint(painter)
            self.waiting.paint_over(painter, self.area)
        super().drawForeground(painter, rect)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Begin a drag, or draw or grab a mark."""
        left = event.button() is Qt.MouseButton.LeftButton
        if left and self.marks.press(event.position(), DRAWN.get(self._tool)):
            return
        tools = {
            Qt.MouseButton.LeftButton: self._tool,
            Qt.MouseButton.MiddleButton: Tool.PAN,
            Qt.MouseButton.RightButton: Tool.ZOOM,
        }
        drag = DRAGS.get(tools.get(event.button(), Tool.LENGTH))
        if drag is not None and self._drag is None:
            self._drag = drag(self, event.position())
            self._pressed = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Continue a drag, and report the position under the cursor."""
        if self._drag is not None:
            self._drag.move(event.position())
        else:
            self.marks.move(event.position())
        self._tell_cursor(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Finish a drag; a right click offers what can be done with a mark."""
        at = event.position()
        if self._drag is None:
            self.marks.release(at)
            return
        drag, self._drag = self._drag, None
        drag.end(at)
        if (at - self._pressed).manhattanLength() < _CLICK_PX:
            self._click(event.button(), at)

    def _click(self, button: Qt.MouseButton, at: QPointF) -> None:
        """Offer a menu on a right click, else choose the answer under the cursor."""
        if button is Qt.MouseButton.RightButton:
            self._offer_menu(self.marks.choose_at(at), at)
        elif answer := self._layers.answer_at(at):
            self.answer_clicked.emit(AnswerClicked(answer))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802
        """Offer on its key what a right click offers; that button itself zooms."""
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            self._offer_menu(self.marks.chosen, QPointF(self.area.center()))
        event.accept()

    def _offer_menu(self, mark: "Mark | None", at: QPointF) -> None:
        there = self.viewport().mapToGlobal(at.toPoint())
        if mark is None:
            self.menu_wanted.emit(there)
            return
        from viewer.ui.canvas.mark_menu import mark_menu

        mark_menu(self.marks, mark, self.outline_wanted.emit, self).popup(there)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Cancel a mark that is being drawn, or close it; pass other keys on."""
        if event.key() in _ENTER and self.marks.drawing:
            self.marks.close()
        elif event.key() == Qt.Key.Key_Escape and self.marks.drawing:
            self.marks.cancel()
        else:
            super().keyPressEvent(event)

    def tip_at(self, at: QPointF) -> str:
        """Return where the corner text at a position of the view was read."""
        source = self._annotations.source_at(at) if self._annotations else ""
        return source or self._layers.object_at(self.native_at(at))

    def event(self, event: QEvent) -> bool:
        """Take Escape from the menus while a mark is being drawn."""
        escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if escape and event.type() is QEvent.Type.ShortcutOverride:
            event.setAccepted(self.marks.drawing)
        return super().event(event)

    def wheelEvent(self, event: QWheelEvent) -> None:  # noqa: N802
        """Scroll a stack, past images that cannot be read too; else zoom."""
        event.accept()
        turned = event.angleDelta().y()
        ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        single = self._shown is not None and not is_stack(self._shown)
        if ctrl or (single and current().wheel_zooms_single):
            self.zoom_at(event.position(), _ZOOM_STEP ** (turned / _WHEEL_STEP))
            return
        self._wheel += turned
        steps = int(self._wheel / _WHEEL_STEP)
        if steps:
            self._wheel -= steps * _WHEEL_STEP
            self.scrolled.emit(Scrolled(-steps))

    def leaveEvent(self, event: QEvent) -> None:  # noqa: N802
        """Tell that the cursor is gone."""
        super().leaveEvent(event)
        self.cursor_moved.emit(CursorMoved(None, ""))
        self._tell_hover(None)

    def lay_out(self) -> None:
        """Lay out the overlays."""
        ratio = self.ratio
        grounds: tuple[QRectF, ...] = ()
        if self._annotations is not None and self._display is not None:
            scale = self._camera.scale
            self._annotations.turn(self.orientation)
            self._annotations.key = self.marks.is_key
            self._annotations.tiles = self._tiles
            self._annotations.coarse = self._layers.coarse
            names = self._layers.cell_names(self.native_transform, self.area)
            self._annotations.place(self.area, scale, ratio, self._display, names)
            grounds = self._annotations.grounds
        self._layers.place(self.native_transform, self.area, grounds)
        self._tell_seen(self.marks.chosen)

    def _tell_cursor(self, at: QPointF) -> None:
        if self._shown is None:
            return
        point = self.native_at(at)
        tiles = self._tiles
        text = tiles.value_at(point) if tiles else value_text(self._shown.image, point)
        self.cursor_moved.emit(CursorMoved(point if text else None, text or ""))
        self._tell_hover(self._layers.answer_at(at))

    def _tell_hover(self, answer: "StoredAnswer | None") -> None:
        if answer is not self._hovered:
            self._hovered = answer
            self.answer_hovered.emit(AnswerHovered(answer))
