"""A localizer without learning: where one lung differs from the other.

Thresholding finds the lungs, symmetry completes them if one is opaque, and the cell
whose grey values differ most from the mirrored side and from their surroundings is the
answer. It ignores the finding and is meant as a weak baseline that looks at the pixels.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from viewer.domain.exchange import Facts
from viewer.domain.geometry import SizePx
from viewer.domain.grid import Cell, Grid
from viewer.models.baseline import Baseline

_Map = npt.NDArray[np.float64]
_T = TypeVar("_T", bound=np.generic)
_Field = npt.NDArray[np.bool_]

WORKING_SIDE: Final = 128
"""Rows and columns the raster is reduced to; 26 cells still have 4 pixels each."""
_FINE: Final = 2.0  # Gaussian widths in working pixels: a rib, and half a lung
_COARSE: Final = 14.0
_AXIS_SEARCH: Final = 16  # columns the axis of symmetry may lie off the middle
_SMALLEST_LUNG: Final = 0.015  # of the image's area
_PLACE_EDGE: Final = 0.08  # of a lung place's height: as far as a lung reaches
_PLACE_CORE: Final = 0.5
_MEDIAL: Final = 22.0  # columns beside the axis where heart and aorta always differ
_DARKER_WEIGHT: Final = 0.5  # most findings are opacities, so brighter counts more
_BLACK: Final = 0.04  # collimated, or air beside the patient
_OUTSIDE: Final = 0.5  # of the grey value that parts dark from bright
_FLAT: Final = 1e-6


class Asymmetry(Baseline):
    """Answers with the cell that differs most from its mirror and surroundings."""

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the array libraries."""
        import scipy

        return {"numpy": np.__version__, "scipy": scipy.__version__}

    def choose(self, facts: Facts) -> tuple[Cell, str]:
        """Return the cell with the largest mean asymmetry, and a note on the method."""
        image = reduced(facts.plain.pixels)
        lateral = facts.view == "lateral"
        field = chest_field(image) if lateral else lung_field(image)
        score = salience(image, field, mirrored=not lateral)
        means = cell_means(score, Grid(facts.rows, facts.columns))
        if means.max() <= _FLAT:
            middle = Cell(facts.rows // 2, facts.columns // 2)
            return middle, "Weak baseline: nothing stands out, the middle cell."
        # rounding keeps the last bits of a sum from deciding between equal cells
        row, column = divmod(int(np.round(means, 9).argmax()), facts.columns)
        how = "local contrast" if lateral else "left-right difference and contrast"
        return Cell(row, column), f"Weak baseline without learning: largest {how}."


def reduced(pixels: npt.NDArray[np.uint8]) -> _Map:
    """Return a raster as (128, 128) grey 0-1: block means, or repeated if it is small.

    Parameters
    ----------
    pixels : ndarray
        (rows, columns) or (rows, columns, 3) uint8.
    """
    grey = pixels.astype(np.float64) / 255
    if grey.ndim == 3:
        grey = grey.mean(axis=2)
    return _reduced_axis(_reduced_axis(grey, 0), 1)


def _reduced_axis(image: _Map, axis: int) -> _Map:
    n = image.shape[axis]
    starts = np.arange(WORKING_SIDE) * n // WORKING_SIDE
    if n < WORKING_SIDE:
        repeated: _Map = np.take(image, starts, axis)
        return repeated
    sizes = np.diff(np.append(starts, n))
    shape = (-1, 1) if axis == 0 else (1, -1)
    means: _Map = np.add.reduceat(image, starts, axis) / sizes.reshape(shape)
    return means


def lung_field(image: _Map) -> _Field:
    """Return where lungs are expected on a frontal (128, 128) image.

    The dark region that best fits the expected lung in each half, joined with the
    mirror image of the other, so that an opaque lung is covered by the healthy one.
    Without any, the expected positions.
    """
    from scipy import ndimage

    body = body_field(image)
    smooth = ndimage.gaussian_filter(image, _FINE)
    dark = body & (smooth < otsu(smooth[body] if body.any() else smooth))
    opened = ndimage.binary_opening(dark, iterations=3)
    lungs = np.zeros_like(body)
    for place in _lung_places():
        lungs |= _best_region(opened & (place > _PLACE_EDGE), place)
    if not lungs.any():
        return np.asarray(_lung_places().max(axis=0) > _PLACE_CORE)
    lungs |= mirror(lungs, symmetry_axis(smooth))
    filled: _Field = ndimage.binary_closing(lungs, iterations=4) | lungs
    return filled


def _best_region(dark: _Field, place: _Map) -> _Field:
    from scipy import ndimage

    labels, n = ndimage.label(dark)
    if not n:
        return np.zeros_like(dark)
    fits = ndimage.sum_labels(place, labels, np.arange(1, n + 1))
    region: _Field = labels == int(np.argmax(fits)) + 1
    return region if region.sum() >= _SMALLEST_LUNG * region.size else region & False


def _lung_places() -> _Map:
    """Return (2, 128, 128) Gaussians centred on the usual middle of each lung."""
    return np.stack([_bump(x, 0.45, 0.15, 0.26) for x in (0.27, 0.73)])


def _bump(x: float, y: float, wide: float, high: float) -> _Map:
    """Return a Gaussian centred at fractions x, y of the image, 1 at its maximum."""
    rows, columns = np.mgrid[:WORKING_SIDE, :WORKING_SIDE] / (WORKING_SIDE - 1)
    bump: _Map = np.exp(-(((columns - x) / wide) ** 2 + ((rows - y) / high) ** 2) / 2)
    return bump


def chest_field(image: _Map) -> _Field:
    """Return where the lungs overlap on a lateral (128, 128) image.

    It is the middle of the patient's part of the image: shoulders, breasts and the
    upper abdomen would dominate everything else.
    """
    inside = body_field(image) & (image > _OUTSIDE * otsu(image))
    field: _Field = inside & (_bump(0.5, 0.55, 0.2, 0.2) > _PLACE_CORE)
    return field


def body_field(image: _Map) -> _Field:
    """Return where the patient is, without a margin of skin.

    It is everything but the black background at the image's border.
    """
    from scipy import ndimage

    labels, n = ndimage.label(image < _BLACK)
    border = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
    outside = np.zeros(n + 1, bool)
    outside[np.unique(border)] = True
    # Label 0 is what was not labelled at all: the patient at the image's border.
    outside[0] = False
    inner: _Field = ndimage.binary_erosion(~outside[labels], iterations=6)
    return inner


def salience(image: _Map, field: _Field, *, mirrored: bool) -> _Map:
    """Return how much each pixel of a field stands out, 0 outside the field."""
    from scipy import ndimage

    smooth = ndimage.gaussian_filter(image, _FINE)
    contrast = smooth - ndimage.gaussian_filter(image, _COARSE)
    score = _weighted(contrast, field)
    if mirrored:
        axis = symmetry_axis(smooth)
        wide = ndimage.gaussian_filter(image, 2 * _FINE)
        score = score + 2 * _weighted(wide - mirror(wide, axis), field)
        lateral = np.abs(np.arange(image.shape[1]) - axis / 2) / _MEDIAL
        score = score * np.minimum(lateral, 1.0)
    return np.where(field, score, 0.0)


def _weighted(difference: _Map, field: _Field) -> _Map:
    """Return a difference in SDs of the field, with less weight for darker pixels."""
    inside = difference[field]
    spread = float(inside.std()) if inside.size else 0.0
    if spread <= _FLAT:
        return np.zeros_like(difference)
    standard = difference / spread
    return np.maximum(standard, -_DARKER_WEIGHT * standard)


def symmetry_axis(image: _Map) -> int:
    """Return the sum of two mirrored columns' indices that fits best."""
    profile = image - image.mean()
    middle = image.shape[1] - 1
    sums = range(middle - _AXIS_SEARCH, middle + _AXIS_SEARCH + 1)
    errors = [float(np.mean((profile - mirror(profile, s)) ** 2)) for s in sums]
    return sums[int(np.argmin(errors))]


def mirror(image: npt.NDArray[_T], axis_sum: int) -> npt.NDArray[_T]:
    """Return the image with column c taken from column ``axis_sum`` - c, clipped."""
    last = image.shape[1] - 1
    return image[:, np.clip(axis_sum - np.arange(last + 1), 0, last)]


def otsu(image: _Map) -> float:
    """Return the grey value that separates dark from bright (Otsu 1979)."""
    counts, edges = np.histogram(image, bins=128)
    centres = (edges[:-1] + edges[1:]) / 2
    below = np.cumsum(counts)
    above = below[-1] - below
    sums = np.cumsum(counts * centres)
    # An empty side has no mean; nan_to_num below makes its variance 0.
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = sums / below - (sums[-1] - sums) / above
        between = np.nan_to_num(below * above * gap**2, nan=0.0, posinf=0.0)
    return float(edges[int(between.argmax()) + 1])


def cell_means(score: _Map, grid: Grid) -> _Map:
    """Return the (rows, columns) mean of a map over each cell."""
    rows, columns = grid.edges(SizePx(score.shape[0], score.shape[1]))
    sums = np.add.reduceat(np.add.reduceat(score, rows[:-1], 0), columns[:-1], 1)
    means: _Map = sums / np.outer(np.diff(rows), np.diff(columns))
    return means
