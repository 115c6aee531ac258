"""Boxes around findings, as a reader would draw them."""

from typing import Final

import numpy as np

from viewer.domain.geometry import BoxPx
from viewer.services.synthetic.phantom.rays import Bools

_SMALLEST: Final = 1e-4
"""Share of the image below which a part has no box of its own."""


def boxes_of(mask: Bools) -> tuple[BoxPx, ...]:
    """Return a box around each connected part of a (rows, columns) mask.

    Parts are connected by edges or corners; slivers have no box, but the largest part
    always has.
    """
    from scipy.ndimage import find_objects, label

    parts, n = label(mask, np.ones((3, 3)))
    sizes = np.bincount(parts.ravel(), minlength=n + 1)[1:]
    least = min(_SMALLEST * mask.size, sizes.max(initial=0))
    return tuple(
        BoxPx(
            float(columns.start),
            float(rows.start),
            float(columns.stop),
            float(rows.stop),
        )
        for (rows, columns), size in zip(find_objects(parts), sizes, strict=True)
        if size >= least
    )
