"""The overlays that are drawn over the image and move with it.

The window imports this module before its first image, which has no overlay yet: each
kind of item is imported with its first one.
"""

from time import thread_time
from typing import TYPE_CHECKING, Final
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPointF, QRectF, QTimer
from PySide6.QtGui import QTransform
from PySide6.QtWidgets import QGraphicsItem, QGraphicsRectItem, QGraphicsScene
from shiboken6 import isValid

from viewer.domain.case import ReferenceBox
from viewer.domain.geometry import PointPx
from viewer.domain.reference import Mask
from viewer.domain.slide import SlideMap, is_region
from viewer.ui.canvas.marks.book import DrawnMark
from viewer.ui.canvas.overlays.aside import NOTHING, Edges, Surroundings, edges
from viewer.ui.canvas.overlays.grid import GridItem, GridOverlay
from viewer.ui.canvas.overlays.halo import Face
from viewer.ui.widgets.theme import current

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from viewer.domain.presentation import PresentationState
    from viewer.domain.slide_objects import SlideObjects
    from viewer.services.inspecting.answers import StoredAnswer
    from viewer.ui.canvas.marks.item import MarkItem
    from viewer.ui.canvas.marks.overlay import MarksOverlay
    from viewer.ui.canvas.overlays.answer_item import AnswerItem
    from viewer.ui.canvas.overlays.locator import Line, Locator
    from viewer.ui.canvas.overlays.objects import ObjectsItem
    from viewer.ui.canvas.overlays.planes import PlanesItem
    from viewer.ui.canvas.overlays.presented import PresentedItem
    from viewer.ui.canvas.overlays.reference import ReferenceItem
    from viewer.ui.canvas.overlays.reference_boxes import ReferenceBoxesItem


_AT_ONCE: Final = 8
"""Where there are more labels, they are placed in later turns of the event loop."""
_FEW_S: Final = 0.01
"""So long a turn computes at most to place a few labels at once."""
_TURN_S: Final = 0.006
"""So long a later turn places labels."""
_CLEAR_OF_LINES: Final = 40
"""So many labels keep off other shapes, which takes time; the rest off texts alone."""
_TAKES_TURNS: "Final[WeakValueDictionary[str, Layers]]" = WeakValueDictionary()
"""The layers, of all views, whose labels are being placed turn by turn."""


class Layers:
    """The overlays, children of one item that maps native pixels to the view.

    They are laid out by the next :meth:`place`, because opening an image loads several
    layers at once. More than a few labels have their places in further turns of the
    event loop, as there may be hundreds, of the same marks in several views, one view
    after another, and so has one of a few that take too long; until then they move with
    their shapes.
    """

    def __init__(self, scene: QGraphicsScene, face: Face) -> None:
        self._scene, self._face = scene, face
        self._root = QGraphicsRectItem()
        scene.addItem(self._root)
        self._placed = QTransform(), QRectF(), tuple[QRectF, ...]()
        self._named: tuple[object, tuple[QRectF, ...]] = (None, ())
        self._stale = False
        self._unplaced: Iterator[None] = iter(())
        self._later = QTimer(scene, singleShot=True, interval=0)
        self._later.timeout.connect(self._take_turn)
        self._planes: PlanesItem | None = None
        self._bits: npt.NDArray[np.bool_] | None = None
        self._state: PresentationState | None = None
        self._shutter: PlanesItem | None = None
        self._presented: PresentedItem | None = None
        self._grid: GridItem | None = None
        self._reference: ReferenceItem | ReferenceBoxesItem | None = None
        self._boxes: ReferenceBoxesItem | None = None
        self._referenced: tuple[Mask | None, tuple[ReferenceBox, ...], str] | None = (
            None
        )
        self._answers: tuple[AnswerItem, ...] = ()
        self._marks: MarksOverlay | None = None
        self._locator: Locator | None = None
        self._objects: ObjectsItem | None = None
        self.slide: SlideMap | None = None
        """The whole slide that is shown; answers about regions lie where these are."""

    @property
    def grid(self) -> GridOverlay | None:
        """The grid that is loaded."""
        return self._grid.overlay if self._grid else None

    @property
    def reference_extent(self) -> QRectF:
        """The smallest native rectangle around the reference, null without one."""
        return self._reference.extent if self._reference else QRectF()

    @property
    def answers(self) -> "tuple[AnswerItem, ...]":
        """The answers that are loaded, the topmost last."""
        return self._answers

    @property
    def marks(self) -> "tuple[MarkItem, ...]":
        """The marks that are drawn, the topmost first."""
        return self._marks.items[::-1] if self._marks else ()

    def cell_names(self, native: QTransform, area: QRectF) -> tuple[QRectF, ...]:
        """Return the view's rectangles of the names of the grid's cells, if shown."""
        if self._grid is None or not self._root.isVisible():
            return ()
        asked = self._grid, QTransform(native), area
        if self._named[0] != asked:  # twice in each frame
            self._named = asked, tuple(self._grid.corners(native, area))
        return self._named[1]

    def place(
        self, native: QTransform, area: QRectF, grounds: tuple[QRectF, ...]
    ) -> None:
        """Put native pixels where the image lies, and tags and labels beside it.

        ``grounds`` are the view's rectangles that text covers already.
        """
        if self._stale or (native, area, grounds) != self._placed:
            self._placed, self._stale = (native, area, grounds), False
            self._root.setTransform(native)
            if self._marks is not None:
                self._marks.lie_on(native, area)
            self._unplaced = self._lay_out(native, area, grounds)
            self._go_on(0.0 if self._many else _FEW_S)

    @property
    def _many(self) -> bool:
        """Whether there are too many labels to place them at once."""
        return len(self._answers) + len(self.marks) > _AT_ONCE

    @property
    def settled(self) -> bool:
        """Whether every label has its place, or the view is gone."""
        return not (isValid(self._later) and self._later.isActive())

    def settle(self) -> None:
        """Give every label its place now."""
        while not self.settled:
            self._go_on()

    def _take_turn(self) -> None:
        """Place labels for a while, unless another view is at it: a turn is for one."""
        before = _TAKES_TURNS.get("first", self)
        if before is not self and not before.settled:
            self._later.start()
            return
        _TAKES_TURNS["first"] = self
        self._go_on()

    def _go_on(self, seconds: float = _TURN_S) -> None:
        """Place labels until so many seconds have gone by, and the rest later."""
        self._later.stop()
        until = thread_time() + seconds
        for _ in self._unplaced:
            if thread_time() > until:
                self._later.start()
                return

    def _lay_out(
        self, native: QTransform, area: QRectF, grounds: tuple[QRectF, ...]
    ) -> "Iterator[None]":
        clear = native.mapRect(self._reference.extent) if self._reference else QRectF()
        if self._grid:
            self._grid.lay_out((clear,) if self._reference else (), grounds)
        tagged: list[tuple[AnswerItem | MarkItem, QTransform]]
        # The topmost answer chooses first: its tag must not give way to one below.
        tagged = [(item, item.transform() * native) for item in self._answers[::-1]]
        tagged += [(item, native) for item in self.marks[::-1]]
        self._follow(tagged, native, area, grounds)
        yield
        taken, shapes = [*grounds, *self.cell_names(native, area)], list[Edges]()
        for item, to_view in tagged:
            shapes.append(edges(item.frames(to_view)))
            yield
        covered, whole = edges(taken), np.concatenate((NOTHING, *shapes))
        for n, (item, to_view) in enumerate(tagged):
            others = whole  # the words of a mark keep off its own lines too
            if n >= _CLEAR_OF_LINES:
                others = NOTHING
            elif n < len(self._answers):
                others = np.concatenate((NOTHING, *shapes[:n], *shapes[n + 1 :]))
            seen = Surroundings(area, covered, others, clear)
            taken.append(item.lay_out(to_view, seen))
            covered = np.concatenate((covered, edges(taken[-1:])))
            yield
        if self._boxes:
            cells = self._grid.names(native, area) if self._grid else ()
            self._boxes.lay_out((*taken, *cells))
        if self._marks is not None:
            self._marks.words_moved()

    def _follow(
        self, tagged: "Sequence[tuple[AnswerItem | MarkItem, QTransform]]",
        native: QTransform, area: QRectF, grounds: tuple[QRectF, ...],
    ) -> None:  # fmt: skip
        """Let labels move with their shapes until they are placed.

        A mark that is being drawn is a new one at each move of the mouse: its words
        are placed at once, off all other texts, or its value would flicker.
        """
        for item, to_view in tagged:
            item.follow(to_view)
        new = [mark for mark in self.marks if mark.tag.isNull()]
        if self._many and len(new) == 1:
            texts = edges((*grounds, *(item.tag for item, _ in tagged)))
            new[0].lay_out(native, Surroundings(area, texts))

    def hide(self, *, hidden: bool) -> None:
        """Hide all overlays, or show those that are loaded."""
        self._root.setVisible(not hidden)

    @property
    def hidden(self) -> bool:
        """Whether all overlays are hidden."""
        return not self._root.isVisible()

    def set_grid(self, overlay: GridOverlay | None) -> None:
        """Load a grid in place of the one before."""
        self._remove(self._grid)
        self._grid = GridItem(overlay, self._face, self._root) if overlay else None
        self._order()

    def clear(self) -> None:
        """Remove what belongs to one image: reference, planes, answers and lines."""
        self.set_reference(None)
        self.set_planes(None)
        self.set_presentation(None)
        self.set_answers(())
        self.set_locator((), None)

    def set_reference(
        self, mask: Mask | None, boxes: tuple[ReferenceBox, ...] = ()
    ) -> None:
        """Load a reference in place of the one before: boxes as boxes, else a mask."""
        color = current().reference
        # A new item would have to trace the mask's outline again.
        if (mask, boxes, color) == self._referenced:
            return  # as whenever more becomes known of the image
        self._referenced = mask, boxes, color
        self._remove(self._reference)
        self._reference = self._boxes = None
        if boxes:
            from viewer.ui.canvas.overlays.reference_boxes import ReferenceBoxesItem

            self._boxes = ReferenceBoxesItem(boxes, color, self._face, self._root)
            self._reference = self._boxes
        elif mask is not None and not mask.is_empty:
            from viewer.ui.canvas.overlays.reference import ReferenceItem

            self._reference = ReferenceItem(mask, color, self._root)
        self._order()

    def set_answers(self, answers: "tuple[StoredAnswer, ...]") -> None:
        """Load answers in place of those before; the first named lies on top.

        Heat maps lie below all others, which they would hide.
        """
        for item in self._answers:
            self._remove(item)
        self._answers = self._answer_items(answers) if answers else ()
        self._order()

    @property
    def coarse(self) -> bool:
        """Whether an answer is seen whose parts are larger than native pixels."""
        return self._root.isVisible() and any(item.coarse for item in self._answers)

    def _answer_items(
        self, answers: "tuple[StoredAnswer, ...]"
    ) -> "tuple[AnswerItem, ...]":
        from viewer.domain.answer import HeatMapAnswer
        from viewer.ui.canvas.overlays.answer_item import model_colors
        from viewer.ui.canvas.overlays.answers import answer_item, depths

        colors = model_colors(a.model for a in answers)
        ordered = sorted(answers, key=lambda a: isinstance(a.answer, HeatMapAnswer))
        deep = zip(ordered, depths(ordered), strict=True)
        items = tuple(
            answer_item(answer, colors[answer.model], self._face, self._root, depth)
            for answer, depth in tuple(deep)[::-1]
        )
        for item in items:
            item.setTransform(self._place_of(item.answer.ref.frame))
        return items

    def _place_of(self, frame: int) -> QTransform:
        """Return where the native pixels of a region lie on the whole slide."""
        if self.slide is None or not is_region(frame):
            return QTransform()
        to = self.slide.to_whole(frame)
        return QTransform(to.a, to.d, to.b, to.e, to.c, to.f)

    def set_objects(self, objects: "SlideObjects | None") -> None:
        """Draw objects on the slide that is shown in place of those before, or none."""
        self._remove(self._objects)
        self._objects = None
        if objects is not None and self.slide is not None:
            from viewer.ui.canvas.overlays.objects import ObjectsItem

            self._objects = ObjectsItem(objects, self.slide, self._face, self._root)
        self._order()

    @property
    def objects(self) -> "SlideObjects | None":
        """The objects on the slide that are drawn."""
        return self._objects.objects if self._objects else None

    def object_at(self, point: PointPx) -> str:
        """Return the class of the object at a native position, "" without one."""
        objects, slide = self.objects, self.slide
        return objects.name_at(slide.on_slide(0, point)) if objects and slide else ""

    def set_planes(self, bits: npt.NDArray[np.bool_] | None) -> None:
        """Draw the file's overlay planes in place of those before, or none."""
        self._remove(self._planes)
        self._planes = None
        if bits is not None:
            from viewer.ui.canvas.overlays.planes import PlanesItem

            self._planes = PlanesItem(bits, self._root)
        self._bits = bits
        self._order()

    def set_presentation(self, state: "PresentationState | None") -> None:
        """Draw graphics, texts and shutter of a presentation state, or none."""
        self._remove(self._shutter)
        self._remove(self._presented)
        self._state, self._shutter, self._presented = state, None, None
        if state is not None:
            from viewer.ui.canvas.overlays.presented import PresentedItem

            self._presented = PresentedItem(state, self._face, self._root)
        if state is not None and state.shutter is not None:
            from viewer.ui.canvas.overlays.planes import PlanesItem, opaque

            hidden, argb = state.shutter.hidden, opaque(state.shutter.grey)
            self._shutter = PlanesItem(hidden, self._root, argb)
        self._order()

    @property
    def presentation(self) -> "PresentationState | None":
        """The presentation state that is drawn."""
        return self._state

    def imitate(self, other: "Layers") -> None:
        """Draw the grid, the reference and the answers of others, as far as seen."""
        self.hide(hidden=not other._root.isVisible())  # noqa: SLF001 - its own kind
        self.set_planes(other._bits)  # noqa: SLF001
        self.set_presentation(other._state)  # noqa: SLF001
        self.set_grid(other.grid)
        self.set_objects(other.objects)
        if other._referenced is not None:  # noqa: SLF001
            mask, boxes, _ = other._referenced  # noqa: SLF001
            self.set_reference(mask, boxes)
        self.set_answers(tuple(item.answer for item in other.answers[::-1]))

    def set_marks(self, drawn: tuple[DrawnMark, ...]) -> None:
        """Draw marks in place of those before; the last lies on top."""
        if drawn and self._marks is None:
            from viewer.ui.canvas.marks.overlay import MarksOverlay

            self._marks = MarksOverlay(self._scene, self._root, self._face)
            self._marks.lie_on(*self._placed[:2])
        if drawn and self._marks is not None:
            self._marks.set_marks(drawn)
        elif self._marks is not None:
            self._marks.end()
            self._marks = None
        self._order()

    @property
    def locator(self) -> "Locator | None":
        """The reference lines and the cross-hair that are drawn."""
        return self._locator

    def set_locator(self, lines: "Sequence[Line]", cross: PointPx | None) -> bool:
        """Draw reference lines and a cross-hair; return whether that is anything new.

        Every viewport is told after each slice, mostly that there is still nothing.
        """
        before = self._locator
        now = (tuple(lines), cross)
        if now == ((before.lines, before.cross) if before else ((), None)):
            return False
        self._remove(self._locator)
        self._locator = None
        if lines or cross is not None:
            from viewer.ui.canvas.overlays.locator import Locator

            self._locator = Locator(lines, cross, self._root)
        self._order()
        return True

    def answer_at(self, at: QPointF) -> "StoredAnswer | None":
        """Return the topmost answer drawn at a position of the view."""
        known = {item: item.answer for item in self._answers}
        found = (item for item in self._scene.items(at) if item in known)
        return next((known[item] for item in found), None)

    def _remove(self, item: QGraphicsItem | None) -> None:
        if item is not None:
            self._scene.removeItem(item)

    def _order(self) -> None:
        """Stack what the file has, grid, reference, answers and marks."""
        items = (
            self._shutter,
            self._planes,
            self._presented,
            self._objects,
            self._grid,
            self._reference,
            *self._answers,
            *(self._marks.layers if self._marks else ()),
            self._locator,
        )
        for depth, item in enumerate(items):
            if item is not None:
                item.setZValue(depth)
        self._stale, self._unplaced = True, iter(())
