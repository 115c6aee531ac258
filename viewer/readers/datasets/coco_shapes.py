"""One COCO annotation's box and pixels."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx, PointPx, PolygonPx, SizePx
from viewer.domain.reference import Mask
from viewer.imaging.coco_outline import covered
from viewer.metrics.regions import mask_of_boxes
from viewer.readers.datasets.annotated import MakeMask
from viewer.readers.datasets.segmentations import read_mask

_HOW = "Write annotations as in COCO's instances files."
_FARTHEST = 65_535
"""Pixels that a corner of an outline may lie from the origin."""


@dataclass(frozen=True)
class Shape:
    """An annotation: at least one of its box, its outlines and its encoded mask."""

    box: BoxPx | None
    outlines: tuple[PolygonPx, ...] = ()
    mask: Mask | None = None
    crowd: bool = False

    @property
    def has_pixels(self) -> bool:
        """Tell whether it has more than a box."""
        return bool(self.outlines) or self.mask is not None


def shape_of(row: Mapping[str, object]) -> Shape:
    """Return the shape of an annotation.

    Raises
    ------
    UnreadableInputError
        A number is invalid, a box or an outline has no area, a code cannot be read, or
        there is neither box nor segmentation.
    """
    drawn, coded = row.get("bbox"), row.get("segmentation")
    box = _box(drawn) if drawn else None
    outlines: tuple[PolygonPx, ...] = ()
    mask = None
    if isinstance(coded, dict):
        mask, _ = read_mask(coded)
    elif coded:
        outlines = _outlines(coded)
    if box is None and mask is None and not outlines:
        raise _unreadable("it has neither box nor segmentation")
    return Shape(box or _box_around(outlines), outlines, mask, row.get("iscrowd") == 1)


def mask_maker(shapes: Sequence[Shape]) -> MakeMask:
    """Return a function that returns the union of shapes; boxes cover pixel centres."""
    return partial(_union, tuple(shapes))


def _union(shapes: Sequence[Shape], size: SizePx) -> Mask:
    whole = np.zeros((size.rows, size.columns), dtype=np.bool_)
    for shape in shapes:
        if shape.mask is not None and shape.mask.size != size:
            return shape.mask  # its size is what is wrong, and said by who asked
        whole |= _pixels(shape, size)
    return Mask.of_array(whole)


def _pixels(shape: Shape, size: SizePx) -> npt.NDArray[np.bool_]:
    if shape.mask is not None:
        return shape.mask.array()
    if not shape.outlines:
        return mask_of_boxes((shape.box,) if shape.box else (), size)
    parts = [covered(outline, size) for outline in shape.outlines]
    return np.asarray(np.logical_or.reduce(parts))


def _box(drawn: object) -> BoxPx:
    x, y, width, height = _numbers(drawn, 4)
    if width <= 0 or height <= 0:
        raise _unreadable("its box has no area")
    return BoxPx(x, y, x + width, y + height)


def _outlines(coded: object) -> tuple[PolygonPx, ...]:
    if not isinstance(coded, list):
        raise _unreadable("its segmentation is neither outlines nor a run-length code")
    return tuple(_outline(part) for part in coded)


def _outline(part: object) -> PolygonPx:
    numbers = _numbers(part)
    if len(numbers) < 6 or len(numbers) % 2:
        raise _unreadable("an outline has fewer than three points")
    if max(map(abs, numbers)) > _FARTHEST:
        raise _unreadable("a point of an outline lies far outside the image")
    points = zip(numbers[::2], numbers[1::2], strict=True)
    return PolygonPx(tuple(PointPx(x, y) for x, y in points))


def _numbers(listed: object, count: int | None = None) -> list[float]:
    if not isinstance(listed, list) or count not in {None, len(listed)}:
        raise _unreadable("it is not a list of numbers")
    if not all(type(n) in {int, float} and math.isfinite(n) for n in listed):
        raise _unreadable("it contains something that is not a number")
    return [float(n) for n in listed]


def _box_around(outlines: Sequence[PolygonPx]) -> BoxPx | None:
    points = [point for outline in outlines for point in outline.points]
    if not points:
        return None
    x, y = [p.x for p in points], [p.y for p in points]
    return BoxPx(min(x), min(y), max(x), max(y))


def _unreadable(why: str) -> UnreadableInputError:
    return UnreadableInputError(f"An annotation cannot be read: {why}.", _HOW)
