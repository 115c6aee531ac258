"""Noise instead of an image (Sun 2024, 4.2 and Table 3; E003-07)."""

from functools import lru_cache
from math import erf, sqrt

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import SizePx
from viewer.domain.image import Raster
from viewer.imaging.seeded_bits import SeededBits

_WORDS = 2**32


def gaussian_noise(
    size: SizePx, mean: float, sd: float, seed: int, *identity: str
) -> Raster:
    """Return RGB noise of a size, every value drawn independently from N(mean, sd).

    Values are rounded to the nearest grey level and clipped to 0 to 255. The bytes
    depend on the arguments alone.

    Parameters
    ----------
    size : SizePx
        Rows and columns of the image that the noise replaces.
    mean, sd : float
        Of the normal distribution, in grey levels; ``sd`` above 0.
    seed : int
        The run's seed.
    *identity : str
        What the noise is for, such as the key of an item.
    """
    count = size.rows * size.columns * 3
    words = SeededBits(seed, "noise", *identity).words(count)
    levels = np.searchsorted(_steps(mean, sd), words, side="right")
    return Raster(levels.astype(np.uint8).reshape(size.rows, size.columns, 3))


@lru_cache(maxsize=8)
def _steps(mean: float, sd: float) -> npt.NDArray[np.uint32]:
    """Return how many of 2^32 equal chances lie below each level from 1 to 255.

    Level g takes the normal values from g - 1/2 to g + 1/2.
    """
    below = [(1 + erf((g - 0.5 - mean) / (sd * sqrt(2)))) / 2 for g in range(1, 256)]
    # 2^32 itself does not fit a word of 32 bits.
    return np.array([min(round(p * _WORDS), _WORDS - 1) for p in below], dtype="<u4")
