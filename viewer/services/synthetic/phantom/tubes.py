"""Round tubes along curves: vessels, airways, long bones, leads."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from viewer.services.synthetic.phantom.rays import Bounds, Floats, RayGrid
from viewer.services.synthetic.phantom.solids import Points, Vector, vector

_STRETCH = 2.2
"""Most that a slanted segment's cut exceeds its width."""


@dataclass(frozen=True, eq=False)
class Tube:
    """A chain of round segments: ``points`` (n, 3) mm and ``radii`` (n,) mm."""

    points: Points
    radii: Points

    @classmethod
    def through(cls, points: Sequence[Vector], radius: float, steps: int = 6) -> Self:
        """Return a tube of one radius along a smooth curve through points."""
        curve = smooth_curve(np.array(points, dtype=np.float64), steps)
        return cls(curve, np.full(len(curve), radius))

    def chord(self, grid: RayGrid) -> Floats:
        """Return the length of each ray inside the tube, (rows, columns) mm.

        Neighbouring segments overlap at their joint, so the longest cut counts. A
        segment seen nearly end-on counts for at most ``_STRETCH`` times its width.
        """
        out = np.zeros(grid.shape, dtype=np.float32)
        segment, row, column = grid.met(*self._boxes)
        cut = self._cut(segment, grid.across[0, column], grid.up[row, 0], grid)
        np.maximum.at(out, (row, column), cut)
        return out

    def _cut(
        self, segment: npt.NDArray[np.intp], across: Floats, up: Floats, grid: RayGrid
    ) -> Floats:
        """Return the length of the rays at ``across`` and ``up``, each in a segment.

        All (n,), millimetres: a tube's segments together, as most have few rays.
        """
        ends = self.points[:, [grid.across_axis, 2]]
        start, along = ends[:-1], np.diff(ends, axis=0)
        seen = (along * along).sum(1)
        whole = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        stretch = np.minimum(whole / np.maximum(np.sqrt(seen), 1e-3), _STRETCH)
        of_segments = (*start.T, *along.T, seen + 1e-6, self.radii[:-1])
        left, low, right, rise, square, radius, growth, twice = (
            one.astype(np.float32)[segment]
            for one in (*of_segments, np.diff(self.radii), 2 * stretch)
        )
        u, z = across - left, up - low
        t = np.clip((u * right + z * rise) / square, 0, 1)
        du, dz = u - t * right, z - t * rise
        radius = radius + t * growth
        inside = radius * radius - du * du - dz * dz
        return np.asarray(np.sqrt(np.maximum(inside, 0)) * twice)

    def bounds(self) -> Bounds:
        """Return a box around the tube."""
        return self._bounds

    @cached_property
    def _bounds(self) -> Bounds:
        low, high = self._boxes
        return Bounds(vector(low.min(0)), vector(high.max(0)))

    @cached_property
    def _boxes(self) -> tuple[Points, Points]:
        """Low and high corners (n - 1, 3) of each segment's box."""
        thick = np.maximum(self.radii[:-1], self.radii[1:])[:, np.newaxis]
        low = np.minimum(self.points[:-1], self.points[1:]) - thick
        return low, np.maximum(self.points[:-1], self.points[1:]) + thick


def smooth_curve(points: Points, steps: int) -> Points:
    """Return a Catmull-Rom curve through (n, 3) points, ``steps`` per stretch."""
    padded = np.vstack([2 * points[0] - points[1], points, 2 * points[-1] - points[-2]])
    t = np.linspace(0, 1, steps, endpoint=False)[:, np.newaxis]
    pieces = [
        0.5
        * (
            2 * b
            + (c - a) * t
            + (2 * a - 5 * b + 4 * c - d) * t**2
            + (3 * b - a - 3 * c + d) * t**3
        )
        for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False)
    ]
    return np.vstack([*pieces, points[-1:]])
