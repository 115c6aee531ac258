"""The loss of JPEG compression, without its bytes (ITU-T T.81, JFIF 1.02).

Only quantisation loses anything, so entropy coding is left out. Everything is computed
in integers, so that the result does not depend on a machine's JPEG library.
"""

from math import cos, pi, sqrt

import numpy as np
import numpy.typing as npt

from viewer.domain.image import Raster

_Wholes = npt.NDArray[np.int64]
_BITS = 14
"""Fractional bits of the transform's coefficients."""
_LUMINANCE = (
    *(16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55),
    *(14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62),
    *(18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92),
    *(49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99),
)
_CHROMINANCE = (
    *(17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99),
    *(24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99),
    *(99,) * 32,
)
"""The example tables of T.81, K.1 and K.2, row-major."""


def compressed(raster: Raster, quality: int) -> Raster:
    """Return an RGB raster after JPEG compression at a quality from 1 to 100.

    Baseline, chrominance at half the resolution (4:2:0), the standard's example tables
    scaled as by the Independent JPEG Group, chrominance interpolated linearly.
    """
    rows, columns = raster.size.rows, raster.size.columns
    pixels = np.pad(
        raster.pixels, ((0, -rows % 16), (0, -columns % 16), (0, 0)), "edge"
    )
    y, blue, red = _luma_chroma(pixels.astype(np.int64))
    y = _lossy(y, _table(_LUMINANCE, quality))
    chroma = _table(_CHROMINANCE, quality)
    blue, red = (_enlarged(_lossy(_halved(c), chroma)) for c in (blue, red))
    return Raster(np.ascontiguousarray(_rgb(y, blue, red)[:rows, :columns]))


def _table(base: tuple[int, ...], quality: int) -> _Wholes:
    """Return the quantisation table of a quality, (8, 8)."""
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    steps = [min(max((step * scale + 50) // 100, 1), 255) for step in base]
    return np.array(steps, dtype=np.int64).reshape(8, 8)


def _luma_chroma(rgb: _Wholes) -> tuple[_Wholes, _Wholes, _Wholes]:
    """Return Y, Cb and Cr, 0 to 255 (JFIF 1.02), in 2^-16."""
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    half = 1 << 15
    y = (19595 * r + 38470 * g + 7471 * b + half) >> 16
    blue = ((-11059 * r - 21709 * g + 32768 * b + half - 1) >> 16) + 128
    red = ((32768 * r - 27439 * g - 5329 * b + half - 1) >> 16) + 128
    return y, blue, red


def _rgb(y: _Wholes, blue: _Wholes, red: _Wholes) -> npt.NDArray[np.uint8]:
    blue, red, half = blue - 128, red - 128, 1 << 15
    r = y + ((91881 * red + half) >> 16)
    g = y - ((22554 * blue + 46802 * red + half) >> 16)
    b = y + ((116130 * blue + half) >> 16)
    whole = np.clip(np.stack((r, g, b), axis=2), 0, 255)
    return np.asarray(whole, dtype=np.uint8)


def _halved(channel: _Wholes) -> _Wholes:
    """Return the means of 2 × 2 pixels, ties rounded up and down in turn."""
    total = channel[::2, ::2] + channel[1::2, ::2] + channel[::2, 1::2]
    total = total + channel[1::2, 1::2]
    bias = 1 + np.arange(total.shape[1]) % 2
    return np.asarray((total + bias) >> 2)


def _enlarged(channel: _Wholes) -> _Wholes:
    """Return a channel at twice the size, weighted three to one by distance.

    Both directions at once, in sixteenths, so that it is rounded only once.
    """
    down = _doubled(channel)
    across = _doubled(down.T).T
    bias = 8 - np.arange(across.shape[1]) % 2
    return np.asarray((across + bias) >> 4)


def _doubled(channel: _Wholes) -> _Wholes:
    """Return a channel with twice as many rows, in quarters."""
    padded = np.pad(channel, ((1, 1), (0, 0)), "edge")
    double = np.empty((2 * channel.shape[0], channel.shape[1]), dtype=np.int64)
    double[::2] = 3 * channel + padded[:-2]
    double[1::2] = 3 * channel + padded[2:]
    return double


def _lossy(channel: _Wholes, table: _Wholes) -> _Wholes:
    """Return a channel after the DCT of its 8 × 8 blocks is quantised."""
    rows, columns = channel.shape[0] // 8, channel.shape[1] // 8
    blocks = channel.reshape(rows, 8, columns, 8).transpose(0, 2, 1, 3) - 128
    basis = _basis()
    coefficients = basis @ blocks @ basis.T
    step = table << (2 * _BITS)
    size = (np.abs(coefficients) + (step >> 1)) // step
    quantized = np.sign(coefficients) * size * table
    half = 1 << (2 * _BITS - 1)
    back = ((basis.T @ quantized @ basis + half) >> (2 * _BITS)) + 128
    whole = np.clip(back, 0, 255).transpose(0, 2, 1, 3)
    return np.asarray(whole.reshape(rows * 8, columns * 8))


def _basis() -> _Wholes:
    """Return the cosine transform of T.81, A.3.3, (frequency, place) in 2^-14."""
    return np.array(
        [
            [
                round(
                    (1 << _BITS)
                    * (sqrt(1 / 8) if not u else cos((2 * x + 1) * u * pi / 16) / 2)
                )
                for x in range(8)
            ]
            for u in range(8)
        ],
        dtype=np.int64,
    )
