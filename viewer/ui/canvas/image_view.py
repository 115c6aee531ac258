"""The image view: one image on black, its overlays, and the gestures of a reader.

The scene's coordinates are the view's pixels. One root item carries the transform of
native pixels and every overlay is its child, so image and overlays share one mapping.
The image itself is painted as the background, at the screen's resolution.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QTransform,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from viewer.domain.case import ReferenceBox
from viewer.domain.geometry import PointPx
from viewer.domain.image_geometry import then
from viewer.domain.reference import Mask
from viewer.imaging.pyramid import Pyramid
from viewer.imaging.window_presets import COUNTED
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.application.preferences import current
from viewer.ui.canvas.annotations import Annotations
from viewer.ui.canvas.display import Camera, Display, value_text
from viewer.ui.canvas.events import (
    AnswerClicked,
    AnswerHovered,
    CursorMoved,
    PointedAt,
    Scrolled,
    Tool,
    ZoomChanged,
)
from viewer.ui.canvas.layers import Layers
from viewer.ui.canvas.mark_editing import MarkEditing
from viewer.ui.canvas.mark_menu import mark_menu
from viewer.ui.canvas.marks.item import MarkItem
from viewer.ui.canvas.overlays.answer_item import AnswerItem
from viewer.ui.canvas.overlays.grid import GridOverlay
from viewer.ui.canvas.overlays.halo import TEXT
from viewer.ui.canvas.overlays.locator import Line
from viewer.ui.canvas.stacks import are_alike, is_stack
from viewer.ui.canvas.tools.catalog import CURSORS, DRAGS, DRAWN
from viewer.ui.canvas.turning import TurnedScreen
from viewer.ui.canvas.waiting import Waiting
from viewer.ui.canvas.windowed_view import WindowedView

if TYPE_CHECKING:
    from viewer.services.inspecting.answers import StoredAnswer
    from viewer.ui.canvas.lens import Lens
    from viewer.ui.canvas.tools.drag import Drag

_CLICK_PX: Final = 4  # a press that moves less is no drag
_ZOOM_STEP: Final = 1.2
_WHEEL_STEP: Final = 120


class ImageView(WindowedView):
    """Shows one image.

    Left drag is the tool that is set, middle drag pans, right drag zooms; the wheel
    scrolls a stack and zooms a single image, with Ctrl it always zooms.
    """

    cursor_moved = Signal(object)
    """CursorMoved"""
    zoom_changed = Signal(object)
    """ZoomChanged"""
    answer_hovered = Signal(object)
    """AnswerHovered"""
    answer_clicked = Signal(object)
    """AnswerClicked"""
    outline_wanted = Signal()
    """The user wants the content of the chosen mark outlined."""
    scrolled = Signal(object)
    """Scrolled"""
    framed = Signal()
    """The user zoomed or moved the image, or fitted it."""
    pointed = Signal(object)
    """PointedAt"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: ShownImage | None = None
        self._before: tuple[ShownImage, Display] | None = None
        self._annotations: Annotations | None = None
        self._camera = Camera(1.0, 1.0, 0, 0)
        self.orientation = 1
        """How the image is turned, as in TIFF 6.0; 1 is as in the file."""
        self._fitted = True
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
        self.setAccessibleName("Image")

    def show_image(self, shown: ShownImage, pyramid: Pyramid | None = None) -> None:
        """Show an image; the next of a series keeps window and zoom.

        ``pyramid`` is the image's, built in the background; without one it is made
        here, which takes a large radiograph tens of milliseconds.
        """
        self.waiting.end()
        clamped = shown.header.modality in COUNTED and shown.image.values.ndim == 2
        display = Display(pyramid or Pyramid(shown.image), clamped=clamped)
        if self._before is not None and are_alike(self._before[0], shown):
            display.follow(self._before[1])
        else:
            self._layers.set_grid(None)
            self._fitted, self.orientation = True, 1
        self._shown, self._display, self._before = shown, display, (shown, display)
        self._annotations = Annotations(shown)
        self._layers.set_reference(None)
        self._layers.set_answers(())
        self._layers.set_locator((), None)
        self.marks.show(shown)
        self._recentre()
        self._tell_sense()
        self._tell_window()

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
        self._layers.set_grid(None)
        self._layers.set_reference(None)
        self._layers.set_answers(())
        self._layers.set_locator((), None)
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

    def set_answers(self, answers: "tuple[StoredAnswer, ...]") -> None:
        """Draw answers; each model's colour goes by the order they come in."""
        self._layers.set_answers(answers)
        self.redraw()

    @property
    def answer_items(self) -> tuple[AnswerItem, ...]:
        """The answers drawn, the topmost last."""
        return self._layers.answers

    @property
    def mark_items(self) -> tuple[MarkItem, ...]:
        """The marks drawn, the topmost first."""
        return self._layers.marks

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
    def zoom(self) -> float:
        """Device pixels per native pixel."""
        return self._camera.scale

    def fit(self) -> None:
        """Show the whole image, and keep it whole when the view changes its size."""
        self._fitted = True
        self._recentre()
        self.framed.emit()

    @property
    def fitted(self) -> bool:
        """Whether the whole image is kept in view."""
        return self._fitted

    @property
    def whole_zoom(self) -> float:
        """The zoom that shows the whole image."""
        return self._whole().scale

    @property
    def centre(self) -> PointPx:
        """The native position in the middle of the view."""
        return self.native_at(self.area.center())

    def look_at(self, centre: PointPx, zoom: float) -> None:
        """Show a native position in the middle, at a zoom."""
        self._camera = self._camera.zoomed(zoom / self._camera.scale, 0.0, 0.0)
        moved = self.area.center() - self.to_view(centre)
        self.pan_by(moved.x(), moved.y())

    def one_to_one(self) -> None:
        """Show each native pixel as one of the screen's."""
        if self._shown is not None:
            image, screen = self._shown.image, self._turned.size_before
            aspect = image.geometry.pixel_aspect
            self._move(Camera.centred(image.size, screen, aspect, 1.0))

    def zoom_by(self, factor: float) -> None:
        """Zoom about the middle of the view."""
        self.zoom_at(self.area.center(), factor)

    def zoom_at(self, at: QPointF, factor: float) -> None:
        """Zoom and keep the point at a position of the view."""
        x, y = self._unturned(at)
        self._move(self._camera.zoomed(factor, x, y))

    def pan_by(self, x: float, y: float) -> None:
        """Move the image by pixels of the view."""
        ratio = self.ratio
        x, y = self._turned.moved_before(x * ratio, y * ratio)
        self._move(self._camera.panned(x, y))

    def turn(self, further: int) -> None:
        """Turn the image once more, about the middle of the view."""
        if self._shown is None:
            return
        centre, fitted = self.centre, self._fitted
        self.orientation = then(self.orientation, further)
        if fitted:
            self.fit()
        else:
            self.look_at(centre, self.zoom)

    @property
    def _turned(self) -> TurnedScreen:
        """The view's screen, with the turn of the image."""
        return TurnedScreen(self.screen_size, self.orientation)

    def _unturned(self, at: QPointF) -> tuple[float, float]:
        """Return the device position of a position of the view, before the turn."""
        ratio = self.ratio
        return self._turned.before(at.x() * ratio, at.y() * ratio)

    @property
    def _native(self) -> QTransform:
        """Maps native pixels to those of the view."""
        ratio = self.ratio
        return self._camera.transform(ratio) * self._turned.transform(ratio)

    def to_native(self, at: QPoint) -> PointPx:
        """Return the native position under a pixel of the viewport."""
        return self.native_at(QPointF(at))

    def native_at(self, at: QPointF) -> PointPx:
        """Return the native position under a position of the view."""
        return self._camera.to_native(*self._unturned(at))

    def to_view(self, point: PointPx) -> QPointF:
        """Return a native position in the view's pixels."""
        return self._native.map(QPointF(point.x, point.y))

    def set_tool(self, tool: Tool) -> None:
        """Choose what a drag with the left button does."""
        self._tool = tool
        self.marks.cancel()
        self.viewport().setCursor(CURSORS[tool])

    def set_locator(self, lines: Sequence[Line], cross: PointPx | None) -> None:
        """Draw reference lines and a cross-hair in place of those before."""
        self._layers.set_locator(lines, cross)
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
        self._lens.show_at(at, self._display, self._camera, self._turned)

    def drawBackground(self, painter: QPainter, rect: QRectF | QRect) -> None:  # noqa: N802
        """Paint black and the image."""
        painter.fillRect(rect, Qt.GlobalColor.black)
        if self._display is None:
            self.waiting.paint_alone(painter, self.area)
            return
        seen = self._camera.viewport(self._turned.size_before)
        frame = self._display.frame(seen, self._turned)
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

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep the whole image in view, or else the point in the middle."""
        super().resizeEvent(event)
        self.stage.setSceneRect(self.area)
        if self._fitted:
            self._recentre()
        elif event.oldSize().isValid():
            grown = event.size() - event.oldSize()
            ratio = self.ratio / 2
            wider, higher = grown.width() * ratio, grown.height() * ratio
            if self._turned.turn.transpose:
                wider, higher = higher, wider
            self._camera = self._camera.panned(wider, higher)
            self.redraw()

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
            menu = mark_menu(self.marks, at, self.outline_wanted.emit, self)
            if menu is not None:
                menu.popup(self.viewport().mapToGlobal(at.toPoint()))
        elif answer := self._layers.answer_at(at):
            self.answer_clicked.emit(AnswerClicked(answer))

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Cancel a mark that is being drawn; other keys are passed on."""
        if event.key() == Qt.Key.Key_Escape and self.marks.drawing:
            self.marks.cancel()
        else:
            super().keyPressEvent(event)

    def tip_at(self, at: QPointF) -> str:
        """Return where the corner text at a position of the view was read."""
        return self._annotations.source_at(at) if self._annotations else ""

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
        stacked = self._shown is None or is_stack(self._shown)
        if ctrl or not stacked:
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

    def _recentre(self) -> None:
        """Fit the image if it is to be whole, else keep it where it is."""
        if self._shown is None:
            return
        if not self._fitted:
            self.redraw()
            return
        self._move(self._whole(), fitted=True)

    def _whole(self) -> Camera:
        """Return the camera that shows the whole image, as it is without one."""
        if self._shown is None:
            return self._camera
        image = self._shown.image
        aspect = image.geometry.pixel_aspect
        return Camera.fitted(image.size, self._turned.size_before, aspect)

    def _move(self, camera: Camera, *, fitted: bool = False) -> None:
        if self._shown is None:
            return
        before, self._camera, self._fitted = self._camera, camera, fitted
        self.redraw()
        if not fitted:
            self.framed.emit()
        if camera.scale != before.scale:
            self.zoom_changed.emit(ZoomChanged(camera.scale))

    def redraw(self) -> None:
        """Lay out the overlays, and paint again."""
        ratio = self.ratio
        grounds: tuple[QRectF, ...] = ()
        if self._annotations is not None and self._display is not None:
            scale = self._camera.scale
            self._annotations.turn(self.orientation)
            self._annotations.place(self.area, scale, ratio, self._display)
            grounds = self._annotations.grounds
        self._layers.place(self._native, self.area, grounds)
        self.viewport().update()

    def _tell_cursor(self, at: QPointF) -> None:
        if self._shown is None:
            return
        point = self.native_at(at)
        text = value_text(self._shown.image, point)
        self.cursor_moved.emit(CursorMoved(point if text else None, text or ""))
        self._tell_hover(self._layers.answer_at(at))

    def _tell_hover(self, answer: "StoredAnswer | None") -> None:
        if answer is not self._hovered:
            self._hovered = answer
            self.answer_hovered.emit(AnswerHovered(answer))
