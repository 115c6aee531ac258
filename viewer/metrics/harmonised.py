"""Any answer against any reference under every rule (X-03): the harmonised hit.

A mask is hit by pointing (the answer's point lies on it), by cell (the point's cell is
in its hit set) or by area (intersection over union of the answer's pixels and the
mask's).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Answer
from viewer.domain.answer_json import type_of
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.result import Measures
from viewer.metrics.coverage import Segments, column_segments
from viewer.metrics.pointing import containing_cell, pointing_point
from viewer.metrics.regions import mask_of_boxes, region


@dataclass(frozen=True, eq=False)
class Target:
    """A reference prepared for every rule, cropped to the part that was sent.

    ``mask`` is (rows, columns) on native pixels, ``segments`` the same mask, ``whole``
    the reference before cropping; ``field`` is the native rectangle under the ``grid``,
    ``hits`` the qualifying cells' row-major indices; ``geometry`` is the image's.
    """

    mask: npt.NDArray[np.bool_]
    whole: npt.NDArray[np.bool_]
    segments: Segments
    grid: Grid
    field: BoxPx
    hits: tuple[int, ...]
    geometry: ImageGeometry

    @property
    def size(self) -> SizePx:
        """Rows and columns of the image."""
        return SizePx(int(self.mask.shape[0]), int(self.mask.shape[1]))


@dataclass(frozen=True, slots=True)
class Overlap:
    """Intersection over union and Dice coefficient, both 0 to 1."""

    iou: float
    dice: float


def target(
    reference: Mask,
    grid: Grid,
    field: BoxPx,
    hits: Sequence[int],
    geometry: ImageGeometry,
) -> Target:
    """Return a reference mask as a target, cropped to what was sent (E000-08)."""
    whole = reference.array()
    mask = whole & mask_of_boxes((field,), reference.size)
    segments = column_segments(Mask.of_array(mask))
    return Target(mask, whole, segments, grid, field, tuple(hits), geometry)


def measures(answer: Answer, goal: Target) -> Measures | None:
    """Return how an answer compares with a reference, None if no part of that was sent.

    Its pixels are cropped to what was sent like the reference's, so that the reference
    given as the answer agrees with itself entirely.
    """
    if not goal.segments.x.size:
        return None
    aspect, spacing = goal.geometry.pixel_aspect, goal.geometry.spacing
    point = pointing_point(answer, goal.grid, goal.field, aspect)
    cell = containing_cell(point, goal.grid, goal.field)
    covered = region(answer, goal.grid, goal.field, goal.size)
    shared = uncropped = None
    if covered is not None:
        sent = mask_of_boxes((goal.field,), goal.size)
        shared = overlap(covered & sent, goal.mask)
        uncropped = overlap(covered, goal.whole)
    return Measures(
        kind=type_of(answer),
        point=point,
        cell_hit=cell is not None
        and cell.row * goal.grid.columns + cell.column in goal.hits,
        pointing_hit=holds(goal.mask, point),
        iou=shared.iou if shared else None,
        dice=shared.dice if shared else None,
        distance_px=distance(goal.segments, point, 1.0, aspect),
        distance_mm=distance(goal.segments, point, spacing.column_mm, spacing.row_mm)
        if spacing
        else None,
        mm_meaning=spacing.meaning if spacing else None,
        iou_uncropped=uncropped.iou if uncropped else None,
        dice_uncropped=uncropped.dice if uncropped else None,
    )


def holds(mask: npt.NDArray[np.bool_], point: PointPx) -> bool:
    """Tell whether the pixel that contains a point is set (E000-23).

    The image's far edges belong to its last pixels; outside the image nothing is set.
    """
    rows, columns = mask.shape
    if not (0 <= point.x <= columns and 0 <= point.y <= rows):
        return False
    y, x = min(int(point.y), rows - 1), min(int(point.x), columns - 1)
    return bool(mask[y, x])


def overlap(one: npt.NDArray[np.bool_], other: npt.NDArray[np.bool_]) -> Overlap:
    """Return the overlap of two (rows, columns) masks; 0 if both are empty."""
    both = int(np.count_nonzero(one & other))
    total = int(np.count_nonzero(one)) + int(np.count_nonzero(other))
    if total == 0:
        return Overlap(0.0, 0.0)
    return Overlap(both / (total - both), 2 * both / total)


def distance(segments: Segments, point: PointPx, width: float, height: float) -> float:
    """Return the distance from a point to the nearest set pixel's rectangle.

    In the unit of a pixel's ``width`` and ``height``; 0 on the mask and on its edge.
    There must be at least one segment.
    """
    across = np.maximum(segments.x - point.x, point.x - segments.x - 1)
    along = np.maximum(segments.y0 - point.y, point.y - segments.y1)
    x, y = np.maximum(across, 0.0), np.maximum(along, 0.0)
    return float(np.hypot(x * width, y * height).min())
