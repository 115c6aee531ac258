"""P values adjusted for multiple testing.

Holm for a family that was declared before anything was unblinded, Benjamini and
Hochberg for exploration. An undefined p value (NaN) stays NaN, but it was declared, so
it counts in the size of the family, as if it were 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Family:
    """Raw and adjusted p values of one family, in the order they were given."""

    raw: tuple[float, ...]
    adjusted: tuple[float, ...]
    method: str


def holm(p_values: Sequence[float]) -> Family:
    """Return step-down adjusted p values: family-wise error rate (Holm 1979)."""
    p, order, m = _sorted(p_values)
    # An adjusted value is never below that of a smaller p value.
    climbing = np.maximum.accumulate(p * np.arange(m, 0, -1))
    return _family(p_values, climbing, order, f"Holm, a declared family of {m}")


def benjamini_hochberg(p_values: Sequence[float]) -> Family:
    """Return step-up adjusted p values, which bound the false discovery rate.

    Source: Benjamini and Hochberg 1995.
    """
    p, order, m = _sorted(p_values)
    scaled = p * m / np.arange(1, m + 1)
    falling = np.minimum.accumulate(scaled[::-1])[::-1]
    return _family(p_values, falling, order, f"Benjamini-Hochberg, exploratory, {m}")


def _sorted(p_values: Sequence[float]) -> tuple[_Floats, npt.NDArray[np.intp], int]:
    """Return the p values ascending (NaN as 1), their positions, and how many."""
    p = np.asarray(p_values, dtype=np.float64)
    if np.any((p < 0) | (p > 1)):
        raise ValueError("a p value must be from 0 to 1")
    p = np.where(np.isnan(p), 1.0, p)
    order = np.argsort(p)
    return p[order], order, p.size


def _family(
    raw: Sequence[float],
    stepped: _Floats,
    order: npt.NDArray[np.intp],
    method: str,
) -> Family:
    """Restore adjusted p values to the original order."""
    adjusted = np.empty(len(raw))
    adjusted[order] = np.minimum(stepped, 1.0)
    answers = zip(raw, adjusted.tolist(), strict=True)
    return Family(tuple(raw), tuple(nan if isnan(p) else q for p, q in answers), method)
