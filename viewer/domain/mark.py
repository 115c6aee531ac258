"""Measurements, regions and notes on an image, as native points of a kind."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Self

from viewer.domain.case import ImageRef
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.image import Window
from viewer.domain.reference import Patch


class MarkKind(StrEnum):
    """What a mark measures or points at."""

    LENGTH = "length"
    ANGLE = "angle"
    COBB = "cobb"
    RECTANGLE = "rectangle"
    ELLIPSE = "ellipse"
    POLYGON = "polygon"
    MASK = "mask"
    HEART = "heart"
    ARROW = "arrow"
    TEXT = "text"
    POINT = "point"
    FREEHAND = "freehand"
    KEY = "key"


NAMES: Final = {
    MarkKind.LENGTH: "length",
    MarkKind.ANGLE: "angle",
    MarkKind.COBB: "Cobb angle",
    MarkKind.RECTANGLE: "rectangle",
    MarkKind.ELLIPSE: "ellipse",
    MarkKind.POLYGON: "polygon",
    MarkKind.MASK: "mask",
    MarkKind.HEART: "cardiothoracic ratio",
    MarkKind.ARROW: "arrow",
    MarkKind.TEXT: "text",
    MarkKind.POINT: "point",
    MarkKind.FREEHAND: "freehand line",
    MarkKind.KEY: "key image",
}
"""Kinds as a sentence names them."""
CORNERED: Final = frozenset({MarkKind.RECTANGLE, MarkKind.ELLIPSE})
"""Regions that two opposite corners describe."""
REGIONS: Final = CORNERED | {MarkKind.POLYGON, MarkKind.MASK}
"""Kinds that have an area, and pixels inside."""
_POINTS: Final = {
    MarkKind.ANGLE: 3, MarkKind.COBB: 4, MarkKind.HEART: 4, MarkKind.TEXT: 1,
    MarkKind.POINT: 1, MarkKind.KEY: 0, MarkKind.MASK: 0,
}  # fmt: skip
_LEAST_RING: Final = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark in native pixels.

    ``points`` are the two ends of a length; end, vertex and end of an angle; the ends
    of the first and of the second line of a Cobb angle; two opposite corners of a
    rectangle or ellipse; the corners of a polygon, the first again at its end; the
    edges of the heart, then those of the thorax; tip and tail of an arrow. A key image
    is marked as a whole, without points. A mark that is still being drawn has fewer.
    ``text`` is what a reader wrote beside it. A mask has no points, but the pixels that
    are ``painted``.
    """

    kind: MarkKind
    points: tuple[PointPx, ...]
    text: str = ""
    painted: Patch | None = None

    @property
    def complete(self) -> bool:
        """Whether the mark has all its points."""
        if self.kind is MarkKind.POLYGON:
            closed = self.points[:1] == self.points[-1:]
            return closed and len(self.points) >= _LEAST_RING
        if self.kind is MarkKind.FREEHAND:
            return len(self.points) > 1
        return len(self.points) == _POINTS.get(self.kind, 2)

    @property
    def handles(self) -> tuple[PointPx, ...]:
        """The points that can be dragged to change it; a rectangle has four corners."""
        if self.kind is MarkKind.FREEHAND:
            return ()
        if self.kind is MarkKind.POLYGON and self.complete:
            return self.points[:-1]
        if self.kind not in CORNERED or not self.complete:
            return self.points
        a, b = self.points
        return (a, PointPx(b.x, a.y), b, PointPx(a.x, b.y))

    @property
    def lines(self) -> tuple[tuple[PointPx, ...], ...]:
        """What is drawn of a mark through its points; of an ellipse, its box.

        The widths of heart and thorax lie across the image, each at the height of its
        first edge, and go down to the other.
        """
        if self.kind in CORNERED and self.complete:
            return ((*self.handles, self.points[0]),)
        if self.kind is MarkKind.HEART:
            pairs = (self.points[n : n + 2] for n in range(0, len(self.points), 2))
            return tuple(
                (a, *(p for b in other for p in (PointPx(b.x, a.y), b)))
                for a, *other in pairs
            )
        if self.kind is MarkKind.COBB:
            return tuple(part for part in (self.points[:2], self.points[2:]) if part)
        return (self.points,) if self.points else ()

    @property
    def box(self) -> BoxPx | None:
        """The upright native rectangle around it; a key image has none."""
        if self.painted is not None:
            return self.painted.box
        if not self.points:
            return None
        xs, ys = [p.x for p in self.points], [p.y for p in self.points]
        return BoxPx(min(xs), min(ys), max(xs), max(ys))

    @property
    def end(self) -> PointPx:
        """Where its words belong: its last point, or the lower right of a mask."""
        if self.painted is None:
            return self.points[-1]
        return PointPx(self.painted.box.x1, self.painted.box.y1)

    def extended(self, point: PointPx) -> Self:
        """Return the mark with one more point."""
        return replace(self, points=(*self.points, point))

    def closed(self) -> Self:
        """Return a polygon that ends where it began."""
        return self.extended(self.points[0])

    def with_handle(self, number: int, at: PointPx) -> Self:
        """Return the mark with one of its handles moved to a point."""
        if self.kind is MarkKind.POLYGON:
            ring = (*self.points[:number], at, *self.points[number + 1 : -1])
            return replace(self, points=(*ring, ring[0]))
        if self.kind not in CORNERED:
            before, after = self.points[:number], self.points[number + 1 :]
            return replace(self, points=(*before, at, *after))
        a, b = self.points
        ax, bx = (at.x, b.x) if number in {0, 3} else (a.x, at.x)
        ay, by = (at.y, b.y) if number in {0, 1} else (a.y, at.y)
        return replace(self, points=(PointPx(ax, ay), PointPx(bx, by)))

    def moved(self, x: float, y: float) -> Self:
        """Return the mark moved by native pixels; a mask stays where it is."""
        return replace(
            self, points=tuple(PointPx(p.x + x, p.y + y) for p in self.points)
        )


@dataclass(frozen=True, slots=True)
class DrawnImage:
    """A DICOM image with its marks, each with its words, and how it is shown.

    ``window`` is in modality units, None for the VOI LUT of the file; ``rescale`` is
    the slope and the intercept that lead to these. ``inverted`` is whether low values
    are bright, ``orientation`` the turn in the view (TIFF 6.0).
    """

    ref: ImageRef
    marks: tuple[tuple[Mark, tuple[str, ...]], ...]
    window: Window | None = None
    rescale: tuple[float, float] = (1.0, 0.0)
    inverted: bool = False
    orientation: int = 1


class EditStep(StrEnum):
    """What was done to an edit."""

    DONE = "done"
    UNDONE = "undone"
    REDONE = "redone"


@dataclass(frozen=True, slots=True)
class MarkEdit:
    """An edit of an image's marks.

    ``place`` is the case in which it can be undone, ``words`` follow "Undo" in the
    menu. Of the image's marks, in the order drawn, those from ``at`` on that were
    ``removed`` made room for those ``added``; what stays as it was is not told. Of a
    mask that was painted on, only the ``repainted`` pixels are: those that were set and
    are no longer, and the other way round.
    """

    place: str
    ref: ImageRef
    words: str
    at: int
    removed: tuple[Mark, ...]
    added: tuple[Mark, ...]
    step: EditStep = EditStep.DONE
    repainted: Patch | None = None

    @classmethod
    def between(
        cls,
        before: tuple[Mark, ...],
        after: tuple[Mark, ...],
        *,
        place: str,
        ref: ImageRef,
        words: str,
    ) -> Self:
        """Return the edit that leads from all marks of an image to others."""
        at = _alike(before, after)
        same = _alike(before[at:][::-1], after[at:][::-1])
        removed, added = (marks[at : len(marks) - same] for marks in (before, after))
        repainted = _repainted(removed, added)
        if repainted is not None:
            return cls(place, ref, words, at, (), (), repainted=repainted)
        return cls(place, ref, words, at, removed, added)

    @property
    def exchanged(self) -> tuple[tuple[Mark, ...], tuple[Mark, ...]]:
        """The marks that go, and those that come in their place, in this step."""
        if self.step is EditStep.UNDONE:
            return self.added, self.removed
        return self.removed, self.added

    def applied(self, marks: tuple[Mark, ...]) -> tuple[Mark, ...]:
        """Return all marks of the image after this step, from those before it."""
        if self.repainted is not None:
            changed = repainted(marks[self.at], self.repainted)
            return (*marks[: self.at], changed, *marks[self.at + 1 :])
        gone, come = self.exchanged
        return (*marks[: self.at], *come, *marks[self.at + len(gone) :])


def repainted(mask: Mark, changed: Patch) -> Mark:
    """Return a mask in which these pixels are set where they were not, or cleared."""
    painted = changed if mask.painted is None else mask.painted.differing(changed)
    return replace(mask, painted=painted)


def _repainted(removed: tuple[Mark, ...], added: tuple[Mark, ...]) -> Patch | None:
    """Return the pixels that differ where one mask takes the place of another."""
    if len(removed) != 1 or len(added) != 1:
        return None
    (old,), (new,) = removed, added
    if old.painted is None or new.painted is None or old.text != new.text:
        return None
    return old.painted.differing(new.painted)


def _alike(one: tuple[Mark, ...], other: tuple[Mark, ...]) -> int:
    """Return the length of the common prefix of two lists of marks."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
