"""Points, sizes and transforms, with units in their types.

In JSON each is a list of its numbers, such as ``[x, y]``.
"""

from dataclasses import dataclass
from typing import Self

import msgspec
import numpy as np
import numpy.typing as npt


class _Numbers(
    msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True
):
    """A tuple-like base class for numbers in the order of their fields."""


class PointPx(_Numbers, frozen=True):
    """A position in pixels: x to the right, y down, (0, 0) the corner of pixel 0."""

    x: float
    y: float


class PointMm(_Numbers, frozen=True):
    """A position in the DICOM patient coordinate system, in millimetres."""

    x: float
    y: float
    z: float


class SizePx(_Numbers, frozen=True):
    """Rows (height) and columns (width) in pixels."""

    rows: int
    columns: int

    @property
    def words(self) -> str:
        """Width × height, as every size in pixels is written."""
        return f"{self.columns} × {self.rows}"


class BoxPx(_Numbers, frozen=True):
    """A half-open rectangle in pixels: x0 <= x < x1, y0 <= y < y1."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class PolygonPx:
    """A closed outline in pixels; the last point is joined to the first."""

    points: tuple[PointPx, ...]


class Affine(_Numbers, frozen=True):
    """A 2-D affine map of pixel coordinates: x' = a·x + b·y + c, y' = d·x + e·y + f."""

    a: float
    b: float
    c: float
    d: float
    e: float
    f: float

    @classmethod
    def identity(cls) -> Self:
        """Return the identity map."""
        return cls(1.0, 0.0, 0.0, 0.0, 1.0, 0.0)

    @classmethod
    def scale_after_shift(cls, shift: PointPx, scale_x: float, scale_y: float) -> Self:
        """Return x' = (x - shift.x)·scale_x, y' = (y - shift.y)·scale_y."""
        return cls(scale_x, 0.0, -shift.x * scale_x, 0.0, scale_y, -shift.y * scale_y)

    def apply(self, point: PointPx) -> PointPx:
        """Map a point."""
        return PointPx(
            self.a * point.x + self.b * point.y + self.c,
            self.d * point.x + self.e * point.y + self.f,
        )

    def apply_box(self, box: BoxPx) -> BoxPx:
        """Map a rectangle by two corners; the map must not turn or mirror it."""
        a, b = self.apply(PointPx(box.x0, box.y0)), self.apply(PointPx(box.x1, box.y1))
        return BoxPx(a.x, a.y, b.x, b.y)

    def matrix(self) -> npt.NDArray[np.float64]:
        """Return the 3 × 3 homogeneous matrix."""
        return np.array(
            [[self.a, self.b, self.c], [self.d, self.e, self.f], [0.0, 0.0, 1.0]]
        )

    def inverse(self) -> "Affine":
        """Return the inverse; a singular map raises ``numpy.linalg.LinAlgError``."""
        m = np.linalg.inv(self.matrix())
        return Affine(*(float(v) for v in m[:2].ravel()))
