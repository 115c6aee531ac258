"""Measurements, regions and notes on an image, as native points of a kind."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Self

from viewer.domain.case import ImageRef
from viewer.domain.geometry import PointPx


class MarkKind(StrEnum):
    """What a mark measures or points at."""

    LENGTH = "length"
    ANGLE = "angle"
    COBB = "cobb"
    RECTANGLE = "rectangle"
    ELLIPSE = "ellipse"
    POLYGON = "polygon"
    HEART = "heart"
    ARROW = "arrow"
    TEXT = "text"
    POINT = "point"
    FREEHAND = "freehand"


NAMES: Final = {
    MarkKind.LENGTH: "length",
    MarkKind.ANGLE: "angle",
    MarkKind.COBB: "Cobb angle",
    MarkKind.RECTANGLE: "rectangle",
    MarkKind.ELLIPSE: "ellipse",
    MarkKind.POLYGON: "polygon",
    MarkKind.HEART: "cardiothoracic ratio",
    MarkKind.ARROW: "arrow",
    MarkKind.TEXT: "text",
    MarkKind.POINT: "point",
    MarkKind.FREEHAND: "freehand line",
}
"""Kinds as a sentence names them."""
CORNERED: Final = frozenset({MarkKind.RECTANGLE, MarkKind.ELLIPSE})
"""Regions that two opposite corners describe."""
REGIONS: Final = CORNERED | {MarkKind.POLYGON}
_POINTS: Final = {
    MarkKind.ANGLE: 3, MarkKind.COBB: 4, MarkKind.HEART: 4, MarkKind.TEXT: 1,
    MarkKind.POINT: 1,
}  # fmt: skip
_LEAST_RING: Final = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark in native pixels.

    ``points`` are the two ends of a length; end, vertex and end of an angle; the ends
    of the first and of the second line of a Cobb angle; two opposite corners of a
    rectangle or ellipse; the corners of a polygon, the first again at its end; the
    edges of the heart, then those of the thorax; tip and tail of an arrow. A mark that
    is still being drawn has fewer. ``text`` is what a reader wrote beside it.
    """

    kind: MarkKind
    points: tuple[PointPx, ...]
    text: str = ""

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
        """Return the mark moved by native pixels."""
        return replace(
            self, points=tuple(PointPx(p.x + x, p.y + y) for p in self.points)
        )


class EditStep(StrEnum):
    """What was done to an edit."""

    DONE = "done"
    UNDONE = "undone"
    REDONE = "redone"


@dataclass(frozen=True, slots=True)
class MarkEdit:
    """An edit of an image's marks.

    ``place`` is the case in which it can be undone, ``words`` follow "Undo" in the
    menu, ``before`` and ``after`` are all marks of the image.
    """

    place: str
    ref: ImageRef
    words: str
    before: tuple[Mark, ...]
    after: tuple[Mark, ...]
    step: EditStep = EditStep.DONE
