"""Evidence Sensitivity of two modalities compared (MEDSYN, equation 2; E004-19)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Final

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]

TIE: Final = 1e-9
"""Sensitivities that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class CrossModal:
    """Sensitivities to one kind of evidence, as images and as text.

    ``above`` counts the cases in which the images moved the model more than their text,
    ``below`` less, ``tied`` equally; ``missing`` those without one of the two. ``nmse``
    is that of the paper, ``swapped`` the same with the modalities exchanged,
    ``concordance`` Lin's; each is NaN if undefined. NMSE is near 1 wherever the images
    move nothing, and it is not symmetric.
    """

    above: int
    below: int
    tied: int
    missing: int
    nmse: float
    swapped: float
    concordance: float

    @property
    def cases(self) -> int:
        """The number of cases with both sensitivities."""
        return self.above + self.below + self.tied


def cross_modal(image: Sequence[float], text: Sequence[float]) -> CrossModal:
    """Compare sensitivities to images and to their text, case by case.

    Raises
    ------
    ValueError
        If the two lengths differ.
    """
    one, other = np.asarray(image, np.float64), np.asarray(text, np.float64)
    if one.shape != other.shape:
        raise ValueError("the two modalities need equally many sensitivities")
    both = ~(np.isnan(one) | np.isnan(other))
    x, y = one[both], other[both]
    gap = x - y
    return CrossModal(
        above=int((gap >= TIE).sum()),
        below=int((gap <= -TIE).sum()),
        tied=int((np.abs(gap) < TIE).sum()),
        missing=int((~both).sum()),
        nmse=nmse(x, y),
        swapped=nmse(y, x),
        concordance=lin_concordance(x, y),
    )


def nmse(values: npt.ArrayLike, reference: npt.ArrayLike) -> float:
    """Return Σ(value − reference)² / Σ reference²; NaN if the latter is 0."""
    x, y = np.asarray(values, np.float64), np.asarray(reference, np.float64)
    power = float((y * y).sum())
    return float(((x - y) ** 2).sum()) / power if power > 0 else nan


def lin_concordance(x: npt.ArrayLike, y: npt.ArrayLike) -> float:
    """Return Lin's concordance correlation (Lin 1989), with variances over n.

    NaN if both are the same constant, or empty.
    """
    one, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if one.size == 0:
        return nan
    a, b = one - one.mean(), other - other.mean()
    apart = float(one.mean() - other.mean())
    spread = float((a * a).mean() + (b * b).mean()) + apart * apart
    return 2 * float((a * b).mean()) / spread if spread > 0 else nan


def unweighted_mean(values: Sequence[float]) -> float:
    """Return the mean of all values that are not NaN, NaN without any (Table 12)."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else nan
