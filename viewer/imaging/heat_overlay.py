"""A heat map over an image, the same for print and screen.

The colours are those of the canvas: dark purple over blue and green to yellow,
increasing in lightness in equal steps, distinguishable with every kind of colour vision
(after viridis, van der Walt and Smith 2015). Where the map is 0, the image is
unchanged.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import Affine

_Floats = npt.NDArray[np.float64]
_CLEAREST: Final = 0.35
"""Opacity just above nothing; the greatest value has ``_MOST``."""
_MOST: Final = 0.85
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


def heat_overlay(
    background: _Floats, values: _Floats, greatest: float
) -> npt.NDArray[np.uint8]:
    """Return the (side, side, 3) picture of a map over an image.

    Parameters
    ----------
    background : (side, side) floats
        The image, 0-1.
    values : (rows, columns) floats
        Not negative; the map is stretched over the whole image, edge to edge.
    greatest : float
        The value of the last colour; 0 is transparent.
    """
    return _tinted(background, _stretched(values, background.shape[0]), greatest)


def patch_overlay(
    background: _Floats, values: _Floats, to_image: Affine, greatest: float
) -> npt.NDArray[np.uint8]:
    """Return the (height, width, 3) picture of a map of patches over an image.

    Parameters
    ----------
    background : (height, width) floats
        The image, 0-1.
    values : (rows, columns) floats
        Not negative, one per patch.
    to_image : Affine
        From patch coordinates to pixels of the background, without rotation or shear.
    greatest : float
        The value of the last colour; 0 is transparent, and so is what no patch covers.
    """
    down, across = (
        np.floor((np.arange(n) + 0.5 - start) / step).astype(np.int64)
        for n, start, step in zip(
            background.shape,
            (to_image.f, to_image.c),
            (to_image.e, to_image.a),
            strict=True,
        )
    )
    ends = (
        np.clip(at, 0, n - 1)
        for at, n in zip((down, across), values.shape, strict=True)
    )
    inside = np.outer(
        (down >= 0) & (down < values.shape[0]),
        (across >= 0) & (across < values.shape[1]),
    )
    return _tinted(background, np.where(inside, values[np.ix_(*ends)], 0.0), greatest)


def _tinted(
    background: _Floats, values: _Floats, greatest: float
) -> npt.NDArray[np.uint8]:
    share = values / (greatest or 1.0)
    opacity = np.where(share > 0, _CLEAREST + (_MOST - _CLEAREST) * share, 0.0)
    grey = 255 * np.clip(background, 0, 1)
    mixed = colors(share) * opacity[..., None] + (grey * (1 - opacity))[..., None]
    return np.asarray(np.rint(mixed), dtype=np.uint8)


def colors(share: _Floats) -> _Floats:
    """Return the (..., 3) colours, 0-255, of fractions 0-1 of the greatest value."""
    at = np.linspace(0, 1, len(_ANCHORS))
    return np.stack([np.interp(share, at, _ANCHORS[:, i]) for i in range(3)], axis=-1)


def _stretched(values: _Floats, side: int) -> _Floats:
    rows, columns = (
        np.minimum(np.arange(side) * n // side, n - 1) for n in values.shape
    )
    return np.asarray(values[np.ix_(rows, columns)])
