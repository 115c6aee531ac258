"""Placement of labels: beside what they name, inside it, or away on a leader line.

A label on another answer's shape would be read as that answer's, so such positions, and
those right beside another shape, are used only as a last resort.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product, zip_longest
from math import inf, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QPainter, QPen

from viewer.ui.canvas.overlays.halo import HALO

GAP: Final = 4.0
"""A label no farther than this from its shape needs no line to it."""
_TOUCH: Final = 1.0
_CONTACT: Final = 6.0
"""How much of an edge a label lies along, where the edge is that long."""
_LEADER_PX: Final = 1.0
_MOST: Final = 30_000
"""Places times blocks that are tried at most, which takes some milliseconds."""
_AT_ONCE: Final = 64
"""So many places are compared with their surroundings at once."""
_OUTWARD: Final = np.array((-1.0, -1.0, 1.0, 1.0))
"""Which way each edge moves where a rectangle grows."""
Edges = npt.NDArray[np.float64]
"""Rectangles (n, 4): left, top, right, bottom in the view's pixels."""
_Floats = npt.NDArray[np.float64]
_Spans = Iterable[tuple[float, float]]
NOTHING: Final[Edges] = np.empty((0, 4))


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The constraints on a label, in the view's pixels.

    It should lie in ``area`` and avoid the texts in ``taken``, the shapes of ``others``
    and ``clear``, the reference, in this order of priority.
    """

    area: QRectF
    taken: Edges = field(default_factory=NOTHING.copy)
    others: Edges = field(default_factory=NOTHING.copy)
    clear: QRectF = field(default_factory=QRectF)


def placed(shape: QRectF, size: QSizeF, seen: Surroundings) -> QRectF:
    """Return the position of the label of a shape.

    ``shape`` is the visible part of the shape, null for an answer without one, whose
    label goes to the left edge of the view, or where there is room.
    """
    constraints, tried = _constraints_of(shape, seen), list[_Floats]()
    for spots in _by_rank(shape, size, constraints):
        costs = _costs(spots[:, :2], size, constraints)
        free = ~costs.any(axis=0)
        if free.any():
            return QRectF(QPointF(*spots[free.argmax(), :2].tolist()), size)
        tried.append(np.vstack((spots.T, costs)))
    x, y, *ranks = np.hstack(tried)
    best = np.lexsort(ranks)[0]  # its last row is compared first
    return QRectF(QPointF(float(x[best]), float(y[best])), size)


def _by_rank(
    shape: QRectF, size: QSizeF, constraints: "_Constraints"
) -> Iterator[_Floats]:
    """Yield places and how far off they are (n, 3), the better first, some at a time.

    Of those that nothing covers the first is the best, and seldom one of many has to
    be compared with all that lies around.
    """
    close = (
        _column(constraints.area, size)
        if shape.isNull()
        else _near(shape, size, constraints)
    )
    near = np.array([(x, y, 0.0) for x, y in close]).reshape(-1, 3)
    yield from _some(near)
    far = _anywhere(size, constraints)
    off = _distances(far, shape, size)
    yield from _some(np.column_stack((far, off))[np.argsort(off, kind="stable")])


def _some(spots: _Floats) -> Iterator[_Floats]:
    for start in range(0, len(spots), _AT_ONCE):
        yield spots[start : start + _AT_ONCE]


@dataclass(frozen=True, eq=False)
class _Constraints:
    """The constraints as edges, (n, 4): left, top, right, bottom.

    ``rects`` are the reference, the other shapes and the texts; ``kinds`` (n, 3) has a
    1 for which of these each is; ``blocks`` are those that stop a label.
    """

    area: Edges
    clear: Edges
    rects: Edges
    kinds: _Floats
    blocks: Edges


def _constraints_of(shape: QRectF, seen: Surroundings) -> _Constraints:
    """Return surroundings as edges, other shapes with a margin off this one.

    All stop a label, or as many of the nearest as are feasible: each adds two columns
    and two rows, and each position is compared with all of them.
    """
    area, clear, mine = edges((seen.area, seen.clear, shape))
    overlaps = _lengths(seen.others - _OUTWARD, mine).min(axis=1, initial=inf) > 0
    others = seen.others + np.where(overlaps, 0.0, GAP)[:, None] * _OUTWARD
    blocks = np.concatenate((seen.taken, others))
    # (2 · most)² places, each compared with all blocks, stay below the limit.
    most = int(sqrt(_MOST / max(1, len(blocks))) / 2)
    if len(blocks) > most:
        apart = np.maximum(-_lengths(blocks, mine), 0)
        nearest = np.argsort(np.hypot(*apart.T), kind="stable")[:most]
        blocks = blocks[nearest]
    rects = np.concatenate((clear[None], others, seen.taken))
    kinds = np.eye(3).repeat((1, len(others), len(seen.taken)), axis=0)
    return _Constraints(area, clear, rects, kinds, blocks)


def edges(rects: Iterable[QRectF]) -> Edges:
    """Return rectangles as an array of their edges."""
    rows = [(r.left(), r.top(), r.right(), r.bottom()) for r in rects]
    return np.array(rows, np.float64).reshape(-1, 4)


def _lengths(rects: Edges, other: Edges) -> _Floats:
    """Return how far each overlaps another across and down, below 0 where apart."""
    low = np.maximum(rects[..., :2], other[..., :2])
    return np.asarray(np.minimum(rects[..., 2:], other[..., 2:]) - low)


def gap_between(one: QRectF, other: QRectF) -> QLineF:
    """Return the shortest line from a rectangle to another; a point if they meet."""
    x0, x1 = _nearest((one.left(), one.right()), (other.left(), other.right()))
    y0, y1 = _nearest((one.top(), one.bottom()), (other.top(), other.bottom()))
    return QLineF(x0, y0, x1, y1)


def nearest_point(rects: Iterable[QRectF], label: QRectF) -> QPointF:
    """Return the point of some rectangles that lies nearest to a label."""
    return min((gap_between(r, label) for r in rects), key=QLineF.length).p1()


def leader_to(point: QPointF, label: QRectF) -> QLineF | None:
    """Return the line from a shape's nearest point to its label, None if they touch."""
    line = gap_between(QRectF(point, point), label)
    return line if line.length() > GAP else None


def paint_leader(painter: QPainter, line: QLineF, color: QColor) -> None:
    """Draw a leader line with a dark halo."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    for pen in (QPen(HALO, _LEADER_PX + 2), QPen(color, _LEADER_PX)):
        painter.setPen(pen)
        painter.drawLine(line)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _nearest(
    one: tuple[float, float], other: tuple[float, float]
) -> tuple[float, float]:
    """Return the points of two spans that are nearest to each other."""
    low, high = max(one[0], other[0]), min(one[1], other[1])
    if low <= high:
        return (low + high) / 2, (low + high) / 2
    return (one[1], other[0]) if one[1] < other[0] else (one[0], other[1])


def _column(area: _Floats, size: QSizeF) -> Iterator[tuple[float, float]]:
    """Yield the places of a label without a shape: down the left edge of the view."""
    left, top, _, bottom = area.tolist()
    pitch = size.height() + GAP
    for number in range(max(1, int((bottom - top) / pitch) - 1)):
        yield left + 2 * GAP, 2 * GAP + number * pitch


def _near(
    shape: QRectF, size: QSizeF, constraints: _Constraints
) -> Iterator[tuple[float, float]]:
    """Yield places against the edges of a shape, then in its corners."""
    wide, high = size.width(), size.height()
    left, top, right, bottom = constraints.blocks.T.tolist()
    across, down = zip(left, right, strict=True), zip(top, bottom, strict=True)
    columns = _stops((shape.left(), shape.right()), wide, across)
    rows = _stops((shape.top(), shape.bottom()), high, down)
    for x, y in zip_longest(columns, rows):
        if y is not None:
            yield shape.right() + _TOUCH, y
            yield shape.left() - _TOUCH - wide, y
        if x is not None:
            yield x, shape.bottom() + _TOUCH
            yield x, shape.top() - _TOUCH - high
    if wide + 2 * GAP <= shape.width() and high + 2 * GAP <= shape.height():
        yield from product(
            (shape.left() + GAP, shape.right() - GAP - wide),
            (shape.top() + GAP, shape.bottom() - GAP - high),
        )


def _stops(edge: tuple[float, float], length: float, blocks: _Spans) -> list[float]:
    """Return where a label of a length may begin so that it lies along an edge."""
    low, high = edge
    stops = [low, high - length, low + GAP, high - length - GAP]
    for start, end in blocks:
        stops += [end, start - length]
    least = min(_CONTACT, high - low)
    return [s for s in stops if min(high, s + length) - max(low, s) >= least]


def _anywhere(size: QSizeF, constraints: _Constraints) -> _Floats:
    """Return places in the view (n, 2): if any is free, one of these is.

    A label in a free place can be moved left and up until something stops it. Of very
    many blocks only the nearest are looked at.
    """
    left, top, right, bottom = np.vstack((constraints.blocks, constraints.clear)).T
    area = constraints.area
    wide, high = size.width(), size.height()
    xs = np.unique(np.concatenate((area[[0]], area[[2]] - wide, right, left - wide)))
    ys = np.unique(np.concatenate((area[[1]], area[[3]] - high, bottom, top - high)))
    return np.column_stack((np.repeat(xs, len(ys)), np.tile(ys, len(xs))))


def _costs(spots: _Floats, size: QSizeF, constraints: _Constraints) -> _Floats:
    """Return (4, n): covered of the reference, of shapes, of texts, and out of view."""
    own, sides = size.width() * size.height(), np.array((size.width(), size.height()))
    labels = np.hstack((spots, spots + sides))
    # Rectangles beyond all labels share nothing with them.
    reach = np.append(labels[:, :2].min(axis=0), labels[:, 2:].max(axis=0))
    near = (_lengths(constraints.rects, reach) > 0).all(axis=1)
    covered = _shared(labels, constraints.rects[near]) @ constraints.kinds[near]
    seen = _shared(labels, constraints.area[None])[:, 0]
    costs = np.vstack((covered.T, own - seen))
    # Noise in the last digits must not decide between places that are equally good.
    return np.asarray(costs.round(3), np.float64)


def _shared(labels: _Floats, rects: _Floats) -> _Floats:
    """Return how much area each label (n, 4) has in common with each rectangle."""
    left, top, right, bottom = rects.T
    wide = np.minimum(labels[:, 2:3], right) - np.maximum(labels[:, 0:1], left)
    high = np.minimum(labels[:, 3:4], bottom) - np.maximum(labels[:, 1:2], top)
    np.maximum(wide, 0, out=wide)
    np.maximum(high, 0, out=high)
    return np.asarray(np.multiply(wide, high, out=wide))


def _distances(spots: _Floats, shape: QRectF, size: QSizeF) -> _Floats:
    """Return how far labels lie from their shape, or from the left without one."""
    if shape.isNull():
        return np.asarray(spots[:, 0])
    across = np.maximum(
        shape.left() - spots[:, 0] - size.width(), spots[:, 0] - shape.right()
    )
    down = np.maximum(
        shape.top() - spots[:, 1] - size.height(), spots[:, 1] - shape.bottom()
    )
    off: _Floats = np.hypot(np.maximum(across, 0), np.maximum(down, 0))
    return off
