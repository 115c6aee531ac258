"""Outlines of many objects drawn at once, with array operations alone.

What is so small on the screen that its form cannot be seen is drawn as a rectangle, or
as a dot: a picture of 100,000 objects takes as long as one of a few large ones.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import Affine, SizePx
from viewer.domain.slide_objects import SlideObjects

DOT_PX: Final = 5.0
"""An object whose longer side is less is a dot."""
_FORM_PX: Final = 12.0
"""One whose longer side is less is a rectangle."""
_THICK: Final = 2
_Argb = npt.NDArray[np.uint32]
_Floats = npt.NDArray[np.float64]
_Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Lines:
    """Straight lines in device pixels: (n, 4) x0, y0, x1, y1, and the class of each."""

    ends: _Floats
    kinds: _Indices


def draw_outlines(
    objects: SlideObjects, size: SizePx, to_screen: Affine, colours: _Argb
) -> _Argb:
    """Return a picture of the objects on a screen, transparent elsewhere.

    Parameters
    ----------
    objects : SlideObjects
        Outlines in pixels of the scan.
    size : SizePx
        Of the screen, in device pixels.
    to_screen : Affine
        From pixels of the scan to those of the screen; without a turn.
    colours : numpy.ndarray
        The colour of each class, 0xAARRGGBB.

    Returns
    -------
    numpy.ndarray
        (rows, columns), 0xAARRGGBB; lines are two pixels wide.
    """
    scale = np.array([to_screen.a, to_screen.e])
    shift = np.array([to_screen.c, to_screen.f])
    seen = _seen(objects, size, to_screen)
    boxes = objects.boxes[seen] * np.tile(scale, 2) + np.tile(shift, 2)
    kinds = objects.kinds[seen]
    longer = (boxes[:, 2:] - boxes[:, :2]).max(axis=1, initial=0)
    dots, large = longer < DOT_PX, longer >= _FORM_PX
    small = ~(dots | large)
    picture = np.zeros((size.rows + _THICK, size.columns + _THICK), np.uint32)
    middles = (boxes[dots, :2] + boxes[dots, 2:]) / 2
    limits = np.array([size.columns, size.rows])
    inside = ((middles >= 0) & (middles < limits)).all(axis=1)
    _press(picture, middles[inside], colours[kinds[dots][inside]])
    for lines in (
        _rectangles(boxes[small], kinds[small]),
        _outlines(objects, seen[large], scale, shift),
    ):
        _rule(picture, _clipped(lines, size), colours)
    return np.ascontiguousarray(picture[: size.rows, : size.columns])


def pan_outlines(
    before: _Argb,
    moved: tuple[int, int],
    objects: SlideObjects,
    to_screen: Affine,
    colours: _Argb,
) -> _Argb:
    """Return the picture of a screen that moved, and draw only what comes into sight.

    Parameters
    ----------
    before : numpy.ndarray
        What `draw_outlines` returned of the same objects at the same scale.
    moved : tuple of int
        By how many device pixels everything moved right and down.
    objects, to_screen, colours
        As in `draw_outlines`, for the screen as it is now.

    Returns
    -------
    numpy.ndarray
        As of `draw_outlines`, but for lines at the edge of ``before``, whose middles
        may differ by one pixel.
    """
    rows, columns = before.shape
    right, down = moved
    picture = np.empty_like(before)
    picture[_part(down, rows), _part(right, columns)] = before[
        _part(-down, rows), _part(-right, columns)
    ]
    for top, left, height, width in (
        (0 if down > 0 else rows + down, 0, abs(down), columns),
        (0, 0 if right > 0 else columns + right, rows, abs(right)),
    ):
        # Beyond its edges, for the thickness of lines that come from there.
        size = SizePx(height + 2 * _THICK, width + 2 * _THICK)
        x, y = to_screen.c - left + _THICK, to_screen.f - top + _THICK
        shifted = Affine(to_screen.a, 0.0, x, 0.0, to_screen.e, y)
        strip = draw_outlines(objects, size, shifted, colours)
        inner = strip[_THICK:-_THICK, _THICK:-_THICK]
        picture[top : top + height, left : left + width] = inner
    return picture


def _part(moved: int, length: int) -> slice:
    """Return what of a length is still in sight after it moved."""
    return slice(max(0, moved), min(length, length + moved))


def _seen(objects: SlideObjects, size: SizePx, to_screen: Affine) -> _Indices:
    """Return the outlines whose rectangle touches the screen."""
    left, right = ((x - to_screen.c) / to_screen.a for x in (0, size.columns))
    top, bottom = ((y - to_screen.f) / to_screen.e for y in (0, size.rows))
    x0, y0, x1, y1 = objects.boxes.T
    across = np.flatnonzero((x1 >= left) & (x0 < right))
    return np.asarray(across[(y1[across] >= top) & (y0[across] < bottom)])


def _rectangles(boxes: _Floats, kinds: _Indices) -> _Lines:
    corners = ((0, 1, 2, 1), (2, 1, 2, 3), (2, 3, 0, 3), (0, 3, 0, 1))
    ends = np.concatenate([boxes[:, list(side)] for side in corners])
    return _Lines(ends, np.tile(kinds, len(corners)))


def _outlines(
    objects: SlideObjects, chosen: _Indices, scale: _Floats, shift: _Floats
) -> _Lines:
    first, last = objects.starts[chosen], objects.starts[chosen + 1]
    counts = last - first
    at = _ranges(first, counts)
    following = at + 1
    following[np.cumsum(counts) - 1] = first  # the last point is joined to the first
    points = np.concatenate((objects.points[at], objects.points[following]), axis=1)
    ends = points.astype(np.float64) * np.tile(scale, 2) + np.tile(shift, 2)
    return _Lines(ends, np.repeat(objects.kinds[chosen], counts))


def _ranges(first: _Indices, counts: _Indices) -> _Indices:
    """Return ``first[k], first[k] + 1, …``, ``counts[k]`` numbers, for each k."""
    before = np.cumsum(counts) - counts
    return np.asarray(np.arange(counts.sum()) + np.repeat(first - before, counts))


def _clipped(lines: _Lines, size: SizePx) -> _Lines:
    """Cut lines at the edges of the screen (Liang and Barsky 1984); leave out others.

    Otherwise a magnified outline would have millions of pixels that nobody sees.
    """
    start, way = lines.ends[:, :2], lines.ends[:, 2:] - lines.ends[:, :2]
    limits = np.array([size.columns, size.rows], float)
    with np.errstate(divide="ignore", invalid="ignore"):
        edges = np.stack((-start / way, (limits - start) / way))
    enter, leave = edges.min(axis=0), edges.max(axis=0)
    # A line along an edge of the screen crosses it nowhere: it is inside, or it is not.
    still, inside = way == 0, (start >= 0) & (start < limits)
    enter[still] = np.where(inside, -np.inf, np.inf)[still]
    leave[still] = np.where(inside, np.inf, -np.inf)[still]
    first = np.clip(enter.max(axis=1), 0, None)
    last = np.clip(leave.min(axis=1), None, 1)
    kept = first <= last
    begin, going = start[kept], way[kept]
    ends = np.concatenate(
        (begin + going * first[kept, None], begin + going * last[kept, None]), axis=1
    )
    return _Lines(ends, lines.kinds[kept])


def _rule(picture: _Argb, lines: _Lines, colours: _Argb) -> None:
    """Draw lines as pixels whose middles are at most one apart."""
    way = lines.ends[:, 2:] - lines.ends[:, :2]
    counts = np.ceil(np.abs(way).max(axis=1, initial=0)).astype(np.int64) + 1
    steps = way / np.maximum(counts - 1, 1)[:, None]
    number = _ranges(np.zeros_like(counts), counts)
    at = np.repeat(lines.ends[:, :2], counts, axis=0)
    at += np.repeat(steps, counts, axis=0) * number[:, None]
    _press(picture, at, np.repeat(colours[lines.kinds], counts))


def _press(picture: _Argb, at: _Floats, colour: _Argb) -> None:
    """Colour a square of pixels at each position, (n, 2) x and y on the screen."""
    width, flat = picture.shape[1], picture.reshape(-1)
    first = at[:, 1].astype(np.int32) * width + at[:, 0].astype(np.int32)
    for down in range(_THICK):
        for across in range(_THICK):
            flat[first + (down * width + across)] = colour
