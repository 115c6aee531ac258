"""Bounding boxes of a mask's connected parts."""

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import BoxPx


def boxes_around(mask: npt.NDArray[np.bool_]) -> tuple[BoxPx, ...]:
    """Return the bounding box of each part of a (rows, columns) mask, by first pixel.

    Pixels that touch at a corner are connected (8-connectivity).
    """
    from scipy import ndimage

    labels, _ = ndimage.label(mask, structure=np.ones((3, 3), dtype=np.int64))
    return tuple(
        BoxPx(float(x.start), float(y.start), float(x.stop), float(y.stop))
        for y, x in ndimage.find_objects(labels)
    )
