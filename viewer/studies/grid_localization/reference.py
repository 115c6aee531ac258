"""A reference mask as scored through a grid (E000-08, -16, -17)."""

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import Affine, BoxPx, PointPx
from viewer.domain.grid import Grid, LetterAxis
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.reference import Mask
from viewer.domain.run import Condition
from viewer.imaging.grid_overlay import GridStyle, LabelStyle
from viewer.imaging.resample import FitMode, crop_window, fit_affine, fit_mask
from viewer.metrics.coverage import (
    Coverage,
    area_in_cells,
    area_inside,
    column_segments,
    pixels_in_cells,
)
from viewer.metrics.localization import HitSet, hit_set
from viewer.studies.grid_localization.params import MaskMode, Params
from viewer.studies.places import GridReference

THRESHOLDS: Final = tuple(range(10, 100, 10))
"""Coverages in per cent from which a cell counts as a hit, one curve's points."""


def grid_of(condition: Condition, params: Params) -> Grid:
    """Return the grid of a condition, lettered as the run's unless it varies that."""
    of = dict(condition.params)
    letters = LetterAxis(str(of.get("letters", params.letters)))
    return Grid(int(of["rows"]), int(of["columns"]), letters)


def style_of(condition: Condition, params: Params) -> GridStyle:
    """Return how the grid of a condition is drawn."""
    of = dict(condition.params)
    return replace(
        params.style,
        labels=LabelStyle(str(of.get("labels", params.labels))),
        render_scale=int(of.get("render_scale", params.render_scale)),
    )


@lru_cache(maxsize=16_384)
def reference_of(
    mask: Mask, geometry: ImageGeometry, condition: Condition, params: Params
) -> GridReference:
    """Return a mask seen through a grid in the mask mode of the parameters."""
    grid = grid_of(condition, params)
    # repr: 0.1 as it was written, not the binary number beside it.
    threshold = Fraction(repr(params.hit_threshold))
    modes = {MaskMode.PAPER: _paper_coverage, MaskMode.EXACT: _exact_coverage}
    chosen = modes.pop(params.mask_mode)(mask, geometry, grid, params)
    other = next(iter(modes.values()))(mask, geometry, grid, params)
    hit_cells = hit_set(chosen, threshold)
    return GridReference(
        grid,
        chosen.covered,
        chosen.area,
        hit_cells.hits,
        hit_cells.fallback,
        _fraction_outside(mask, geometry, params),
        hit_set(other, threshold).hits,
    )


def hits_at_thresholds(reference: GridReference, params: Params) -> tuple[HitSet, ...]:
    """Return the cells that count as a hit at each of ``THRESHOLDS``."""
    exact = params.mask_mode is MaskMode.PAPER
    return _hits_at_thresholds(Coverage(reference.covered, reference.area, exact))


@lru_cache(maxsize=16_384)
def _hits_at_thresholds(coverage: Coverage) -> tuple[HitSet, ...]:
    return tuple(hit_set(coverage, Fraction(one, 100)) for one in THRESHOLDS)


def _paper_coverage(
    mask: Mask, geometry: ImageGeometry, grid: Grid, params: Params
) -> Coverage:
    """Count the pixels of the fitted mask in each cell, as Gosai 2025 does."""
    return pixels_in_cells(fitted_mask(mask, geometry, params), grid)


@lru_cache(maxsize=256)
def fitted_mask(
    mask: Mask, geometry: ImageGeometry, params: Params
) -> npt.NDArray[np.bool_]:
    """Return a mask (side, side) resized like its image; cached, do not modify."""
    return fit_mask(mask.array(), geometry.pixel_aspect, params.side, params.fit_mode)


def _exact_coverage(
    mask: Mask, geometry: ImageGeometry, grid: Grid, params: Params
) -> Coverage:
    """Integrate the mask's native area over each cell."""
    to_native = _to_native(geometry, params)
    side = params.side
    rows = tuple(
        _native(to_native, 0, i * side / grid.rows).y for i in range(grid.rows + 1)
    )
    columns = tuple(
        _native(to_native, i * side / grid.columns, 0).x
        for i in range(grid.columns + 1)
    )
    return area_in_cells(column_segments(mask), rows, columns)


def _to_native(geometry: ImageGeometry, params: Params) -> Affine:
    return fit_affine(geometry, params.side, params.fit_mode).inverse()


def field_of(geometry: ImageGeometry, params: Params) -> BoxPx:
    """Return the native rectangle that the square sent covers, padding included."""
    to_native = _to_native(geometry, params)
    first = _native(to_native, 0, 0)
    last = _native(to_native, params.side, params.side)
    return BoxPx(first.x, first.y, last.x, last.y)


def _native(to_native: Affine, x: float, y: float) -> PointPx:
    """Map a sent point to native pixels, without the inverse's rounding errors."""
    point = to_native.apply(PointPx(x, y))
    return PointPx(round(point.x, 9), round(point.y, 9))


def _fraction_outside(mask: Mask, geometry: ImageGeometry, params: Params) -> float:
    """Return the fraction of a mask's area that the crop cuts off."""
    segments = column_segments(mask)
    total = int(segments.lengths.sum())
    if total == 0:
        return 0.0
    return 1 - area_inside(segments, _inside_crop(geometry, params)) / total


def _inside_crop(geometry: ImageGeometry, params: Params) -> BoxPx:
    if params.fit_mode in {FitMode.CROP_RESIZE, FitMode.RESIZE_CROP}:
        return crop_window(geometry)
    return BoxPx(0, 0, geometry.size.columns, geometry.size.rows)
