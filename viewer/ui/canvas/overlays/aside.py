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
    heeded = _heeded(shape, seen)
    near = _column(seen.area, size) if shape.isNull() else _near(shape, size, heeded)
    spots = _array(near)
    costs = _costs(spots, size, heeded)
    if not len(spots) or not (costs.sum(axis=0) == 0).any():
        far = _array(_anywhere(size, heeded))
        off = np.concatenate((np.zeros(len(spots)), _distances(far, shape, size)))
        spots = np.concatenate((spots, far))
        costs = np.vstack((off, _costs(spots, size, heeded)))
    best = np.lexsort(costs)[0]  # its last row is compared first
    return QRectF(QPointF(*spots[best].tolist()), size)


@dataclass(frozen=True, eq=False)
class _Heeded:
    """The constraints as edges, (n, 4): left, top, right, bottom, and ``blocks``."""

    area: Edges
    taken: Edges
    others: Edges
    clear: Edges
    blocks: Edges


def _heeded(shape: QRectF, seen: Surroundings) -> _Heeded:
    """Return surroundings as edges, other shapes with a margin off this one.

    All stop a label, or as many of the nearest as are feasible: each adds two columns
    and two rows, and each position is compared with all of them.
    """
    (mine,) = edges([shape])
    overlaps = _lengths(seen.others - _OUTWARD, mine).min(axis=1, initial=inf) > 0
    others = seen.others + np.where(overlaps, 0.0, GAP)[:, None] * _OUTWARD
    blocks = np.concatenate((seen.taken, others))
    # (2 · most)² places, each compared with all blocks, stay below the limit.
    most = int(sqrt(_MOST / max(1, len(blocks))) / 2)
    if len(blocks) > most:
        apart = np.maximum(-_lengths(blocks, mine), 0)
        nearest = np.argsort(np.hypot(*apart.T), kind="stable")[:most]
        blocks = blocks[nearest]
    area, clear = edges([seen.area]), edges([seen.clear])
    return _Heeded(area, seen.taken, others, clear, blocks)


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


def _column(area: QRectF, size: QSizeF) -> Iterator[tuple[float, float]]:
    """Yield the places of a label without a shape: down the left edge of the view."""
    pitch = size.height() + GAP
    for number in range(max(1, int(area.height() / pitch) - 1)):
        yield area.left() + 2 * GAP, 2 * GAP + number * pitch


def _near(
    shape: QRectF, size: QSizeF, heeded: _Heeded
) -> Iterator[tuple[float, float]]:
    """Yield places against the edges of a shape, then in its corners."""
    wide, high = size.width(), size.height()
    left, top, right, bottom = heeded.blocks.T.tolist()
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


def _anywhere(size: QSizeF, heeded: _Heeded) -> Iterator[tuple[float, float]]:
    """Yield places in the view: if any is free, one of these is.

    A label in a free place can be moved left and up until something stops it. Of very
    many blocks only the nearest are looked at.
    """
    left, top, right, bottom = np.concatenate((heeded.blocks, heeded.clear)).T
    (area,) = heeded.area.tolist()
    xs = {area[0], area[2] - size.width(), *right, *(left - size.width())}
    ys = {area[1], area[3] - size.height(), *bottom, *(top - size.height())}
    return product(sorted(xs), sorted(ys))


def _costs(spots: _Floats, size: QSizeF, heeded: _Heeded) -> _Floats:
    """Return (4, n): covered of the reference, of shapes, of texts, and out of view."""
    ends = spots + np.array((size.width(), size.height()))
    label = np.hstack((spots, ends))
    area = size.width() * size.height()
    rows = (
        _shared(label, heeded.clear),
        _shared(label, heeded.others),
        _shared(label, heeded.taken),
        area - _shared(label, heeded.area),
    )
    # Noise in the last digits must not decide between places that are equally good.
    return np.asarray(np.round(np.stack(rows), 3), np.float64)


def _shared(labels: _Floats, rects: _Floats) -> _Floats:
    """Return how much area of each label (n, 4) some rectangles cover, summed."""
    if not len(labels):
        return np.zeros(0)
    # Rectangles beyond all labels share nothing with them.
    reach = np.append(labels[:, :2].min(axis=0), labels[:, 2:].max(axis=0))
    left, top, right, bottom = rects[_lengths(rects, reach).min(axis=1) > 0].T
    wide = np.minimum(labels[:, 2:3], right) - np.maximum(labels[:, 0:1], left)
    high = np.minimum(labels[:, 3:4], bottom) - np.maximum(labels[:, 1:2], top)
    np.maximum(wide, 0, out=wide)
    np.maximum(high, 0, out=high)
    return np.asarray(np.einsum("ij,ij->i", wide, high))


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


def _array(spots: Iterable[tuple[float, float]]) -> _Floats:
    return np.array(list(spots), np.float64).reshape(-1, 2)
