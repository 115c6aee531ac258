"""Bilinear interpolation between the centres of a coarse map's elements."""

import numpy as np
import numpy.typing as npt

from viewer.domain.geometry import SizePx


def axis_weights(
    places: npt.NDArray[np.float64], count: int
) -> npt.NDArray[np.float64]:
    """Return the (places, count) weights that interpolate along one axis.

    ``places`` are in elements from the first one's edge, so that element i has its
    centre at i + 1/2; beyond the outermost centres the map is constant. Each row of
    weights sums to 1.
    """
    centred = np.clip(places - 0.5, 0, count - 1)
    first = np.minimum(np.floor(centred).astype(np.int64), max(count - 2, 0))
    part = centred - first
    weights = np.zeros((len(places), count))
    rows = np.arange(len(places))
    weights[rows, first] = 1 - part
    weights[rows, np.minimum(first + 1, count - 1)] += part
    return weights


def enlarged(values: npt.NDArray[np.floating], size: SizePx) -> npt.NDArray[np.float64]:
    """Return a (rows, columns) map interpolated to ``size``, with edges aligned.

    The same as torch's bilinear interpolation with ``align_corners=False``.
    """
    rows, columns = values.shape
    down = axis_weights(_centres(size.rows) * rows, rows)
    across = axis_weights(_centres(size.columns) * columns, columns)
    return np.asarray(down @ values.astype(np.float64) @ across.T)


def _centres(count: int) -> npt.NDArray[np.float64]:
    """Return the centres of ``count`` equal parts of 0 to 1."""
    return np.asarray((np.arange(count) + 0.5) / count)
