"""Hit sets of cells, and the hit rate of random answers (X-04, E000-16)."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from viewer.metrics.coverage import Coverage

_TOLERANCE = 1e-9
"""Of a covered fraction that was integrated in floating point."""


@dataclass(frozen=True, slots=True)
class HitSet:
    """Row-major indices of the qualifying cells, and whether the fallback applied."""

    hits: tuple[int, ...]
    fallback: bool


def hit_set(coverage: Coverage, threshold: Fraction) -> HitSet:
    """Return the cells covered to at least ``threshold``, else those touched at all.

    Pixel counts are compared as integers, ``count · denominator >= numerator ·
    pixels`` (Gosai 2025, 3.3: at least 50 %, inclusive; E000-16, E000-17).
    """
    hits = _reaching(coverage, threshold)
    if hits:
        return HitSet(hits, fallback=False)
    return HitSet(any_overlap(coverage), fallback=True)


def any_overlap(coverage: Coverage) -> tuple[int, ...]:
    """Return the cells that are covered at all."""
    least = 0.0 if coverage.exact else _TOLERANCE
    return tuple(i for i, covered in enumerate(coverage.covered) if covered > least)


def random_hit_rate(hit_sets: npt.NDArray[np.int64], n_cells: int) -> float:
    """Return the mean of |hit set| / n_cells over items (E000-19).

    Parameters
    ----------
    hit_sets : (items,) integers
        The size of each item's hit set, fallback applied.
    n_cells : int
        Cells of the grid, the same for every item.
    """
    return int(hit_sets.sum()) / (hit_sets.size * n_cells)


def _reaching(coverage: Coverage, threshold: Fraction) -> tuple[int, ...]:
    pairs = enumerate(zip(coverage.covered, coverage.area, strict=True))
    if coverage.exact:
        top, bottom = threshold.numerator, threshold.denominator
        return tuple(i for i, (c, a) in pairs if int(c) * bottom >= top * int(a))
    least = float(threshold) - _TOLERANCE
    return tuple(i for i, (c, a) in pairs if c >= least * a)
