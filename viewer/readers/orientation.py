"""Direction cosines as the letters of Patient Orientation."""

import math
from collections.abc import Sequence
from typing import Final

_POSITIVE, _NEGATIVE = "LPH", "RAF"
_LEAST_PART: Final = 0.1
"""A letter stands for a part of the direction of at least this, about 6 degrees."""
_UNIT_WITHIN: Final = 0.05


def orientation_letters(axes: Sequence[float] | None) -> tuple[str, ...]:
    """Return which way the rows and the columns of an image run.

    Parameters
    ----------
    axes : sequence of float or None
        Image Orientation (Patient): the cosines of the row, then of the column, with
        x to the left, y to the back and z to the head (PS3.3 C.7.6.2.1.1).

    Returns
    -------
    tuple of str
        Two values as Patient Orientation has them (PS3.3 C.7.6.1.1.1), the strongest
        direction first: ``("L", "PF")`` for an axial slice with its gantry tilted.
        Empty where the cosines are no two perpendicular unit vectors.
    """
    if axes is None or len(axes) != 6 or not _is_frame(axes[:3], axes[3:]):
        return ()
    return _letters(axes[:3]), _letters(axes[3:])


def _is_frame(row: Sequence[float], column: Sequence[float]) -> bool:
    lengths = (math.hypot(*row), math.hypot(*column))
    across = sum(a * b for a, b in zip(row, column, strict=True))
    units = all(abs(length - 1) < _UNIT_WITHIN for length in lengths)
    return units and abs(across) < _UNIT_WITHIN


def _letters(direction: Sequence[float]) -> str:
    parts = sorted(range(3), key=lambda i: -abs(direction[i]))
    return "".join(
        (_POSITIVE if direction[i] > 0 else _NEGATIVE)[i]
        for i in parts
        if abs(direction[i]) >= _LEAST_PART
    )
