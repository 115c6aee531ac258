"""Everything that is drawn over the image and moves with it."""

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QTransform
from PySide6.QtWidgets import QGraphicsItem, QGraphicsRectItem, QGraphicsScene

from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx
from viewer.domain.reference import Mask
from viewer.services.answers import StoredAnswer
from viewer.ui.canvas.overlays.cell_answer import AnswerItem, model_colors
from viewer.ui.canvas.overlays.grid import GridItem, GridOverlay
from viewer.ui.canvas.overlays.halo import Face
from viewer.ui.canvas.overlays.reference import ReferenceItem
from viewer.ui.canvas.tools.length import LengthItem
from viewer.ui.theme import current


class Layers:
    """The overlays, children of one item that maps native pixels to the view."""

    def __init__(self, scene: QGraphicsScene, face: Face) -> None:
        self._scene, self._face = scene, face
        self._root = QGraphicsRectItem()
        scene.addItem(self._root)
        self._placed = QTransform(), QRectF(), tuple[QRectF, ...]()
        self._grid: GridItem | None = None
        self._reference: ReferenceItem | None = None
        self._answers: tuple[AnswerItem, ...] = ()
        self._drawing: LengthItem | None = None
        self._lengths: dict[ImageRef, list[LengthItem]] = {}

    @property
    def grid(self) -> GridOverlay | None:
        """The grid that is loaded."""
        return self._grid.overlay if self._grid else None

    @property
    def answers(self) -> tuple[AnswerItem, ...]:
        """The answers that are loaded, the topmost last."""
        return self._answers

    def place(
        self, native: QTransform, area: QRectF, grounds: tuple[QRectF, ...]
    ) -> None:
        """Put native pixels where the image lies, and tags and labels beside it.

        ``grounds`` are the view's rectangles that text covers already.
        """
        if (native, area, grounds) == self._placed:
            return
        self._placed = native, area, grounds
        self._lay_out()

    def _lay_out(self) -> None:
        native, area, grounds = self._placed
        self._root.setTransform(native)
        clear = native.mapRect(self._reference.extent) if self._reference else QRectF()
        taken = list(grounds)
        for item in reversed(self._answers):
            taken.append(item.lay_out(native, area, taken, clear))
        if self._grid:
            self._grid.lay_out((*taken, clear) if self._reference else tuple(taken))

    def hide(self, *, hidden: bool) -> None:
        """Draw none of the overlays, or all that are loaded."""
        self._root.setVisible(not hidden)

    def set_grid(self, overlay: GridOverlay | None) -> None:
        """Load a grid in place of the one before."""
        self._remove(self._grid)
        self._grid = GridItem(overlay, self._face, self._root) if overlay else None
        self._order()

    def set_reference(self, mask: Mask | None) -> None:
        """Load a reference mask in place of the one before."""
        self._remove(self._reference)
        self._reference = None
        if mask is not None and not mask.is_empty:
            self._reference = ReferenceItem(mask, current().reference, self._root)
        self._order()

    def set_answers(self, answers: tuple[StoredAnswer, ...]) -> None:
        """Load answers in place of those before; the first named lies on top."""
        for item in self._answers:
            self._remove(item)
        colors = model_colors([a.model for a in answers], current().models)
        self._answers = tuple(
            AnswerItem(answer, colors[answer.model], self._face, self._root)
            for answer in reversed(answers)
        )
        self._order()

    def set_length(self, ref: ImageRef, item: LengthItem | None, *, done: bool) -> None:
        """Show the line being drawn; a done one stays with its image."""
        self._remove(self._drawing)
        self._drawing = None if done else item
        if done and item is not None:
            self._lengths.setdefault(ref, []).append(item)
        self._order()

    def length_item(self, start: PointPx, end: PointPx, text: str) -> LengthItem:
        """Return a line on this scene."""
        return LengthItem(start, end, text, self._face, self._root)

    def lengths_of(self, ref: ImageRef) -> tuple[str, ...]:
        """Return what the lines on an image say."""
        return tuple(item.text for item in self._lengths.get(ref, ()))

    def show_lengths_of(self, ref: ImageRef | None) -> None:
        """Show the lines of one image only (IHE BIR: on the slice where drawn)."""
        for other, items in self._lengths.items():
            for item in items:
                item.setVisible(other == ref)

    def remove_lengths_of(self, ref: ImageRef) -> None:
        """Remove the lines of an image."""
        for item in self._lengths.pop(ref, ()):
            self._remove(item)

    def answer_at(self, at: QPointF) -> StoredAnswer | None:
        """Return the topmost answer drawn at a position of the view."""
        for item in self._scene.items(at):
            if isinstance(item, AnswerItem):
                return item.answer
        return None

    def _remove(self, item: QGraphicsItem | None) -> None:
        if item is not None:
            self._scene.removeItem(item)

    def _order(self) -> None:
        """Stack grid, reference, answers, lengths, and place them."""
        items = (self._grid, self._reference, *self._answers, self._drawing)
        for depth, item in enumerate(items):
            if item is not None:
                item.setZValue(depth)
        for lines in self._lengths.values():
            for line in lines:
                line.setZValue(len(items))
        self._lay_out()
