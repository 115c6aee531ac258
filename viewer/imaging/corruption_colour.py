"""Colour corruptions: brightness, hue and saturation in HSV space (App. A.5)."""

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.image import Raster

_Floats = npt.NDArray[np.float64]


Change = Callable[[_Floats, _Floats, _Floats], tuple[_Floats, _Floats, _Floats]]
"""From hue, saturation and value to others."""
_BAND: Final = 1 << 15
"""Pixels that are worked on at once: what their numbers take stays in the cache."""


def brighter(raster: Raster, step: float) -> Raster:
    """Return an RGB raster with ``step`` added to V, clipped at 1."""
    return _changed(raster, lambda h, s, v: (h, s, np.minimum(v + step, 1)))


def more_saturated(raster: Raster, step: float) -> Raster:
    """Return an RGB raster with ``step`` added to S, clipped at 1.

    Greys have hue 0, which is red, so greys and white turn reddish.
    """
    return _changed(raster, lambda h, s, v: (h, np.minimum(s + step, 1), v))


def other_hue(raster: Raster, step: float) -> Raster:
    """Return an RGB raster with hue shifted by ``step`` of a turn, wrapping at 1."""
    return _changed(
        raster, lambda h, s, v: (np.where(h + step >= 1, h + step - 1, h + step), s, v)
    )


def _changed(raster: Raster, change: Change) -> Raster:
    pixels = raster.pixels.reshape(-1, 3)
    made = np.empty_like(pixels)
    for start in range(0, len(pixels), _BAND):
        part = slice(start, start + _BAND)
        made[part] = _rgb(*change(*_hsv(pixels[part])))
    return Raster(made.reshape(raster.pixels.shape))


def _hsv(pixels: npt.NDArray[np.uint8]) -> tuple[_Floats, _Floats, _Floats]:
    """Return hue, saturation and value of pixels, each 0 to 1 (Smith 1978).

    Hue is 0 for greys.
    """
    r, g, b = (pixels[:, i].astype(np.float64) / 255 for i in range(3))
    v = np.maximum(np.maximum(r, g), b)
    span = v - np.minimum(np.minimum(r, g), b)
    some = np.where(span > 0, span, 1)
    sixths = np.where(
        v == r, (g - b) / some, np.where(v == g, 2 + (b - r) / some, 4 + (r - g) / some)
    )
    h = np.where(span > 0, sixths / 6, 0)
    s = np.where(v > 0, span / np.where(v > 0, v, 1), 0)
    return np.where(h < 0, h + 1, h), s, v


def _rgb(h: _Floats, s: _Floats, v: _Floats) -> npt.NDArray[np.uint8]:
    """Return the pixels of hue, saturation and value, rounded to grey levels."""
    made = np.empty((len(h), 3), dtype=np.uint8)
    for channel, turn in enumerate((5, 3, 1)):
        k = turn + 6 * h  # 1 to 11: the remainder by 6 takes at most one 6 away
        k = np.where(k >= 6, k - 6, k)
        part = np.clip(np.minimum(k, 4 - k), 0, 1)
        made[:, channel] = np.floor((v - v * s * part) * 255 + 0.5)
    return made
