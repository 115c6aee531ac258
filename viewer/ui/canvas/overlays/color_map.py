"""Heat maps on the canvas, in the colours that they have in print."""

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QImage

from viewer.imaging.heat_overlay import colors

OPACITY: Final = 0.6
"""Of the greatest value; the least is clear, so that the image is seen through it."""


def colors_of(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    """Return (..., 4) straight RGBA of values, the least clear, the greatest opaque.

    Opaque means ``OPACITY``; values of a map without contrast are all clear.
    """
    low, high = float(values.min()), float(values.max())
    span = high - low if high > low else 1.0
    share = (values.astype(np.float64) - low) / span
    opacity = 255 * OPACITY * share[..., None]
    rgba = np.concatenate([colors(share), opacity], axis=-1)
    return np.round(rgba).astype(np.uint8)


def picture_of(values: npt.NDArray[np.float32]) -> QImage:
    """Return the (rows, columns) map as a picture, a pixel an element."""
    return picture_of_codes(codes_of(values))


def codes_of(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    """Return where each value stands between the least, 0, and the greatest, 255."""
    low, high = float(values.min()), float(values.max())
    share = (values - np.float32(low)) * np.float32(
        255 / (high - low) if high > low else 0.0
    )
    return np.asarray(share + np.float32(0.5)).astype(np.uint8)


def picture_of_codes(codes: npt.NDArray[np.uint8]) -> QImage:
    """Return (rows, columns) codes in their colours, premultiplied ARGB32."""
    rows, columns = codes.shape
    data = _table()[codes]
    form = QImage.Format.Format_ARGB32_Premultiplied
    # The image refers to the array's memory, which ends with this function.
    return QImage(data.data, columns, rows, 4 * columns, form).copy()


@cache
def _table() -> npt.NDArray[np.uint32]:
    """Return the colour of every code, 0xAARRGGBB, premultiplied."""
    straight = colors_of(np.linspace(0, 1, 256, dtype=np.float32)).astype(np.uint32)
    alpha = straight[:, 3]
    # + 127 rounds the division, which // alone would cut off.
    red, green, blue = (straight[:, :3] * alpha[:, None] + 127).T // 255
    return np.asarray(alpha << 24 | red << 16 | green << 8 | blue, np.uint32)
