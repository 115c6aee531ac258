"""Image planes in the patient: positions, nearest slices, lines where planes meet.

An image has a plane if its geometry has position, axes and spacing (PS3.3 C.7.6.2.1.1).
Native positions have (0, 0) at the corner of pixel 0, whose centre is its position.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import PointMm, PointPx, SizePx
from viewer.domain.image_geometry import ImageGeometry

_Vector = npt.NDArray[np.float64]
_PARALLEL = 1e-3
"""Sine of the angle below which two planes do not meet in a line."""


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane of an image; vectors (3,) in millimetres.

    ``corner`` is the native position (0, 0), ``along`` and ``down`` one pixel to the
    right and down, ``normal`` a unit vector.
    """

    size: SizePx
    corner: _Vector
    along: _Vector
    down: _Vector
    normal: _Vector

    def at(self, point: PointPx) -> PointMm:
        """Return a native position in the patient."""
        return PointMm(*(self.corner + point.x * self.along + point.y * self.down))

    def project(self, point: PointMm) -> PointPx:
        """Return the native position nearest to one in the patient."""
        offset = _vector(point) - self.corner
        return PointPx(
            float(offset @ self.along / (self.along @ self.along)),
            float(offset @ self.down / (self.down @ self.down)),
        )

    def height(self, point: PointMm) -> float:
        """Return how far a position lies from the plane, along its normal."""
        return float((_vector(point) - self.corner) @ self.normal)

    def line_of(self, other: "Plane") -> tuple[PointPx, PointPx] | None:
        """Return where another image cuts this plane, None if nowhere in its edges."""
        if np.linalg.norm(np.cross(self.normal, other.normal)) < _PARALLEL:
            return None
        corners = _corners(other)
        heights = [self.height(corner) for corner in corners]
        ends = [
            _between(a, b, start / (start - end))
            for a, b, start, end in zip(
                corners, corners[1:], heights, heights[1:], strict=False
            )
            if (start < 0) != (end < 0)
        ]
        return (self.project(ends[0]), self.project(ends[1])) if len(ends) > 1 else None


def plane_of(geometry: ImageGeometry) -> Plane | None:
    """Return the plane of an image, None if the file does not give it."""
    axes, spacing, position = geometry.axes, geometry.spacing, geometry.position
    if axes is None or spacing is None or position is None or not geometry.letters:
        return None
    along = np.array(axes[:3]) * spacing.column_mm
    down = np.array(axes[3:]) * spacing.row_mm
    (a, b, c), (d, e, f) = axes[:3], axes[3:]
    # By hand: np.cross takes most of the time for a stack of a thousand slices.
    normal = b * f - c * e, c * d - a * f, a * e - b * d
    corner = _vector(position) - (along + down) / 2
    return Plane(geometry.size, corner, along, down, np.array(normal) / hypot(*normal))


class Slices:
    """The planes of a stack's images, to find the nearest of hundreds at once."""

    def __init__(self, geometries: Sequence[ImageGeometry]) -> None:
        planes = list(map(plane_of, geometries))
        self._planes = [plane for plane in planes if plane is not None]
        self._numbers = [n for n, plane in enumerate(planes) if plane is not None]
        self._corners = np.array([plane.corner for plane in self._planes])
        self._normals = np.array([plane.normal for plane in self._planes])

    def nearest(self, point: PointMm) -> int | None:
        """Return the number of the image whose plane is nearest to a position."""
        if not self._numbers:
            return None
        offsets = (_vector(point) - self._corners) * self._normals
        return self._numbers[int(np.abs(offsets.sum(axis=1)).argmin())]


def _corners(plane: Plane) -> list[PointMm]:
    """Return the corners of an image in turn, the first again at the end."""
    rows, columns = plane.size.rows, plane.size.columns
    turn = ((0, 0), (columns, 0), (columns, rows), (0, rows), (0, 0))
    return [plane.at(PointPx(x, y)) for x, y in turn]


def _between(a: PointMm, b: PointMm, part: float) -> PointMm:
    start = _vector(a)
    return PointMm(*(start + part * (_vector(b) - start)))


def _vector(point: PointMm) -> _Vector:
    return np.array((point.x, point.y, point.z))
