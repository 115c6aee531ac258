"""Where heart, mediastinum and spine may lie, estimated from the lungs alone.

Lung masks may include lung in front of or behind the heart and mediastinum, as those of
v7labs and of our phantoms do, so they do not show where there is only lung.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]

_LEAST_SHARE: Final = 0.2
"""The share of the lungs' area that each side of the midline has to hold."""
_LEAST_ROWS: Final = 0.5
"""The share of the lungs' rows in which the two have to be apart."""


@dataclass(frozen=True, slots=True)
class Thorax:
    """The position of two lungs on a frontal image, in pixels of their mask.

    ``middle`` is the column midway between them. ``width`` is their joint lateral
    extent, ``top`` and ``bottom`` their first row and the row after their last.
    """

    middle: float
    width: int
    top: int
    bottom: int


def thorax_of(lungs: Bools) -> Thorax | None:
    """Return the position of the two lungs of a mask, None if they cannot be separated.

    ``lungs`` (rows, columns) is the union of both. The midline is the median over rows
    of the middle of the widest gap between lung and lung, so that a hole for a
    pacemaker in some rows does not move it.
    """
    rows, columns = np.nonzero(lungs.any(axis=1))[0], np.nonzero(lungs.any(axis=0))[0]
    gaps = [middle for row in rows if (middle := _gap_middle(lungs[row])) is not None]
    if not len(rows) or len(gaps) < _LEAST_ROWS * len(rows):
        return None
    middle = float(np.median(gaps))
    left = np.count_nonzero(lungs[:, : int(middle)]) / np.count_nonzero(lungs)
    if not _LEAST_SHARE <= left <= 1 - _LEAST_SHARE:
        return None
    width = int(columns[-1] - columns[0] + 1)
    return Thorax(middle, width, int(rows[0]), int(rows[-1] + 1))


def central_band(
    shape: tuple[int, int], thorax: Thorax, half_width: float, from_height: float
) -> Bools:
    """Return the columns within ``half_width`` × the thorax's width of its midline.

    The band begins ``from_height`` of the lungs' height below their top and ends at
    the image's lower edge.
    """
    band = np.zeros(shape, dtype=bool)
    reach = half_width * thorax.width
    first = max(0, round(thorax.middle - reach))
    start = thorax.top + round(from_height * (thorax.bottom - thorax.top))
    band[start:, first : round(thorax.middle + reach)] = True
    return band


def _gap_middle(row: Bools) -> float | None:
    """Return the middle of a row's widest gap, None if its lung is contiguous."""
    lung = np.nonzero(row)[0]
    steps = np.diff(lung)
    if not len(steps) or steps.max() == 1:
        return None
    at = int(steps.argmax())
    return float(lung[at] + lung[at + 1]) / 2
