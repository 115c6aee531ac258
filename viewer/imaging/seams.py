"""How visible a pasted region's seam is, and a sham that is as visible (E002-11)."""

import numpy as np
import numpy.typing as npt

from viewer.domain.image import Raster
from viewer.imaging.blending import Composite, Pasting, Region, composite, weight_of

_Bools = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


def shifted_sham(
    target: Region, donor: Region, how: Pasting | None = None
) -> Composite:
    """Return the target with its own region changed as visibly as by the donor's.

    The region's grey values are shifted by one amount, and it is pasted where the
    donor's would be and blended alike. The shift is the one whose mean absolute change
    at the seam equals that of :func:`composite` with the donor: in the same direction,
    unless fewer pixels would be clipped at black or white in the other. The content of
    the region remains. Poisson blending removes any shift and therefore has no such
    sham.
    """
    how = how or Pasting()
    edit, pixels = composite(target, donor, how), target.raster.pixels
    sigma = how.sigma(target.box)
    seam = seam_of(edit.pasted, sigma)
    weight = weight_of(edit.pasted, how.blend, sigma)[seam]
    change = edit.raster.pixels[seam].astype(np.int64) - pixels[seam]
    sign = 1 if change.sum() >= 0 else -1
    wanted = float(np.abs(change).mean())
    both = [_shift(pixels[seam], weight, wanted, way) for way in (sign, -sign)]
    wide, region = pixels.astype(np.int64), pixels[edit.pasted].astype(np.int64)
    shift = min(both, key=lambda one: np.count_nonzero(_cut_off(region + one)))
    shifted = np.clip(wide + shift, 0, 255).astype(np.uint8)
    alone = Pasting(how.blend, how.feather)
    return composite(target, Region(Raster(shifted), edit.pasted), alone)


def _cut_off(values: _Ints) -> _Bools:
    return np.asarray((values < 0) | (values > 255))


def seam_of(pasted: _Bools, sigma: float) -> _Bools:
    """Return the (rows, columns) mask of a pasted region's seam.

    It reaches ``sigma`` pixels, at least one, to both sides of the edge of the mask.
    """
    from scipy.ndimage import binary_dilation, binary_erosion

    reach = max(1, round(sigma))
    inner = binary_erosion(pasted, iterations=reach)
    return np.asarray(binary_dilation(pasted, iterations=reach) & ~inner)


def _shift(
    pixels: npt.NDArray[np.uint8], weight: _Floats, wanted: float, way: int
) -> int:
    """Return the shift in direction ``way`` (1 up, -1 down) for a wanted seam change.

    ``pixels`` (pixels,) or (pixels, channels) are the grey values there, ``weight``
    (pixels,) the blending weights. If no shift changes the seam as much, the closest is
    returned.
    """
    levels, shifts = np.arange(256), way * np.arange(256)[:, None]
    each = np.repeat(weight, pixels.size // weight.size)
    share = np.bincount(pixels.ravel(), each, 256) / pixels.size
    reached = np.abs(np.clip(levels + shifts, 0, 255) - levels) @ share
    return int(shifts[np.argmin(np.abs(reached - wanted)), 0])
