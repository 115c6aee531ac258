"""Drawing marks with the mouse, choosing, moving and deleting them."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from PySide6.QtCore import QLineF, QObject, QPointF
from shiboken6 import isValid

from viewer.domain.geometry import PointPx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.mark import NAMES, Mark, MarkKind
from viewer.domain.reference import Patch
from viewer.services.viewing.view_image import ShownImage
from viewer.ui.canvas.events import MarksChanged
from viewer.ui.canvas.layers import Layers
from viewer.ui.canvas.marks.book import DrawnMark, MarkBook, absolute
from viewer.ui.canvas.marks.measures import words

if TYPE_CHECKING:
    from collections.abc import Callable

KEY_IMAGE: Final = Mark(MarkKind.KEY, ())
_CLOSES_PX: Final = 8.0
"""A click so near its first corner closes a polygon."""
_LABELLED: Final = frozenset({MarkKind.TEXT, MarkKind.ARROW})
"""Marks beside which a reader writes at once."""
_LEAST_PX: Final = 3.0
"""A press and its release so near each other are a click."""


class Surface(Protocol):
    """The view as needed by marks; positions are in the view's pixels."""

    def native_at(self, at: QPointF) -> PointPx:
        """Return the native position under a position."""

    def to_view(self, point: PointPx) -> QPointF:
        """Return a native position in the view's pixels."""

    def redraw(self) -> None:
        """Paint what has changed."""


@dataclass(frozen=True, slots=True)
class _Grab:
    """A mark grabbed by a handle or by its lines, and where it was grabbed."""

    mark: Mark
    handle: int | None
    at: QPointF
    native: PointPx

    def moved_to(self, point: PointPx) -> Mark:
        """Return the mark after dragging to a native point."""
        if self.handle is not None:
            return self.mark.with_handle(self.handle, point)
        return self.mark.moved(point.x - self.native.x, point.y - self.native.y)


class MarkEditing:
    """The marks of the displayed image.

    A mark is drawn point by point: each press sets one, and so does the end of a drag,
    so that a length is one drag or two clicks (IHE BIR 4.16.4.2.2.5.10).
    """

    def __init__(self, surface: Surface, layers: Layers, owner: QObject) -> None:
        self._surface, self._layers = surface, layers
        self._shown: ShownImage | None = None
        self._lines: dict[Mark, tuple[str, ...]] = {}
        self._draft: Mark | None = None
        self._grab: _Grab | None = None
        self._chosen: Mark | None = None
        self._pressed = QPointF()
        self.ask_label: Callable[[Mark], object] | None = None
        """Lets a reader write beside a mark."""
        self.book = MarkBook(parent=owner)
        self.book.changed.connect(self._follow)
        self._following = True
        # No QObject, whose connections would end by themselves with those of the view.
        owner.destroyed.connect(self.leave)

    def leave(self) -> None:
        """Follow no book any more; that of a view that is gone may be gone as well."""
        if self._following and isValid(self.book):
            self._following = False
            self.book.changed.disconnect(self._follow)

    def use(self, book: MarkBook) -> None:
        """Use a book of marks that several views share."""
        self.book.changed.disconnect(self._follow)
        self.book = book
        self.book.changed.connect(self._follow)
        self._refresh()

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of the image shown."""
        return self.book.of(self._shown.ref) if self._shown else ()

    @property
    def geometry(self) -> ImageGeometry | None:
        """The geometry of the image shown."""
        return self._shown.image.geometry if self._shown else None

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts of the displayed marks, in the order drawn."""
        return tuple("; ".join(self._words(mark)) for mark in self.marks)

    @property
    def chosen(self) -> Mark | None:
        """The mark that was last clicked or drawn."""
        return self._chosen

    @property
    def chosen_mask(self) -> Mark | None:
        """The mask that the next stroke of a brush goes on with."""
        chosen = self._chosen
        return chosen if chosen is not None and chosen.painted is not None else None

    @property
    def drawing(self) -> bool:
        """Whether a mark was begun and waits for more points."""
        return self._draft is not None

    def show(self, shown: ShownImage | None) -> None:
        """Show the marks of an image (IHE BIR: on the slice where they were drawn).

        They stand where they belong once the surface is redrawn.
        """
        self._shown = shown
        # The same mark on another image has other values below it.
        self._lines.clear()
        self._forget()
        self._layers.set_marks(())  # those before are no picture of these
        self._draw()

    def press(self, at: QPointF, kind: MarkKind | None) -> bool:
        """Begin, continue or grab a mark; return whether the press was used.

        ``kind`` is what the current tool draws, None if it draws no marks.
        """
        if self._shown is None:
            return False
        self._pressed = at
        if self._draft is not None:
            self._set_point(at)
            return True
        labelled = self._labelled(at)
        self._grab = None if labelled else self._grabbed(at)
        self._chosen = labelled or (self._grab.mark if self._grab else None)
        if self._chosen is None and kind is not None:
            self._draft = Mark(kind, (self._surface.native_at(at),))
        if self._draft is not None and self._draft.complete:
            self.add(self._draft)
        self._refresh()
        return self._grab is not None or kind is not None

    def move(self, at: QPointF) -> None:
        """Let the mark being drawn or moved follow the mouse."""
        if self._draft is not None:
            longer = self._draft.extended(self._surface.native_at(at))
            if self._draft.kind is MarkKind.FREEHAND:
                self._draft = longer
            self._refresh(longer)
        elif self._grab is not None and self._dragged(at):
            self._refresh(self._grab.moved_to(self._surface.native_at(at)))

    def release(self, at: QPointF) -> None:
        """Set a point at the end of a drag, or drop the mark that is moved."""
        grab, self._grab = self._grab, None
        if self._draft is not None and self._draft.kind is MarkKind.FREEHAND:
            self._end_freehand()
        elif self._draft is not None and self._dragged(at):
            self._set_point(at)
        elif grab is not None and self._dragged(at) and self._shown is not None:
            moved = grab.moved_to(self._surface.native_at(at))
            self._chosen = moved
            name = f"move {NAMES[moved.kind]}"
            self.book.exchange(self._shown.ref, grab.mark, moved, name)

    def cancel(self, *, keep_mask: bool = False) -> None:
        """Discard the mark that is being drawn or moved, and select nothing.

        With ``keep_mask`` a selected mask stays selected.
        """
        chosen = self.chosen_mask if keep_mask else None
        before = self._draft, self._grab, self._chosen
        self._forget()
        self._chosen = chosen
        if before != (None, None, chosen):  # as another tool finds every view
            self._refresh()

    def close(self) -> None:
        """Close the polygon that is being drawn."""
        draft = self._draft
        if draft is not None and draft.kind is MarkKind.POLYGON:
            if draft.closed().complete:
                self.add(draft.closed())
            else:
                self.cancel()

    def add(self, mark: Mark) -> None:
        """Add a mark and choose it; a note is written at once."""
        if self._shown is not None:
            self._draft, self._chosen = None, mark
            self.book.add(self._shown.ref, mark, NAMES[mark.kind])
            if mark.kind in _LABELLED and self.ask_label is not None:
                self.ask_label(mark)

    def paint(self, covered: Patch, *, erases: bool) -> None:
        """Paint pixels into a mask, or erase them from it.

        It is the chosen mask, else the topmost one that the pixels meet; where there is
        none, painting begins a new one. A mask of which nothing is left is removed.
        """
        if self._shown is None:
            return
        mask, ref = self.chosen_mask or self._mask_under(covered), self._shown.ref
        if mask is None or mask.painted is None:
            if not erases:
                self.add(Mark(MarkKind.MASK, (), painted=covered))
            return
        change = mask.painted.without if erases else mask.painted.united
        painted = change(covered)
        if painted is None:
            self.book.remove(ref, (mask,), "erase mask")
            return
        self._chosen = replace(mask, painted=painted)
        words = "erase" if erases else "brush stroke"
        self.book.exchange(ref, mask, self._chosen, words)

    def _mask_under(self, covered: Patch) -> Mark | None:
        return next(
            (m for m in reversed(self.marks) if m.painted and m.painted.meets(covered)),
            None,
        )

    def label(self, mark: Mark, text: str) -> None:
        """Write beside a mark; a note without words is removed."""
        if self._shown is None or mark not in self.marks:
            return
        if mark.kind is MarkKind.TEXT and not text:
            self.book.remove(self._shown.ref, (mark,), "remove note")
        else:
            self._chosen = replace(mark, text=text)
            self.book.exchange(self._shown.ref, mark, self._chosen, "label")

    def choose_at(self, at: QPointF) -> Mark | None:
        """Choose the mark at a position of the view, or none, and return it."""
        grab = self._grabbed(at)
        self._chosen = self._labelled(at) or (grab.mark if grab else None)
        self._refresh()
        return self._chosen

    def delete_chosen(self) -> None:
        """Delete the chosen mark."""
        if self._shown is not None and self._chosen is not None:
            name = f"delete {NAMES[self._chosen.kind]}"
            self.book.remove(self._shown.ref, (self._chosen,), name)

    def remove_all(self) -> None:
        """Remove every mark drawn on the image; a key image stays one."""
        self.cancel()
        if self._shown is not None:
            drawn = tuple(mark for mark in self.marks if mark != KEY_IMAGE)
            self.book.remove(self._shown.ref, drawn, "remove marks")

    @property
    def is_key(self) -> bool:
        """Whether the image is marked as a key image."""
        return KEY_IMAGE in self.marks

    def toggle_key(self) -> None:
        """Mark or unmark the image as a key image."""
        if self._shown is None:
            return
        if self.is_key:
            self.book.remove(self._shown.ref, (KEY_IMAGE,), "unmark key image")
        else:
            self.book.add(self._shown.ref, KEY_IMAGE, "mark key image")

    def _forget(self) -> None:
        self._draft, self._grab, self._chosen = None, None, None

    def _end_freehand(self) -> None:
        draft, self._draft = self._draft, None
        if draft is not None and draft.complete:
            self.add(draft)
        self._refresh()

    def _set_point(self, at: QPointF) -> None:
        point, draft = self._surface.native_at(at), self._draft
        # A double click presses twice at one place, which is one point.
        if draft is None or point == draft.points[-1]:
            return
        if draft.kind is MarkKind.POLYGON and self._meets_first(draft, at):
            self.close()
            return
        self._draft = draft.extended(point)
        if self._draft.complete:
            self.add(self._draft)
        else:
            self._refresh()

    def _meets_first(self, draft: Mark, at: QPointF) -> bool:
        first = self._surface.to_view(draft.points[0])
        return QLineF(first, at).length() <= _CLOSES_PX

    def _dragged(self, at: QPointF) -> bool:
        return QLineF(self._pressed, at).length() >= _LEAST_PX

    def _labelled(self, at: QPointF) -> Mark | None:
        """Return the mark whose text is at a position; text cannot be grabbed.

        Otherwise whatever is below it would be moved unseen.
        """
        items = (item for item in self._layers.marks if item.mark in self.marks)
        return next((item.mark for item in items if item.says_at(at)), None)

    def _grabbed(self, at: QPointF) -> _Grab | None:
        """Return the topmost mark at a position; handles of a chosen one come first."""
        native = self._surface.native_at(at)
        items = [item for item in self._layers.marks if item.mark in self.marks]
        for item in sorted(items, key=lambda i: i.mark == self._chosen, reverse=True):
            handle = item.handle_at(at)
            if handle is not None or item.meets(at):
                return _Grab(item.mark, handle, at, native)
        return None

    def _words(self, mark: Mark) -> tuple[str, ...]:
        """Return a mark's text; a region's pixels are computed once."""
        if self._shown is None:
            return ()
        if mark not in self._lines:
            self._lines[mark] = words(mark, self._shown.image)
        return self._lines[mark]

    def _follow(self, event: MarksChanged) -> None:
        if self._shown is not None and event.ref == absolute(self._shown.ref):
            self._refresh()

    def _refresh(self, live: Mark | None = None) -> None:
        self._draw(live)
        self._surface.redraw()

    def _draw(self, live: Mark | None = None) -> None:
        """Draw the marks; ``live`` is the one that follows the mouse."""
        if self._chosen is not None and self._chosen not in self.marks:
            self._chosen = None
        # While it is dragged, the mark is drawn at its new place only.
        held = self._grab.mark if self._grab and live else None
        drawn = [
            DrawnMark(mark, self._words(mark), chosen=mark == self._chosen)
            for mark in self.marks
            if mark not in (held, KEY_IMAGE)
        ]
        live = live or self._draft
        if live is not None and self._shown is not None:
            lines = words(live, self._shown.image, final=False)
            drawn.append(DrawnMark(live, lines, chosen=True))
        self._layers.set_marks(tuple(drawn))
