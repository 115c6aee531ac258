"""Outlines of masks, drawn only as finely as the screen shows them.

A radiologist's mask of 4096 × 4096 pixels has tens of thousands of corners. Qt takes
tens of milliseconds to stroke them, so only those corners are drawn that are
distinguishable at the zoom and in sight.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QByteArray, QDataStream, QPointF, QRectF
from PySide6.QtGui import QPainter, QPainterPath, QPen, QTransform

from viewer.domain.geometry import BoxPx
from viewer.imaging.outline_loops import outline_loops

_ROUGHNESS: Final = 0.5
"""Device pixels that a drawn outline may lie beside the mask's own at most."""
_LINE: Final = 8.0
"""The view's pixels around what is in sight that a line may reach over."""
_PASSES: Final = 24
_THERE_AND_BACK: Final = 4
_AT_ONCE: Final = 128
"""Lines stroked at once; the time that Qt takes grows faster than their number."""
_Corners = npt.NDArray[np.float64]
"""(n, 2) of x and y."""
_ELEMENT: Final = np.dtype([("kind", ">i4"), ("x", ">f8"), ("y", ">f8")])
"""A corner as Qt writes it: kind 0 moves there, 1 draws a line to it."""


@dataclass(frozen=True, eq=False)
class Loops:
    """Closed loops: their corners one after another, and where each loop begins."""

    corners: _Corners
    first: npt.NDArray[np.intp]

    def path(self) -> QPainterPath:
        """Return them as one path, odd-even filled."""
        return _path_of(self._elements()) if len(self.corners) else QPainterPath()

    def stroke(self, painter: QPainter, pen: QPen) -> None:
        """Draw them as lines."""
        for piece in self.pieces():
            painter.strokePath(piece, pen)

    def pieces(self) -> Iterator[QPainterPath]:
        """Yield them as short paths, which are stroked sooner than a long one."""
        elements = self._elements()
        for start in range(0, len(elements) - 1, _AT_ONCE):
            part = elements[start : start + _AT_ONCE + 1].copy()
            part["kind"][0] = 0
            yield _path_of(part)

    def _elements(self) -> npt.NDArray[np.void]:
        elements = np.empty(len(self.corners), _ELEMENT)
        elements["kind"] = 1
        elements["kind"][self.first] = 0
        elements["x"], elements["y"] = self.corners.T
        return elements


class Outline:
    """The closed outlines of a (rows, columns) mask along its pixels' edges.

    ``field`` is the native rectangle that the mask is stretched over; without one each
    of its elements is a native pixel. Holes are preserved (odd-even filling).
    """

    def __init__(self, mask: npt.NDArray[np.bool_], field: BoxPx | None = None) -> None:
        loops = outline_loops(mask)
        ends = np.cumsum([0, *map(len, loops)])
        corners = np.concatenate([np.zeros((0, 2)), *loops])
        self._exact = Loops(_stretched(corners, mask.shape, field), ends[:-1])
        self._levels: dict[int, Loops] = {}

    @cached_property
    def extent(self) -> QRectF:
        """The smallest native rectangle around the mask; null for an empty mask."""
        corners = self._exact.corners
        return _bounds(corners) if len(corners) else QRectF()

    @cached_property
    def path(self) -> QPainterPath:
        """The outline as it is, in native pixels."""
        return self._exact.path()

    def in_view(self, native: QTransform, area: QRectF, ratio: float) -> Loops:
        """Return its visible part, in the view's pixels.

        ``native`` maps native pixels to the view, ``area`` is what is in sight there
        and ``ratio`` device pixels to one of the view's. The loops close outside of
        ``area``, and in it none of the mask's corners lies more than half a device
        pixel off their lines.
        """
        loops = self._level(_scale(native) * ratio)
        shown = _mapped(loops.corners, native)
        return _clipped(Loops(shown, loops.first), area)

    def nearest(self, native: QTransform, label: QRectF) -> QPointF:
        """Return the point of the outlines, in the view, that is nearest to a label."""
        loops = self._level(_scale(native))
        ends = np.delete(np.arange(1, len(loops.corners)), loops.first[1:] - 1)
        shown = _mapped(loops.corners, native)
        return QPointF(*_nearest(shown[ends - 1], shown[ends], label).tolist())

    def _level(self, scale: float) -> Loops:
        """Return the loops for a zoom of so many device pixels a native one."""
        number = int(np.floor(-2 * np.log2(scale)))
        if number <= 0:
            return self._exact
        if number not in self._levels:
            tolerance = _ROUGHNESS * 2 ** (number / 2)
            self._levels[number] = _thinned(self._exact, tolerance)
        return self._levels[number]


def _scale(native: QTransform) -> float:
    """Return the view's pixels per native pixel, along the finer of both axes."""
    across, down = native.m11() + native.m12(), native.m21() + native.m22()
    return max(abs(across), abs(down))  # in quarters, one of each pair is 0


def _mapped(corners: _Corners, native: QTransform) -> _Corners:
    turn = np.array(((native.m11(), native.m12()), (native.m21(), native.m22())))
    turned = corners @ turn if native.isRotating() else corners * turn.diagonal()
    return np.asarray(turned + np.array((native.dx(), native.dy())))


def _nearest(starts: _Corners, ends: _Corners, label: QRectF) -> _Corners:
    """Return the point (2,) of some lines that is nearest to a rectangle.

    From a line to the rectangle and back, again and again: both are convex.
    """
    low, high = (label.left(), label.top()), (label.right(), label.bottom())
    along = ends - starts
    length = np.maximum((along**2).sum(axis=1), np.finfo(float).tiny)
    points = starts
    for _ in range(_THERE_AND_BACK):
        met = np.clip(points, low, high)
        share = np.clip(((met - starts) * along).sum(axis=1) / length, 0.0, 1.0)
        points = starts + share[:, None] * along
    return np.asarray(points[_from(points, low, high).argmin()])


def _from(
    points: _Corners, low: tuple[float, float], high: tuple[float, float]
) -> npt.NDArray[np.float64]:
    return np.asarray(np.hypot(*(points - np.clip(points, low, high)).T))


def _stretched(
    corners: _Corners, shape: tuple[int, ...], field: BoxPx | None
) -> _Corners:
    if field is None:
        return corners
    rows, columns = shape
    pitch = (field.x1 - field.x0) / columns, (field.y1 - field.y0) / rows
    return np.asarray(corners * pitch + (field.x0, field.y0))


def _thinned(loops: Loops, tolerance: float) -> Loops:
    """Return fewer corners; none left out lies beyond ``tolerance`` of its line.

    Every second corner is removed if the line without it is close enough to all corners
    it replaces, until none can be. The outermost corners of every loop stay, so that it
    keeps its size.
    """
    corners, fixed = loops.corners, _outermost(loops)
    indices = np.arange(len(corners))
    idle = 0
    for turn in range(_PASSES):
        asked = np.arange(1 + turn % 2, len(indices) - 1, 2)
        asked = asked[~fixed[indices[asked]]]
        near = _farthest(corners, indices[asked - 1], indices[asked + 1]) <= tolerance
        idle = 0 if near.any() else idle + 1
        if idle == 2:
            break
        indices = np.delete(indices, asked[near])
    return Loops(corners[indices], np.searchsorted(indices, loops.first))


def _farthest(
    corners: _Corners, before: npt.NDArray[np.intp], after: npt.NDArray[np.intp]
) -> npt.NDArray[np.float64]:
    """Return how far, at most, the corners between two lie from the line of the two."""
    if not len(before):
        return np.zeros(0)
    counts = after - before - 1
    spans = np.cumsum(counts) - counts
    between = np.arange(counts.sum()) + np.repeat(before + 1 - spans, counts)
    chord = np.repeat(corners[after] - corners[before], counts, axis=0)
    arm = corners[between] - np.repeat(corners[before], counts, axis=0)
    length = np.maximum((chord**2).sum(axis=1), np.finfo(float).tiny)
    share = np.clip((chord * arm).sum(axis=1) / length, 0.0, 1.0)
    far = np.hypot(*(arm - share[:, None] * chord).T)
    return np.asarray(np.maximum.reduceat(far, spans))


def _ends(loops: Loops) -> npt.NDArray[np.bool_]:
    """Tell which corners a loop begins or ends with."""
    ends = np.zeros(len(loops.corners), np.bool_)
    ends[loops.first] = ends[loops.first - 1] = True
    return ends


def _outermost(loops: Loops) -> npt.NDArray[np.bool_]:
    """Tell which corners are the ends of a loop, or its extremes."""
    fixed, count = _ends(loops), len(loops.corners)
    loop = np.repeat(
        np.arange(len(loops.first)), np.diff(np.append(loops.first, count))
    )
    for values in loops.corners.T:
        order = np.lexsort((values, loop))
        fixed[order[loops.first]] = fixed[order[loops.first - 1]] = True
    return fixed


def _clipped(loops: Loops, area: QRectF) -> Loops:
    """Return loops drawn in to just outside ``area``; in it nothing is changed.

    They are held to a frame that is as far from ``area`` as the longest line is long:
    a line with an end beyond it cannot reach ``area``, before or after.
    """
    shown = loops.corners
    if not len(shown) or area.contains(_bounds(shown)):
        return loops
    lines = np.abs(np.diff(shown, axis=0))
    lines[loops.first[1:] - 1] = 0.0  # from loop to loop there is no line
    reach = lines.max(axis=0) + _LINE
    low = np.array((area.left(), area.top())) - reach
    high = np.array((area.right(), area.bottom())) + reach
    held = Loops(np.clip(shown, low, high), loops.first)
    # Twins go first: of two in a corner of the frame, each lies on one side.
    held = _without(held, _twins(held.corners))
    return _without(held, _along_frame(held.corners, low, high))


def _without(loops: Loops, corners: npt.NDArray[np.bool_]) -> Loops:
    """Return loops without these corners, their ends kept."""
    indices = np.flatnonzero(~corners | _ends(loops))
    return Loops(loops.corners[indices], np.searchsorted(indices, loops.first))


def _twins(held: _Corners) -> npt.NDArray[np.bool_]:
    """Tell which corners are the one before once more."""
    again = np.zeros(len(held), np.bool_)
    again[1:] = (held[1:] == held[:-1]).all(axis=1)
    return again


def _along_frame(
    held: _Corners, low: _Corners, high: _Corners
) -> npt.NDArray[np.bool_]:
    """Tell which corners lie between two others on one side of the frame."""
    between = np.zeros(len(held), np.bool_)
    stays = (held[1:] == held[:-1]) & ((held[1:] == low) | (held[1:] == high))
    between[1:-1] = (stays[1:] & stays[:-1]).any(axis=1)
    return between


def _bounds(corners: _Corners) -> QRectF:
    (x0, y0), (x1, y1) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
    return QRectF(x0, y0, x1 - x0, y1 - y0)


def _path_of(elements: npt.NDArray[np.void]) -> QPainterPath:
    """Return a path of at least one element.

    Qt reads it from its own serial form, in a hundredth of the time of as many calls.
    """
    path = QPainterPath()
    count = np.array([len(elements)], ">i4").tobytes()
    # Behind the corners: where a line to come would start, and the odd-even rule.
    QDataStream(QByteArray(count + elements.tobytes() + bytes(8))) >> path
    return path
