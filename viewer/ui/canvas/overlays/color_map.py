"""A perceptually ordered map from values to colours, for heat maps.

Dark purple over blue and green to yellow, every step lighter than the one before, in
equal steps of lightness, and told apart in every kind of colour vision (after viridis,
van der Walt and Smith 2015).
"""

from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtGui import QImage

OPACITY: Final = 0.6
"""Of the greatest value; the least is clear, so that the image is seen through it."""
_ANCHORS: Final = np.array(
    [
        (68, 1, 84),
        (72, 40, 120),
        (62, 74, 137),
        (49, 104, 142),
        (38, 130, 142),
        (31, 158, 137),
        (53, 183, 121),
        (109, 205, 89),
        (180, 222, 44),
        (253, 231, 37),
    ],
    dtype=np.float64,
)


def colors_of(values: npt.NDArray[np.float32]) -> npt.NDArray[np.uint8]:
    """Return (..., 4) straight RGBA of values, the least clear, the greatest opaque.

    Opaque means ``OPACITY``; values of a map without contrast are all clear.
    """
    low, high = float(values.min()), float(values.max())
    span = high - low if high > low else 1.0
    share = (values.astype(np.float64) - low) / span
    at = np.linspace(0, 1, len(_ANCHORS))
    channels = [np.interp(share, at, _ANCHORS[:, i]) for i in range(3)]
    rgba = np.stack([*channels, 255 * OPACITY * share], axis=-1)
    return np.round(rgba).astype(np.uint8)


def picture_of(values: npt.NDArray[np.float32]) -> QImage:
    """Return the (rows, columns) map as a picture, a pixel an element."""
    rgba = np.ascontiguousarray(colors_of(values))
    rows, columns = rgba.shape[:2]
    form = QImage.Format.Format_RGBA8888
    picture = QImage(rgba.tobytes(), columns, rows, 4 * columns, form)
    return picture.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)
