"""The image under review: framed, without names, and drawn on by the reader."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from PySide6.QtCore import QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QMouseEvent,
    QPainter,
    QTransform,
)
from PySide6.QtWidgets import QWidget

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    LabelledBox,
    MaskAnswer,
    PointAnswer,
)
from viewer.domain.case import ImageRef, ReferenceBox
from viewer.domain.form import PlaceKind
from viewer.domain.form_values import Canvas
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import PixelImage
from viewer.domain.reference import Mask
from viewer.services.viewing.opened_image import OpenedImage
from viewer.services.viewing.view_image import CornerText, ShownImage
from viewer.ui.canvas.display import MAX_SCALE, MIN_SCALE, Camera, Display
from viewer.ui.canvas.events import Tool
from viewer.ui.canvas.image_view import ImageView
from viewer.ui.canvas.marks.brush import first_brush
from viewer.ui.canvas.overlays.answer_item import AnswerShape
from viewer.ui.canvas.overlays.box_answer import BoxShape
from viewer.ui.canvas.overlays.cell_answer import CellShape, paint_box
from viewer.ui.canvas.overlays.grid import GridOverlay, cell_rect
from viewer.ui.canvas.overlays.heat_map_answer import HeatMapShape
from viewer.ui.canvas.overlays.mask_answer import MaskShape
from viewer.ui.canvas.overlays.point_answer import PointShape
from viewer.ui.canvas.overlays.report_answer import ReportShape
from viewer.ui.panels.review.strokes import (
    BEGINS,
    Hand,
    Stroke,
    stepped,
)
from viewer.ui.widgets import theme

_CONTEXT: Final = 0.5
"""An answer is framed with so much of the field's height and width around it."""
_MARGIN: Final = 1.1
"""A larger answer is framed with a tenth of its own size around it."""
_BRUSH_STEP: Final = 1.25
_STEPPED: Final = frozenset({PlaceKind.CELL, PlaceKind.POINT})
_CTRL: Final = Qt.KeyboardModifier.ControlModifier
_SHIFT: Final = Qt.KeyboardModifier.ShiftModifier
_ALT: Final = Qt.KeyboardModifier.AltModifier


class ReviewImage(ImageView):
    """Shows a case without the identifying names in its file.

    While something is to be placed the left button places it: Shift adds to what is
    there (of a mask: fills a closed line), Alt erases, Ctrl changes the window as
    elsewhere.
    """

    placed = Signal(object)
    """Answer: the reader placed something, or placed it elsewhere"""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.waiting.empty = ""  # no file is opened here
        self.canvas: Canvas | None = None
        self._kind: PlaceKind | None = None
        self._stroke: Stroke | None = None
        self.answer: Answer | None = None
        self.beside: tuple[tuple[Answer, str], ...] = ()
        """The answers to other questions, each with its colour"""
        self.subject: Answer | None = None
        self.reference_shown: Mask | None = None
        self.brush = 1.0
        self._shows_grid = False
        self._hidden = False
        self._boxes = ReportShape(())
        self._own: ImageRef | None = None
        self._left: dict[ImageRef, tuple[Display, Camera | None]] = {}

    def show_case(
        self, opened: OpenedImage, canvas: Canvas, boxes: Sequence[LabelledBox] = ()
    ) -> None:
        """Show a case's own image, whole, with only a model's boxes drawn on it."""
        self.forget()
        self.canvas, self.brush = canvas, first_brush(canvas.geometry)
        self._own = opened.shown.ref
        self._show(opened, boxes)
        self.reset()

    def show_exhibit(
        self, opened: OpenedImage, boxes: Sequence[LabelledBox] = ()
    ) -> None:
        """Show another image of the case, or its own again, as it was left."""
        if self._shown is not None and self._display is not None:
            camera = None if self._fitted else self._camera
            self._left[self._shown.ref] = self._display, camera
        self._show(opened, boxes)
        display, camera = self._left.get(opened.shown.ref, (None, None))
        if display is not None and self._display is not None:
            self._display.follow(display)
        if camera is not None:
            self._move(camera)
        self.show_grid(self._shows_grid)
        self._show_cursor()

    def _show(self, opened: OpenedImage, boxes: Sequence[LabelledBox]) -> None:
        shown = opened.shown
        nameless = ShownImage(shown.ref, shown.header, shown.image, CornerText())
        self._boxes = ReportShape(boxes)
        self.show_image(nameless, opened.pyramid)

    @property
    def shown_ref(self) -> ImageRef | None:
        """The image shown, None without one."""
        return self._shown.ref if self._shown is not None else None

    @property
    def on_own(self) -> bool:
        """Whether the image shown is the case's own, which places are drawn on."""
        return self._shown is not None and self._shown.ref == self._own

    def forget(self) -> None:
        """Remove everything drawn for a case."""
        self._stroke, self.answer, self.subject = None, None, None
        self.beside = ()
        self._boxes = ReportShape(())
        self._left.clear()
        self.stop_placing()
        self._shows_grid = False
        self.set_grid(None)
        self.set_reference(None)
        self.hide_drawn(hidden=False)

    def show_subject(self, answer: Answer | None, *, framed: bool = True) -> None:
        """Draw the answer that the question is about, framed with context or not."""
        self.subject = answer
        if framed and answer is not None and self.canvas is not None:
            self.frame(extent_of(answer, self.canvas))
        self.redraw()

    def set_reference(
        self, mask: Mask | None, boxes: tuple[ReferenceBox, ...] = ()
    ) -> None:
        """Draw the reference, or none."""
        self.reference_shown = mask
        super().set_reference(mask, boxes)

    def frame_revealed(self) -> None:
        """Show the reviewed answer together with the reference."""
        if self.canvas is None or self.reference_shown is None:
            return
        box = self._layers.reference_extent
        if self.subject is not None:
            box = box.united(extent_of(self.subject, self.canvas))
        self.frame(box)

    def toggle_frame(self) -> None:
        """Switch between the whole image and an enlarged view of the answer."""
        subject = self.subject or self.answer
        drawn = subject is not None and self.on_own
        if self._fitted and drawn and subject and self.canvas is not None:
            self.frame(extent_of(subject, self.canvas))
        else:
            self.fit()

    def frame(self, box: QRectF) -> None:
        """Centre a native rectangle, with at least half of the field visible."""
        if self.canvas is None or box.isNull() or self._shown is None:
            return
        aspect = self._shown.image.geometry.pixel_aspect
        self._move(framed(box, self.canvas, self.screen_size, aspect))

    @property
    def pixels(self) -> tuple[ImageRef, PixelImage]:
        """The image on the screen, and its pixels; one must be shown."""
        assert self._shown is not None  # noqa: S101 - whoever asks has seen it
        return self._shown.ref, self._shown.image

    def place(self, kind: PlaceKind, answer: Answer | None = None) -> None:
        """Let the left button place a cell, a point, boxes or a mask."""
        self._kind, self.answer = kind, answer
        self.marks.cancel()
        self.show_grid(kind is PlaceKind.CELL)
        self._show_cursor()
        self.redraw()

    def _show_cursor(self) -> None:
        if self._kind is not None and self.on_own:
            self.viewport().setCursor(Qt.CursorShape.CrossCursor)
        else:
            self.set_tool(Tool.WINDOW)

    def stop_placing(self) -> None:
        """Let the left button change the window again; placed answers stay drawn."""
        self._kind, self._stroke = None, None
        self.set_tool(Tool.WINDOW)

    @property
    def placing(self) -> PlaceKind | None:
        """The kind of answer that is being placed, None without one."""
        return self._kind

    @property
    def drawing(self) -> bool:
        """Whether a stroke is in progress."""
        return self._stroke is not None

    def set_answer(self, answer: Answer | None) -> None:
        """Draw the reader's answer, such as after an undo."""
        self.answer = answer
        self.redraw()

    def show_beside(self, answers: Sequence[tuple[Answer, str]]) -> None:
        """Draw the answers to other questions too, each in its colour."""
        self.beside = tuple(answers)
        self.redraw()

    def step(self, right: int, down: int) -> bool:
        """Move a cell or a point by keys; tell whether anything moved."""
        if self.canvas is None or self._kind not in _STEPPED or not self.on_own:
            return False
        self._settle(stepped(self._kind, self.canvas, self.answer, right, down))
        return True

    def widen_brush(self, steps: int) -> None:
        """Make the brush wider or, with negative steps, narrower."""
        least = 1.0
        most = (
            min(self.canvas.size.rows, self.canvas.size.columns) if self.canvas else 1
        )
        self.brush = min(max(self.brush * _BRUSH_STEP**steps, least), most)

    def show_grid(self, shown: bool) -> None:
        """Draw the grid of the question over the image, or remove it."""
        canvas, self._shows_grid = self.canvas, shown
        drawn = shown and self.on_own
        overlay = GridOverlay(canvas.grid, canvas.field) if drawn and canvas else None
        self.set_grid(overlay)

    def toggle_grid(self) -> None:
        """Show the grid, or hide it."""
        self.show_grid(not self._shows_grid)

    @property
    def drawn_hidden(self) -> bool:
        """Whether everything over the image is hidden."""
        return self._hidden

    def hide_drawn(self, *, hidden: bool) -> None:
        """Hide everything over the image, or show it again."""
        self._hidden = hidden
        self.hide_overlays(hidden)

    def drawForeground(self, painter: QPainter, rect: QRectF | QRect) -> None:  # noqa: N802
        """Draw the subject of the question and the reader's answer over the image."""
        super().drawForeground(painter, rect)
        if self.canvas is None or self._hidden:
            return
        native, palette = self._camera.transform(self.ratio), theme.current()
        self._boxes.paint(painter, native, QColor(palette.models[0]))
        if self.on_own:
            self._paint_places(painter, native)

    def _paint_places(self, painter: QPainter, native: QTransform) -> None:
        """Draw what lies on the case's own image."""
        palette = theme.current()
        if self.subject is not None:
            self._paint_subject(painter, native, QColor(palette.models[0]))
        for answer, color in self.beside:
            self._paint(painter, native, answer, color)
        reader = QColor(palette.reader)
        shown = self.answer
        if self._stroke is not None and not self._stroke.paint(painter, native, reader):
            shown = self._stroke.answer()
        if shown is not None:
            self._paint(painter, native, shown, palette.reader)

    def _paint_subject(
        self, painter: QPainter, native: QTransform, color: QColor
    ) -> None:
        """Draw the subject; a cell only as a frame, to keep its content visible."""
        if isinstance(self.subject, CellAnswer) and self.canvas is not None:
            box = native.mapRect(_cell_rect(self.subject, self.canvas))
            paint_box(painter, box, color, filled=False)
        elif self.subject is not None:
            self._paint(painter, native, self.subject, color.name())

    def _paint(
        self, painter: QPainter, native: QTransform, answer: Answer, color: str
    ) -> None:
        if self.canvas is not None:
            painter.save()
            shape_of_said(answer, self.canvas).paint(painter, native, QColor(color))
            painter.restore()

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Begin a stroke if something is to be placed."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        keys, left = event.modifiers(), event.button() is Qt.MouseButton.LeftButton
        begins = BEGINS.get(self._kind) if self._kind and self.on_own else None
        if not left or keys & _CTRL or begins is None or self.canvas is None:
            super().mousePressEvent(event)
            return
        add = bool(keys & _SHIFT)
        hand = Hand(add=add, erase=bool(keys & _ALT), fill=add, brush=self.brush)
        at = self.native_at(event.position())
        self._stroke = begins(self.canvas, self.answer, hand, at)
        self.redraw()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Continue a stroke."""
        if self._stroke is None:
            super().mouseMoveEvent(event)
            return
        self._stroke.to(self.native_at(event.position()))
        self.redraw()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """End a stroke; its location becomes the answer."""
        stroke = self._stroke
        if stroke is None or event.button() is not Qt.MouseButton.LeftButton:
            super().mouseReleaseEvent(event)
            return
        stroke.to(self.native_at(event.position()))
        self._stroke = None
        self._settle(stroke.answer())

    def _settle(self, answer: Answer | None) -> None:
        changed, self.answer = answer != self.answer, answer
        self.redraw()
        if changed:
            self.placed.emit(answer)


@lru_cache(maxsize=32)
def shape_of_said(answer: Answer, canvas: Canvas) -> AnswerShape:
    """Return the shape that draws an answer; a mask's outline is traced only once."""
    if isinstance(answer, PointAnswer):
        return PointShape(answer)
    if isinstance(answer, BoxesAnswer):
        return BoxShape(answer, None)
    if isinstance(answer, MaskAnswer):
        return MaskShape(answer, None)
    if isinstance(answer, HeatMapAnswer):
        return HeatMapShape(answer, None)
    return CellShape(_cell_rect(answer, canvas))


def _cell_rect(answer: CellAnswer, canvas: Canvas) -> QRectF:
    return cell_rect(canvas.grid, canvas.field, answer.cell)


def extent_of(answer: Answer, canvas: Canvas) -> QRectF:
    """Return the native rectangle around an answer; of a map around what it marks."""
    shape = shape_of_said(answer, canvas)
    if isinstance(answer, HeatMapAnswer):
        return shape.frames(QTransform())[0]
    return shape.extent


def framed(box: QRectF, canvas: Canvas, screen: SizePx, aspect: float) -> Camera:
    """Return the camera that shows a native rectangle with context.

    Half of the field's width and height is in sight, or all of a larger rectangle; it
    is moved so far that nothing beside the image is shown that need not be.
    """
    field = _on_image(canvas.field, canvas.size)
    width = max(_CONTEXT * (field.x1 - field.x0), _MARGIN * box.width())
    height = max(_CONTEXT * (field.y1 - field.y0), _MARGIN * box.height())
    scale = min(screen.columns / width, screen.rows / (height * aspect))
    scale = min(max(scale, MIN_SCALE), MAX_SCALE)
    middle = box.center()
    left = _held(
        screen.columns / 2 - middle.x() * scale,
        screen.columns,
        canvas.size.columns * scale,
    )
    tall = scale * aspect
    top = _held(
        screen.rows / 2 - middle.y() * tall, screen.rows, canvas.size.rows * tall
    )
    return Camera(scale, aspect, round(left), round(top))


def _held(start: float, screen: float, image: float) -> float:
    """Return the offset of an image that covers the screen, or is centred in it."""
    if image <= screen:
        return (screen - image) / 2
    return min(0.0, max(start, screen - image))


def _on_image(field: BoxPx, size: SizePx) -> BoxPx:
    return BoxPx(
        max(field.x0, 0.0),
        max(field.y0, 0.0),
        min(field.x1, float(size.columns)),
        min(field.y1, float(size.rows)),
    )
