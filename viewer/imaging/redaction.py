"""Blacking out of boxes in an image, so that their contents cannot be sent."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import PixelImage


def black_out(image: PixelImage, boxes: Sequence[BoxPx]) -> PixelImage:
    """Return ``image`` with boxes shown black and their contents removed.

    Every pixel that a box touches is cleared. In a grey image it becomes padding, which
    is black under every window, inversion and look-up table, and is ignored where the
    values' range decides the window. The image's size does not change.
    """
    inside = touched(image.size, boxes)
    if not inside.any():
        return image
    values = image.values.copy()
    values[inside] = _least(image.values, ~inside)
    if values.ndim == 3:
        return replace(image, values=values)
    padding = inside if image.padding is None else inside | image.padding
    return replace(image, values=values, padding=padding)


def touched(size: SizePx, boxes: Sequence[BoxPx]) -> npt.NDArray[np.bool_]:
    """Return the (rows, columns) mask of boxes, with every pixel touched included."""
    mask = np.zeros((size.rows, size.columns), dtype=bool)
    for box in boxes:
        rows = slice(max(0, math.floor(box.y0)), max(0, math.ceil(box.y1)))
        columns = slice(max(0, math.floor(box.x0)), max(0, math.ceil(box.x1)))
        mask[rows, columns] = True
    return mask


def _least(
    values: npt.NDArray[np.generic], outside: npt.NDArray[np.bool_]
) -> np.generic | int:
    """Return 0 for colour, else a value that occurs in the rest of the image."""
    if values.ndim == 3 or not outside.any():
        return 0
    least: np.generic = values[outside].min()
    return least
