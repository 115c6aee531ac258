"""Parallel rays through the thorax, and their intersection with solids.

Coordinates are millimetres in the patient: x to the patient's left, y to the back, z to
the head, the origin in the middle of the chest. A frontal ray runs along y, a lateral
one along x; the beam is parallel, so one millimetre in the patient is one at the
detector.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.domain.case import View
from viewer.domain.geometry import SizePx

Floats = npt.NDArray[np.float32]
Bools = npt.NDArray[np.bool_]
UInts = npt.NDArray[np.uint16]

FIELD_WIDTH_MM = 350.0
FIELD_HEIGHT_MM = 437.5


@dataclass(frozen=True, slots=True)
class Bounds:
    """A box in the patient: low and high corner, (x, y, z) in millimetres."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class RayGrid:
    """The rays of a detector or of a part of it.

    ``across`` (1, columns) is x of a frontal and y of a lateral view, ``up``
    (rows, 1) is z, both float32 millimetres at pixel centres.
    """

    view: View
    across: Floats
    up: Floats

    @property
    def ray_axis(self) -> int:
        """The axis the rays run along: 1 frontal, 0 lateral."""
        return 1 if self.view is View.FRONTAL else 0

    @property
    def across_axis(self) -> int:
        """The axis the columns run along: 0 frontal, 1 lateral."""
        return 1 - self.ray_axis

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.up.shape[0], self.across.shape[1]

    def rows(self, start: int, stop: int) -> "RayGrid":
        """Return the grid of the rows start <= row < stop."""
        return RayGrid(self.view, self.across, self.up[start:stop])

    def window(self, bounds: Bounds) -> tuple[slice, slice]:
        """Return the rows and columns whose rays may meet a box; may be empty."""
        a = self.across_axis
        columns = np.searchsorted(self.across[0], [bounds.low[a], bounds.high[a]])
        rows = np.searchsorted(-self.up[:, 0], [-bounds.high[2], -bounds.low[2]])
        return slice(int(rows[0]), int(rows[1])), slice(
            int(columns[0]), int(columns[1])
        )

    def met(
        self, low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return box, row and column (n,) where a ray may hit one of (m, 3) boxes."""
        a = self.across_axis
        left = np.searchsorted(self.across[0], low[:, a])
        right = np.searchsorted(self.across[0], high[:, a])
        first = np.searchsorted(-self.up[:, 0], -high[:, 2])
        last = np.searchsorted(-self.up[:, 0], -low[:, 2])
        wide = np.maximum(right - left, 0)
        count = wide * np.maximum(last - first, 0)
        box = np.repeat(np.arange(len(count)), count)
        place = np.arange(len(box)) - np.repeat(np.cumsum(count) - count, count)
        rows, columns = np.divmod(place, wide[box])
        return box, first[box] + rows, left[box] + columns

    def part(self, window: tuple[slice, slice]) -> "RayGrid":
        """Return the grid of a window."""
        return RayGrid(self.view, self.across[:, window[1]], self.up[window[0]])


@dataclass(frozen=True, eq=False)
class Interval:
    """The intersection of each ray with a convex solid.

    ``near`` and ``far`` are (rows, columns) float32 millimetres along the ray, with
    near <= far; equal if the ray misses.
    """

    near: Floats
    far: Floats

    def length(self) -> Floats:
        """Return the length inside the solid, millimetres."""
        return self.far - self.near

    def within(self, other: "Interval") -> "Interval":
        """Return the intersection of two intervals; empty ones are inside ``other``."""
        near = np.clip(self.near, other.near, other.far)
        return Interval(near, np.clip(self.far, near, other.far))


def spacing_mm(size: SizePx) -> float:
    """Return the pixel pitch that fits the 350 × 437.5 mm field into an image."""
    return max(FIELD_WIDTH_MM / size.columns, FIELD_HEIGHT_MM / size.rows)


def detector(view: View, size: SizePx) -> RayGrid:
    """Return the rays of a whole detector of ``size`` pixels, centred on the chest."""
    pitch = spacing_mm(size)
    columns = (np.arange(size.columns) + 0.5 - size.columns / 2) * pitch
    rows = (size.rows / 2 - np.arange(size.rows) - 0.5) * pitch
    return RayGrid(
        view,
        columns[np.newaxis].astype(np.float32),
        rows[:, np.newaxis].astype(np.float32),
    )


def union_length(intervals: Sequence[Interval]) -> Floats:
    """Return the length that at least one interval covers, (rows, columns) mm.

    With starts and ends sorted each on their own, a gap lies exactly where the k-th
    end precedes the (k+1)-th start.
    """
    starts = _sorted([i.near for i in intervals])
    ends = _sorted([i.far for i in intervals])
    total = ends[-1] - starts[0]
    for end, start in zip(ends[:-1], starts[1:], strict=True):
        total -= np.maximum(start - end, 0)
    return total


def _sorted(arrays: list[Floats]) -> list[Floats]:
    """Sort a few arrays against each other, element by element."""
    out = list(arrays)
    for last in range(len(out) - 1, 0, -1):
        for i in range(last):
            low, high = np.minimum(out[i], out[i + 1]), np.maximum(out[i], out[i + 1])
            out[i], out[i + 1] = low, high
    return out
