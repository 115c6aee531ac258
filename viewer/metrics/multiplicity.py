"""P values adjusted for how many questions were asked.

Holm for a family that was declared before anything was unblinded, Benjamini and
Hochberg for exploration. A p value that could not be had (NaN) stays NaN, but it was
declared, so it counts in the size of the family, as if it were 1.
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
    """Return p values adjusted step-down, which bounds any false claim (Holm 1979)."""
    p, order, m = _sorted(p_values)
    climbing = np.maximum.accumulate(p * np.arange(m, 0, -1))
    return _family(p_values, climbing, order, f"Holm, a declared family of {m}")


def benjamini_hochberg(p_values: Sequence[float]) -> Family:
    """Return p values adjusted step-up, which bounds the share of false claims.

    Source: Benjamini and Hochberg 1995.
    """
    p, order, m = _sorted(p_values)
    scaled = p * m / np.arange(1, m + 1)
    falling = np.minimum.accumulate(scaled[::-1])[::-1]
    return _family(p_values, falling, order, f"Benjamini-Hochberg, exploratory, {m}")


def _sorted(p_values: Sequence[float]) -> tuple[_Floats, npt.NDArray[np.intp], int]:
    """Return the p values ascending, NaN as 1, their places, and how many."""
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
    """Put stepped p values back into their places."""
    adjusted = np.empty(len(raw))
    adjusted[order] = np.minimum(stepped, 1.0)
    answers = zip(raw, adjusted.tolist(), strict=True)
    return Family(tuple(raw), tuple(nan if isnan(p) else q for p, q in answers), method)
