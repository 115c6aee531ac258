"""Implicit solids whose intersection with a ray has a closed form."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from viewer.services.synthetic.phantom.rays import Bounds, Floats, Interval, RayGrid

Points = npt.NDArray[np.float64]
Vector = tuple[float, float, float]


class Solid(Protocol):
    """A solid whose intersection with every frontal and lateral ray is one interval."""

    def interval(self, grid: RayGrid) -> Interval:
        """Return the intersection of each ray with the solid."""
        ...

    def bounds(self) -> Bounds:
        """Return a bounding box of the solid."""
        ...

    def contains(self, points: Points) -> npt.NDArray[np.bool_]:
        """Tell which of the (n, 3) points lie inside."""
        ...


class Body(Protocol):
    """Anything that adds to or subtracts from a ray's path through matter."""

    def chord(self, grid: RayGrid) -> Floats:
        """Return the length of each ray inside, (rows, columns) millimetres."""
        ...

    def bounds(self) -> Bounds:
        """Return its bounding box, in millimetres."""
        ...


class Section(NamedTuple):
    """A horizontal cross-section: its height, centre and half-axes, millimetres.

    ``left`` reaches to +x, ``right`` to -x, ``front`` to -y, ``back`` to +y.
    """

    z: float
    x: float
    y: float
    left: float
    right: float
    front: float
    back: float


@dataclass(frozen=True)
class Stack:
    """Horizontal cross-sections piled from top to bottom and blended smoothly.

    Each section is made of four quarter superellipses |u|^n + |v|^n <= 1; n is 4 on
    a ``square`` side (left, right) and 2 on the others. Towards the ends the sections
    shrink like an ellipsoid over ``cap_top`` and ``cap_bottom`` millimetres.
    """

    sections: tuple[Section, ...]
    cap_top: float = 0.0
    cap_bottom: float = 0.0
    square: tuple[bool, bool] = (False, False)

    @property
    def top(self) -> float:
        """The highest z."""
        return self.sections[0].z

    @property
    def bottom(self) -> float:
        """The lowest z."""
        return self.sections[-1].z

    def at(self, z: Floats) -> tuple[Floats, ...]:
        """Return x, y, left, right, front, back at heights z; radii 0 outside."""
        x, y, *radii = self._blend(z)
        scale = self._cap(z)
        return (x, y, *(np.maximum(r * scale, np.float32(1e-3)) for r in radii))

    def interval(self, grid: RayGrid) -> Interval:
        """Return what each ray cuts out of the stack."""
        x, y, left, right, front, back = self.at(grid.up)
        if grid.ray_axis == 1:
            u = _squared_offset(grid.across - x, right, left)
            g = self._side_profile(u, grid.across > x)
            return Interval(y - front * g, y + back * g)
        v = _squared_offset(grid.across - y, front, back)
        return Interval(
            x - right * _profile(v, self.square[1]),
            x + left * _profile(v, self.square[0]),
        )

    def chord(self, grid: RayGrid) -> Floats:
        """Return the length of each ray inside the stack, millimetres."""
        return self.interval(grid).length()

    def bounds(self) -> Bounds:
        """Return a box around the stack."""
        z = np.linspace(self.bottom, self.top, 200, dtype=np.float32)
        x, y, left, right, front, back = self.at(z)
        return Bounds(
            (float((x - right).min()), float((y - front).min()), self.bottom),
            (float((x + left).max()), float((y + back).max()), self.top),
        )

    def contains(self, points: Points) -> npt.NDArray[np.bool_]:
        """Tell which of the (n, 3) points lie inside."""
        x, y, left, right, front, back = self.at(points[:, 2].astype(np.float32))
        px, py = points[:, 0].astype(np.float32), points[:, 1].astype(np.float32)
        u = _squared_offset(px - x, right, left)
        v = _squared_offset(py - y, front, back)
        square = np.where(points[:, 0] > x, *self.square)
        return np.asarray(np.where(square, u * u + v * v, u + v) < 1)

    def scaled(self, factor: float) -> Self:
        """Return the stack with every half-axis multiplied."""
        return replace(
            self,
            sections=tuple(
                Section(s.z, s.x, s.y, *(r * factor for r in s[3:]))
                for s in self.sections
            ),
        )

    def _side_profile(self, u: Floats, on_left: npt.NDArray[np.bool_]) -> Floats:
        if self.square[0] == self.square[1]:
            return _profile(u, self.square[0])
        return np.where(
            on_left, _profile(u, self.square[0]), _profile(u, self.square[1])
        )

    @cached_property
    def _knots(self) -> tuple[Points, Points, Points]:
        """Heights ascending, values and finite-difference slopes of the sections."""
        table = np.array(self.sections[::-1], dtype=np.float64)
        z, values = table[:, 0], table[:, 1:]
        return z, values, np.gradient(values, z, axis=0)

    def _blend(self, z: Floats) -> list[Floats]:
        knots, values, slopes = self._knots
        flat = np.clip(z.ravel().astype(np.float64), knots[0], knots[-1])
        i = np.clip(np.searchsorted(knots, flat) - 1, 0, len(knots) - 2)
        step = knots[i + 1] - knots[i]
        t = (flat - knots[i]) / step
        weights = (
            2 * t**3 - 3 * t**2 + 1,
            (t**3 - 2 * t**2 + t) * step,
            -2 * t**3 + 3 * t**2,
            (t**3 - t**2) * step,
        )
        blended = (
            weights[0][:, np.newaxis] * values[i]
            + weights[1][:, np.newaxis] * slopes[i]
            + weights[2][:, np.newaxis] * values[i + 1]
            + weights[3][:, np.newaxis] * slopes[i + 1]
        )
        return [c.reshape(z.shape).astype(np.float32) for c in blended.T]

    def _cap(self, z: Floats) -> Floats:
        over = np.zeros_like(z)
        if self.cap_top:
            over = np.maximum(over, (z - self.top) / self.cap_top + 1)
        if self.cap_bottom:
            over = np.maximum(over, (self.bottom - z) / self.cap_bottom + 1)
        scale = np.sqrt(np.maximum(1 - over * over, 0))
        inside = (z < self.top) & (z > self.bottom)
        return np.where(inside, scale, 0).astype(np.float32)


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid of half-axes ``radii``, turned by ``angles``.

    ``angles`` are degrees about x, then y, then z (right-handed).
    """

    center: Vector
    radii: Vector
    angles: Vector = (0.0, 0.0, 0.0)

    @cached_property
    def form(self) -> Points:
        """The (3, 3) matrix Q of (p - c)ᵀ Q (p - c) <= 1."""
        turn = rotation(self.angles)
        return turn @ np.diag(1 / np.square(np.array(self.radii))) @ turn.T

    def interval(self, grid: RayGrid) -> Interval:
        """Return what each ray cuts out of the ellipsoid."""
        q, d, a = self.form.astype(np.float32), grid.ray_axis, grid.across_axis
        u = grid.across - np.float32(self.center[a])
        z = grid.up - np.float32(self.center[2])
        slope = (q[d, a] * u + q[d, 2] * z) / q[d, d]
        rest = q[a, a] * u * u + (2 * q[a, 2] * u) * z + q[2, 2] * z * z
        half = np.sqrt(np.maximum(slope * slope - (rest - 1) / q[d, d], 0))
        middle = np.float32(self.center[d]) - slope
        return Interval(middle - half, middle + half)

    def chord(self, grid: RayGrid) -> Floats:
        """Return the length of each ray inside the ellipsoid, millimetres."""
        return self.interval(grid).length()

    def bounds(self) -> Bounds:
        """Return the smallest box around the ellipsoid."""
        half = np.sqrt(np.diag(np.linalg.inv(self.form)))
        center = np.array(self.center)
        return Bounds(vector(center - half), vector(center + half))

    def contains(self, points: Points) -> npt.NDArray[np.bool_]:
        """Tell which of the (n, 3) points lie inside."""
        offset = points - np.array(self.center)
        inside = np.einsum("ni,ij,nj->n", offset, self.form, offset) < 1
        return np.asarray(inside)

    def about(self, origin: Vector, factor: float) -> "Ellipsoid":
        """Return the ellipsoid magnified about a point."""
        center = (np.array(self.center) - origin) * factor + origin
        return Ellipsoid(
            vector(center), vector(np.array(self.radii) * factor), self.angles
        )


@dataclass(frozen=True)
class Bowl:
    """The space above an upright paraboloid, z >= floor + rise·(u² + v²).

    u and v are the offsets from ``center`` (x, y) in units of ``width`` and ``depth``.
    """

    center: tuple[float, float]
    floor: float
    rise: float
    width: float
    depth: float

    def interval(self, grid: RayGrid) -> Interval:
        """Return what each ray cuts out of the bowl."""
        scales = (self.width, self.depth)
        a, d = grid.across_axis, grid.ray_axis
        u = (grid.across - np.float32(self.center[a])) / np.float32(scales[a])
        room = (grid.up - np.float32(self.floor)) / np.float32(self.rise) - u * u
        half = np.float32(scales[d]) * np.sqrt(np.maximum(room, 0))
        middle = np.float32(self.center[d])
        return Interval(middle - half, middle + half)

    def bounds(self) -> Bounds:
        """Return a box that is open to all sides but below."""
        far = 1e4
        return Bounds((-far, -far, self.floor), (far, far, far))

    def contains(self, points: Points) -> npt.NDArray[np.bool_]:
        """Tell which of the (n, 3) points lie inside."""
        u = (points[:, 0] - self.center[0]) / self.width
        v = (points[:, 1] - self.center[1]) / self.depth
        return np.asarray(points[:, 2] >= self.floor + self.rise * (u * u + v * v))


def deposit(out: Floats, grid: RayGrid, body: Body, weight: float) -> None:
    """Add a body's chords, weighted, to (rows, columns) path lengths in place."""
    window = grid.window(body.bounds())
    part = grid.part(window)
    if 0 not in part.shape:
        out[window] += np.float32(weight) * body.chord(part)


def rotation(angles: Vector) -> Points:
    """Return the (3, 3) matrix that turns about x, then y, then z; degrees."""
    (cx, cy, cz), (sx, sy, sz) = np.cos(np.radians(angles)), np.sin(np.radians(angles))
    about_x = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_z = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return np.asarray(about_z @ about_y @ about_x, dtype=np.float64)


def _squared_offset(offset: Floats, low: Floats, high: Floats) -> Floats:
    scaled = offset / np.where(offset > 0, high, low)
    return np.minimum(scaled * scaled, 1).astype(np.float32)


def _profile(squared: Floats, square: bool) -> Floats:
    if square:
        return np.asarray(np.sqrt(np.sqrt(1 - squared * squared)))
    return np.asarray(np.sqrt(1 - squared))


def vector(values: Points) -> Vector:
    """Return three numbers as a tuple."""
    x, y, z = (float(v) for v in values)
    return x, y, z
