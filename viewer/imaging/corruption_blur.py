"""Defocus and motion blur in integer arithmetic, identical on every machine.

Radii are given for a reference image size; others scale them by their shorter side
(E003-06). Kernels are rounded to 2^-16 before anything is summed, and sums are exact.
"""

from dataclasses import dataclass
from math import ceil, cos, exp, isqrt, radians, sin
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from viewer.domain.image import Raster

_Wholes = npt.NDArray[np.int64]
_ONE = 1 << 16
_BAND: Final = 16
"""Rows that are summed at once: what they take stays in the cache."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale factor of lengths in an image: ``side / reference``."""

    side: int
    reference: int

    def length(self, at_reference: float) -> float:
        """Return a length in this image's pixels."""
        return at_reference * self.side / self.reference


def scale_of(raster: Raster, reference: int) -> Scale:
    """Return the scale of an image: its shorter side over the reference side."""
    return Scale(min(raster.size.rows, raster.size.columns), reference)


def defocused(raster: Raster, radius: int, alias: float, scale: Scale) -> Raster:
    """Return an RGB raster convolved with a disc.

    Parameters
    ----------
    raster : Raster
        (rows, columns, 3).
    radius : int
        Radius of the disc, in pixels at the reference side; it contains the pixels
        whose centres are no farther.
    alias : float
        Standard deviation in pixels of the blur that softens the disc's edge, over 3
        pixels, or over 5 where the radius is above 8.
    scale : Scale
        Scale factor of the radius.

    Notes
    -----
    Pixels beyond the edge mirror those inside, without repeating the edge itself.
    """
    soft = _taps(alias, 1 if radius <= 8 else 2)
    widths = _disc(radius, scale)
    reach, margin = len(widths) - 1, len(soft) // 2
    padded = _mirrored(raster.pixels.astype(np.int64), reach + margin)
    spread = _along(_along(_over_disc(padded, widths), soft, 0), soft, 1)
    # The rows below and above the middle are alike; the middle one counts once.
    weight = sum(2 * w + 1 for w in widths) * 2 - (2 * widths[0] + 1)
    return _rounded(spread, weight * sum(soft) ** 2)


def moved(
    raster: Raster, radius: float, sigma: float, angle: float, scale: Scale
) -> Raster:
    """Return an RGB raster blurred along a line.

    Every pixel is the mean of ``2 * radius + 1`` pixels in one direction, weighted by
    the right half of a Gaussian; this is ImageMagick's MotionBlurImage, which the
    authors' benchmark calls.

    Parameters
    ----------
    raster : Raster
        (rows, columns, 3).
    radius, sigma : float
        In pixels at the reference side; both are lengths, and both scale.
    angle : float
        Direction in degrees; 0 smears to the right, 90 downwards.
    scale : Scale
        Scale factor of both.

    Notes
    -----
    Pixels beyond the edge repeat it.
    """
    length, spread = ceil(scale.length(radius)), scale.length(sigma)
    weights = [w for i in range(2 * length + 1) if (w := _weight(i, spread)) > 0]
    across, down = cos(radians(angle)), sin(radians(angle))
    margin = len(weights)
    edges = ((margin, margin), (margin, margin), (0, 0))
    padded = np.pad(raster.pixels, edges, mode="edge")
    places = [
        (margin + ceil(i * down - 0.5), margin + ceil(i * across - 0.5))
        for i in range(len(weights))
    ]
    rows, columns = raster.size.rows, raster.size.columns
    made = np.empty_like(raster.pixels)
    for top in range(0, rows, _BAND):
        band = made[top : top + _BAND]
        total = np.zeros(band.shape, dtype=_wide_enough(255 * sum(weights)))
        for weight, (y, x) in zip(weights, places, strict=True):
            seen = padded[top + y : top + y + len(band), x : x + columns]
            total += np.multiply(seen, weight, dtype=total.dtype)
        band[:] = (total + sum(weights) // 2) // sum(weights)
    return Raster(made)


def _wide_enough(largest: int) -> type[np.unsignedinteger[Any]]:
    """Return the dtype that holds a sum plus the half that rounding adds."""
    return np.uint32 if 3 * largest < 2 * (1 << 32) else np.uint64


def _weight(step: int, sigma: float) -> int:
    return round(_ONE * exp(-step * step / (2 * sigma * sigma)))


def _disc(radius: int, scale: Scale) -> list[int]:
    """Return the half width of the disc in each row, from the middle row on."""
    far, one = radius * scale.side, scale.reference
    rows = range(far // one + 1)
    return [isqrt(far * far - (one * row) ** 2) // one for row in rows]


def _taps(sigma: float, reach: int) -> list[int]:
    """Return a Gaussian over ``2 * reach + 1`` pixels as integers."""
    return [_weight(i, sigma) for i in range(-reach, reach + 1)]


def _mirrored(pixels: _Wholes, margin: int) -> _Wholes:
    edges = ((margin, margin), (margin, margin), (0, 0))
    return np.pad(pixels, edges, mode="reflect")


def _over_disc(pixels: _Wholes, widths: list[int]) -> _Wholes:
    """Return sums over a disc; the result is smaller by its radius on every side.

    Each row of the disc is the difference of two cumulative sums.
    """
    reach = len(widths) - 1
    zero = np.zeros((pixels.shape[0], 1, pixels.shape[2]), dtype=np.int64)
    sums = np.concatenate((zero, np.cumsum(pixels, axis=1)), axis=1)
    rows, columns = pixels.shape[0] - 2 * reach, pixels.shape[1] - 2 * reach
    total = np.zeros((rows, columns, pixels.shape[2]), dtype=np.int64)
    for top in range(0, rows, _BAND):
        made = total[top : top + _BAND]
        for dy in range(-reach, reach + 1):
            width, first_row = widths[abs(dy)], reach + dy + top
            band = sums[first_row : first_row + len(made)]
            first, last = reach - width, reach + width + 1
            made += band[:, last : last + columns]
            made -= band[:, first : first + columns]
    return total


def _along(pixels: _Wholes, taps: list[int], axis: int) -> _Wholes:
    """Return weighted sums along an axis; the result is smaller by the taps' reach."""
    count = pixels.shape[axis] - len(taps) + 1
    along = pixels.swapaxes(0, axis)
    total = np.zeros((count, *along.shape[1:]), dtype=np.int64)
    for i, tap in enumerate(taps):
        total += tap * along[i : i + count]
    return total.swapaxes(0, axis)


def _rounded(total: _Wholes, weight: int) -> Raster:
    return Raster(((total + weight // 2) // weight).astype(np.uint8))
