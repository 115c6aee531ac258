"""Losses of storage and of the slide: JPEG, coarse pixels, bubbles (App. A.5)."""

import numpy as np
import numpy.typing as npt

from viewer.domain.image import Raster
from viewer.imaging.seeded_bits import SeededBits

_Wholes = npt.NDArray[np.int64]


def pixelated(raster: Raster, scale: float) -> Raster:
    """Return an RGB raster reduced by ``scale`` below 1 and enlarged again.

    A coarse pixel is the mean of the pixels whose centres lie in it, rounded after
    columns and after rows, like Pillow's BOX filter; enlarging repeats it.
    """
    rows, columns = raster.size.rows, raster.size.columns
    coarse = raster.pixels.astype(np.int64)
    small = max(1, int(columns * scale)), max(1, int(rows * scale))
    coarse = _averaged(_averaged(coarse, small[0], 1), small[1], 0)
    down = _nearest(rows, small[1])
    across = _nearest(columns, small[0])
    return Raster(coarse[down][:, across].astype(np.uint8))


def bubbled(raster: Raster, part: float, bits: SeededBits) -> Raster:
    """Return an RGB raster with air bubbles in the mounting medium drawn over it.

    The benchmark's picture of bubbles is not published: these are synthetic, three to
    six of them, each 0.10 to 0.22 of the shorter side in radius, bright with a dark
    rim, blended with ``part`` of the image.
    """
    rows, columns = raster.size.rows, raster.size.columns
    air = np.full((rows, columns), -1.0)
    side = min(rows, columns)
    for _ in range(bits.whole(3, 6)):
        radius = bits.uniform(0.10, 0.22) * side
        y, x = bits.uniform(0, rows), bits.uniform(0, columns)
        down = np.square((np.arange(rows) + 0.5 - y) / radius)
        across = np.square((np.arange(columns) + 0.5 - x) / radius)
        inside = 1 - (down[:, None] + across[None, :])
        air = np.maximum(air, inside)
    seen = _bubble(air)[..., None]
    mixed = raster.pixels * (1 - part) + seen * part
    levels = np.where(air[..., None] >= 0, np.floor(mixed + 0.5), raster.pixels)
    return Raster(levels.astype(np.uint8))


def _bubble(air: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return a bubble's grey levels; ``air`` is 1 at its centre and 0 on its rim.

    The outermost tenth rises from dark to bright.
    """
    return 70 + 165 * np.clip(air / 0.2, 0, 1)


def _averaged(pixels: _Wholes, count: int, axis: int) -> _Wholes:
    """Return ``count`` rounded means of equal parts along an axis."""
    n = pixels.shape[axis]
    places = np.arange(count)
    first = (2 * places * n + count) // (2 * count)
    last = (2 * (places + 1) * n + count) // (2 * count)
    sums = np.concatenate(
        (np.zeros_like(np.take(pixels, [0], axis)), np.cumsum(pixels, axis=axis)),
        axis=axis,
    )
    size = np.expand_dims(last - first, tuple(range(1, pixels.ndim - axis)))
    total = np.take(sums, last, axis) - np.take(sums, first, axis)
    return np.asarray((2 * total + size) // (2 * size), dtype=np.int64)


def _nearest(count: int, coarse: int) -> _Wholes:
    """Return the index of the coarse pixel that contains each of ``count`` centres."""
    return np.asarray((2 * np.arange(count) + 1) * coarse // (2 * count))
