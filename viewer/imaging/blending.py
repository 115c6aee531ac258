"""Pasting a region of one image into another (HEAL-MedVQA 3.1, E002-10).

The donor's region is mapped to the target's by the affine map of their boxes; donor
pixels are pasted where the target's mask or the resized donor's is set. Everything is
deterministic: fixed-point resampling, one thread, and rounding that does not depend on
the last binary digit.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import Affine, BoxPx, PointPx
from viewer.domain.image import Raster
from viewer.imaging.membrane import harmonic

_Bools = npt.NDArray[np.bool_]
_Bytes = npt.NDArray[np.uint8]
_Floats = npt.NDArray[np.float64]
_REACH = 4.0
"""Standard deviations after which a feathered edge ends."""


class Blend(StrEnum):
    """How pasted pixels meet those around them."""

    ALPHA = "alpha"
    """Mixed with a weight that falls off like a blurred edge."""
    HARD = "hard"
    """Pasted as they are."""
    POISSON = "poisson"
    """Their gradients kept, their edge taken from the target (Perez 2003)."""


@dataclass(frozen=True, slots=True)
class Pasting:
    """How a region is pasted.

    ``feather`` is the standard deviation of the soft edge as a fraction of the width of
    the target's box. ``match_histogram`` matches the donor's grey values to the
    distribution of those they replace.
    """

    blend: Blend = Blend.ALPHA
    feather: float = 0.02
    match_histogram: bool = False

    def sigma(self, target: BoxPx) -> float:
        """Return the standard deviation of the soft edge around a box, in pixels."""
        return self.feather * (target.x1 - target.x0)


@dataclass(frozen=True, eq=False)
class Region:
    """A region of an image: ``mask`` (rows, columns) on a raster of the same size."""

    raster: Raster
    mask: _Bools

    def __post_init__(self) -> None:
        if self.raster.pixels.shape[:2] != self.mask.shape:
            raise WrongUseError(
                "A region's mask is not the size of its image.",
                "Use the mask that belongs to the image.",
            )
        if not self.mask.any():
            raise WrongUseError(
                "The region's mask is empty, so there is nothing to paste.",
                "Choose an image in which the anatomy is marked.",
            )

    @property
    def box(self) -> BoxPx:
        """The bounding box of the mask."""
        rows, columns = (np.flatnonzero(self.mask.any(axis=a)) for a in (1, 0))
        return BoxPx(
            float(columns[0]),
            float(rows[0]),
            float(columns[-1] + 1),
            float(rows[-1] + 1),
        )


@dataclass(frozen=True, eq=False)
class Composite:
    """An edited image; ``pasted`` (rows, columns) is True for donor pixels.

    ``to_donor`` maps target pixel coordinates to the donor's.
    """

    raster: Raster
    pasted: _Bools
    to_donor: Affine


@dataclass(frozen=True, slots=True)
class _Window:
    """The rows and columns of the target that can change."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def slices(self) -> tuple[slice, slice]:
        """The box as slices of (rows, columns)."""
        return slice(self.top, self.bottom), slice(self.left, self.right)


def composite(target: Region, donor: Region, how: Pasting | None = None) -> Composite:
    """Return the target with its region replaced by the donor's.

    A grey donor gets as many channels as the target, a colour donor becomes grey if the
    target is.
    """
    how = how or Pasting()
    to_donor = _fitted(target.box, donor.box)
    sigma = how.sigma(target.box)
    window = _window(target, how, sigma)
    pasted = target.mask[window.slices] | _resized_mask(donor, window, to_donor)
    source = _resized(_as_channels(donor.raster, target.raster), window, to_donor)
    under = target.raster.pixels[window.slices]
    if how.match_histogram:
        source = _matched(source, pasted, under, target.mask[window.slices])
    mixed = _mixed(under, source, pasted, how.blend, sigma)
    pixels = target.raster.pixels.copy()
    pixels[window.slices] = _rounded(mixed)
    whole = np.zeros_like(target.mask)
    whole[window.slices] = pasted
    return Composite(Raster(pixels), whole, to_donor)


def pasted_pixels(target: _Bools, donor: _Bools) -> _Bools:
    """Return the (rows, columns) pixels that a donor's region replaces in a target.

    They are those of :func:`composite` without its feathered edge.
    """
    target_region, donor_region = (
        Region(Raster(np.zeros(mask.shape, dtype=np.uint8)), mask)
        for mask in (target, donor)
    )
    return composite(target_region, donor_region, Pasting(Blend.HARD)).pasted


def _fitted(target: BoxPx, donor: BoxPx) -> Affine:
    """Return the affine map of one box onto another."""
    scale_x = (donor.x1 - donor.x0) / (target.x1 - target.x0)
    scale_y = (donor.y1 - donor.y0) / (target.y1 - target.y0)
    return Affine(
        *(scale_x, 0.0, donor.x0 - target.x0 * scale_x),
        *(0.0, scale_y, donor.y0 - target.y0 * scale_y),
    )


def _window(target: Region, how: Pasting, sigma: float) -> _Window:
    margin = int(np.ceil(_REACH * sigma)) + 1 if how.blend is Blend.ALPHA else 1
    rows, columns = target.mask.shape
    box = target.box
    return _Window(
        max(int(box.y0) - margin, 0),
        min(int(box.y1) + margin, rows),
        max(int(box.x0) - margin, 0),
        min(int(box.x1) + margin, columns),
    )


def _resized(pixels: _Bytes, window: _Window, to_donor: Affine) -> _Bytes:
    """Return the donor's pixels resampled to a window of the target, edges extended."""
    low = to_donor.apply(PointPx(window.left, window.top))
    high = to_donor.apply(PointPx(window.right, window.bottom))
    rows, columns = pixels.shape[:2]
    pad = int(np.ceil(max(0.0, -low.x, -low.y, high.x - columns, high.y - rows)))
    around = ((pad, pad), (pad, pad), (0, 0))[: pixels.ndim]
    size = (window.right - window.left, window.bottom - window.top)
    box = (low.x + pad, low.y + pad, high.x + pad, high.y + pad)
    return _resize(np.pad(pixels, around, mode="edge"), size, box)


def _resize(
    pixels: _Bytes,
    size: tuple[int, int],
    box: tuple[float, float, float, float] | None = None,
) -> _Bytes:
    """Resize pixels to (columns, rows) ``size`` with Pillow's antialiased bilinear."""
    from PIL import Image

    image = Image.fromarray(np.ascontiguousarray(pixels))
    return np.asarray(image.resize(size, Image.Resampling.BILINEAR, box))


def _resized_mask(donor: Region, window: _Window, to_donor: Affine) -> _Bools:
    """Return the donor's mask resampled to a window of the target, by nearest pixel."""
    x = np.arange(window.left, window.right) + 0.5
    y = np.arange(window.top, window.bottom) + 0.5
    columns = np.floor(to_donor.a * x + to_donor.c).astype(np.int64)
    rows = np.floor(to_donor.e * y + to_donor.f).astype(np.int64)
    height, width = donor.mask.shape
    there = np.ix_(np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1))
    inside = np.outer(_within(rows, height), _within(columns, width))
    return np.asarray(donor.mask[there] & inside)


def _within(index: npt.NDArray[np.int64], count: int) -> _Bools:
    return np.asarray((index >= 0) & (index < count))


def _as_channels(donor: Raster, target: Raster) -> _Bytes:
    if donor.pixels.ndim == target.pixels.ndim:
        return donor.pixels
    if target.pixels.ndim == 3:
        return np.repeat(donor.pixels[..., None], 3, axis=2)
    mean = donor.pixels.astype(np.float64).mean(axis=2)
    return _rounded(mean)


def _matched(source: _Bytes, pasted: _Bools, under: _Bytes, of: _Bools) -> _Bytes:
    """Match the donor's grey values to those they replace.

    Each level is mapped to the target's level of the same rank among the pixels pasted.
    """
    if source.ndim == 3:
        each = [
            _matched(source[..., c], pasted, under[..., c], of)
            for c in range(source.shape[2])
        ]
        return np.stack(each, axis=2)
    wanted = np.sort(under[of])
    ranks = np.searchsorted(np.sort(source[pasted]), np.arange(256), side="right")
    share = np.clip(ranks / int(pasted.sum()), 0, 1)
    # The level of the same rank; a rank of 0 is that of the lowest level.
    place = np.clip(np.ceil(share * wanted.size).astype(np.int64) - 1, 0, None)
    return np.asarray(wanted[place][source])


def _mixed(
    under: _Bytes, source: _Bytes, pasted: _Bools, blend: Blend, sigma: float
) -> _Floats:
    below, above = under.astype(np.float64), source.astype(np.float64)
    if blend is Blend.POISSON:
        return _cloned(below, above, pasted)
    weight = weight_of(pasted, blend, sigma)
    if under.ndim == 3:
        weight = weight[..., None]
    return np.asarray(below + weight * (above - below))


def weight_of(pasted: _Bools, blend: Blend, sigma: float) -> _Floats:
    """Return the blending weight, 0 to 1, of the pasted pixels."""
    weight = pasted.astype(np.float64)
    if blend is not Blend.ALPHA or sigma <= 0:
        return weight
    from scipy.ndimage import gaussian_filter

    return np.asarray(gaussian_filter(weight, sigma, truncate=_REACH, mode="nearest"))


def _cloned(below: _Floats, above: _Floats, pasted: _Bools) -> _Floats:
    """Blend the donor's gradients into the target's edge, channel by channel.

    What is added to the donor is harmonic inside and equals the difference of the
    images outside, which solves Poisson's equation for the donor's gradients.
    """
    if below.ndim == 3:
        each = [
            _cloned(below[..., c], above[..., c], pasted) for c in range(below.shape[2])
        ]
        return np.stack(each, axis=2)
    if pasted.all():
        return above
    added = harmonic(below - above, pasted)
    return np.where(pasted, above + added, below)


def _rounded(values: _Floats) -> _Bytes:
    """Round values to uint8; halves round up even if the last digits fall short."""
    return np.clip(np.rint(np.round(values, 6)), 0, 255).astype(np.uint8)
