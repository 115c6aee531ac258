"""Bilinear interpolation of a magnified image, at the resolution of the screen."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

_Values = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Between:
    """For each device pixel of an axis, two neighbouring native pixels.

    ``near`` and ``far`` are their indices, ``part`` (0-1) is the share of ``far``.
    """

    near: npt.NDArray[np.intp]
    far: npt.NDArray[np.intp]
    part: npt.NDArray[np.float32]

    @classmethod
    def of(cls, centres: npt.NDArray[np.floating[Any]], count: int) -> Self:
        """Return the neighbours of native positions; the edges are extended.

        The centre of native pixel n lies at n + 0.5.
        """
        low = np.floor(centres - 0.5)
        part = (centres - 0.5 - low).astype(np.float32)
        near = np.clip(low, 0, count - 1).astype(np.intp)
        return cls(near, np.clip(low + 1, 0, count - 1).astype(np.intp), part)


def interpolated(values: _Values, rows: Between, columns: Between) -> _Values:
    """Return (rows, columns[, 3]) values between those of the image, in its dtype."""
    first, last = columns.near.min(), columns.far.max() + 1
    kind = np.float64 if values.dtype.itemsize > 4 else np.float32
    seen = values[rows.near.min() : rows.far.max() + 1, first:last].astype(kind)
    start = rows.near.min()
    # Across first: there are fewer rows of the image than of the screen.
    across = _mixed(seen, columns.near - first, columns.far - first, columns.part, 1)
    mixed = _mixed(across, rows.near - start, rows.far - start, rows.part, 0)
    if values.dtype.kind == "f":
        return mixed.astype(values.dtype)
    mixed += 0.5
    return mixed.astype(values.dtype)


def touched(mask: npt.NDArray[np.bool_], rows: Between, columns: Between) -> _Values:
    """Return which device pixels would mix in a pixel of the mask."""
    either = mask[rows.near] | mask[rows.far]
    return np.asarray(either[:, columns.near] | either[:, columns.far])


def _mixed(
    values: _Values,
    near: npt.NDArray[np.intp],
    far: npt.NDArray[np.intp],
    part: npt.NDArray[np.float32],
    axis: int,
) -> _Values:
    shape = [1] * values.ndim
    shape[axis] = -1
    mixed = values.take(near, axis)
    step = values.take(far, axis)
    step -= mixed
    step *= part.reshape(shape)
    mixed += step
    return mixed
