"""Conversion of a convention's numbers to native pixels, recording every problem."""

import base64
import binascii
import math
from collections.abc import Sequence
from dataclasses import dataclass

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx, PointPx, PolygonPx, SizePx
from viewer.domain.places import BoxMask, Flag, Place, Rejected
from viewer.imaging.png import decode_png
from viewer.models.coordinates.frame import Frame, Space
from viewer.models.coordinates.marks import Kind, Mark

_EDGE = 1e-6


@dataclass(frozen=True, slots=True)
class _Clipped:
    """Points clipped to an image, and whether any had to be moved."""

    points: tuple[PointPx, ...]
    moved: bool


def place(mark: Mark, space: Space, frame: Frame) -> Place | Rejected:
    """Return a mark in native pixels, or why it is not a location.

    Corners are sorted, then clipped to the sent image and again to the native one,
    because a letterbox extends beyond it.
    """
    if reason := _bad_numbers(mark, space):
        return Rejected(mark.written, reason)
    points, swapped = _ordered(mark)
    if mark.kind is not Kind.POINT and _is_flat(mark.kind, points):
        return Rejected(mark.written, "zero_area")
    to_sent, to_native = space.to_sent(frame), frame.to_sent.inverse()
    unclipped = tuple(to_sent.apply(point) for point in points)
    on_sent = _clip(unclipped, frame.sent)
    on_native = _clip([to_native.apply(p) for p in on_sent.points], frame.native)
    whole = tuple(to_native.apply(point) for point in unclipped)
    if _vanished(mark.kind, whole, on_native.points, space.bin_native(frame)):
        return Rejected(mark.written, "outside_image")
    flags = list(mark.flags)
    flags += [Flag.TRANSPOSED] if swapped else []
    flags += [Flag.CLIPPED] if on_sent.moved or on_native.moved else []
    flags += [Flag.SUSPECT_SCALE] if _suspect(mark, space) else []
    mask, trouble = _mask(mark, whole)
    shape = _shape(mark.kind, on_native.points)
    return Place(shape, mark.label, (*flags, *trouble), mask, mark.seg_codes)


def _bad_numbers(mark: Mark, space: Space) -> str:
    """Return why numbers are invalid in their convention, else ""."""
    # The reader keeps infinite numbers, so that they are rejected and counted here.
    if not all(math.isfinite(value) and abs(value) < 1e9 for value in mark.values):
        return "not_a_number"
    if space.largest is None:
        return ""
    # A bin's number means its middle, so the image reaches half a bin further.
    slack = 0.5 if space.centred else 0.0
    inside = all(-slack <= v <= space.largest + slack for v in mark.values)
    return "" if inside else "out_of_range"


def _ordered(mark: Mark) -> tuple[tuple[PointPx, ...], bool]:
    """Return a mark's points, for a box its upper left and lower right corner."""
    xs, ys = mark.values[::2], mark.values[1::2]
    points = tuple(PointPx(x, y) for x, y in zip(xs, ys, strict=True))
    if mark.kind is not Kind.BOX:
        return points, False
    corners = (PointPx(min(xs), min(ys)), PointPx(max(xs), max(ys)))
    return corners, corners != points


def _is_flat(kind: Kind, points: Sequence[PointPx]) -> bool:
    if kind is Kind.BOX:
        return points[0].x >= points[1].x or points[0].y >= points[1].y
    return abs(_area(points)) < _EDGE


def _area(points: Sequence[PointPx]) -> float:
    """Return the signed area of an outline (shoelace formula)."""
    ahead = (*points[1:], points[0])
    return sum(a.x * b.y - b.x * a.y for a, b in zip(points, ahead, strict=True)) / 2


def _clip(points: Sequence[PointPx], size: SizePx) -> _Clipped:
    clipped = tuple(
        PointPx(min(max(p.x, 0.0), size.columns), min(max(p.y, 0.0), size.rows))
        for p in points
    )
    moved = any(
        abs(a.x - b.x) > _EDGE or abs(a.y - b.y) > _EDGE
        for a, b in zip(points, clipped, strict=True)
    )
    return _Clipped(clipped, moved)


def _vanished(
    kind: Kind, whole: Sequence[PointPx], clipped: Sequence[PointPx], step: PointPx
) -> bool:
    """Tell whether nothing of a mark lies on the image.

    A point may lie one step outside, as rounding alone can cause that.
    """
    if kind is Kind.POINT:
        away = abs(whole[0].x - clipped[0].x), abs(whole[0].y - clipped[0].y)
        return away[0] > step.x + _EDGE or away[1] > step.y + _EDGE
    return _is_flat(kind, clipped)


def _suspect(mark: Mark, space: Space) -> bool:
    """Tell whether numbers look like fractions although the convention's are larger."""
    if space.centred or not all(0.0 <= value <= 1.0 for value in mark.values):
        return False
    steps = [value / space.step for value in mark.values]
    return any(abs(n - round(n)) > _EDGE for n in steps)


def _shape(kind: Kind, points: Sequence[PointPx]) -> PointPx | BoxPx | PolygonPx:
    if kind is Kind.POINT:
        return points[0]
    if kind is Kind.BOX:
        return BoxPx(points[0].x, points[0].y, points[1].x, points[1].y)
    return PolygonPx(tuple(points))


def _mask(
    mark: Mark, corners: Sequence[PointPx]
) -> tuple[BoxMask | None, tuple[Flag, ...]]:
    """Return a box's mask from a base64 PNG, as a data URI or bare."""
    if mark.mask is None or mark.kind is not Kind.BOX:
        return None, ()
    try:
        coded = mark.mask.rsplit("base64,", 1)[-1]
        pixels = decode_png(base64.b64decode(coded, validate=True)).pixels
    except (UnreadableInputError, binascii.Error, ValueError):
        return None, (Flag.MASK_UNREADABLE,)
    (upper, lower), grey = corners, pixels if pixels.ndim == 2 else pixels[..., 0]
    return BoxMask(BoxPx(upper.x, upper.y, lower.x, lower.y), grey), ()
