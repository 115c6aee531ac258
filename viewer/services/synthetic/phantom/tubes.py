"""Round tubes along curves: vessels, airways, long bones, leads."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

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
        for i, window in grid.windows(*self._boxes):
            ends, radii = self.points[i : i + 2], self.radii[i : i + 2]
            cut = _segment_chord(grid.part(window), ends, radii)
            np.maximum(out[window], cut, out=out[window])
        return out

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


def _segment_chord(grid: RayGrid, ends: Points, radii: Points) -> Floats:
    plane = [grid.across_axis, 2]
    start, along = ends[0, plane], ends[1, plane] - ends[0, plane]
    seen = float(along @ along)
    whole = float(np.linalg.norm(ends[1] - ends[0]))
    u, z = grid.across - np.float32(start[0]), grid.up - np.float32(start[1])
    t = (u * np.float32(along[0]) + z * np.float32(along[1])) / np.float32(seen + 1e-6)
    t = np.clip(t, 0, 1)
    du, dz = u - t * np.float32(along[0]), z - t * np.float32(along[1])
    radius = np.float32(radii[0]) + t * np.float32(radii[1] - radii[0])
    half = np.sqrt(np.maximum(radius * radius - du * du - dz * dz, 0))
    stretch = whole / max(float(np.sqrt(seen)), 1e-3)
    return np.asarray(half * np.float32(2 * min(stretch, _STRETCH)))
