"""Measurements and regions on an image, as native points of a given kind."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Self

from viewer.domain.geometry import PointPx


class MarkKind(StrEnum):
    """What a mark measures."""

    LENGTH = "length"
    ANGLE = "angle"
    COBB = "cobb"
    RECTANGLE = "rectangle"
    ELLIPSE = "ellipse"


NAMES: Final = {
    MarkKind.LENGTH: "length",
    MarkKind.ANGLE: "angle",
    MarkKind.COBB: "Cobb angle",
    MarkKind.RECTANGLE: "rectangle",
    MarkKind.ELLIPSE: "ellipse",
}
"""Kinds as a sentence names them."""
REGIONS: Final = frozenset({MarkKind.RECTANGLE, MarkKind.ELLIPSE})
_POINTS: Final = {MarkKind.ANGLE: 3, MarkKind.COBB: 4}


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark in native pixels.

    ``points`` are the two ends of a length; end, vertex and end of an angle; the ends
    of the first and of the second line of a Cobb angle; two opposite corners of a
    region. A mark that is still being drawn has fewer.
    """

    kind: MarkKind
    points: tuple[PointPx, ...]

    @property
    def complete(self) -> bool:
        """Whether the mark has all its points."""
        return len(self.points) == _POINTS.get(self.kind, 2)

    @property
    def handles(self) -> tuple[PointPx, ...]:
        """The points that can be dragged to change it; a region has four corners."""
        if self.kind not in REGIONS or not self.complete:
            return self.points
        a, b = self.points
        return (a, PointPx(b.x, a.y), b, PointPx(a.x, b.y))

    def extended(self, point: PointPx) -> Self:
        """Return the mark with one more point."""
        return replace(self, points=(*self.points, point))

    def with_handle(self, number: int, at: PointPx) -> Self:
        """Return the mark with one of its handles moved to a point."""
        if self.kind not in REGIONS:
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
