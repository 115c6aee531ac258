"""Wilcoxon's signed-rank test of paired scores; the method is always reported.

Sources: Wilcoxon 1945; Pratt 1959 and Cureton 1967 for zeros that keep their ranks;
Streitberg and Roehmel 1986 for the exact distribution with ties; Rosner, Glynn and Lee
2006 for several pairs of one patient, whose signs are flipped together.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import erfc, nan, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.metrics.permutation import sign_flip

_Floats = npt.NDArray[np.float64]
_Places = npt.NDArray[np.int64]
_LARGEST_EXACT: Final = 1_000
"""Ranked pairs up to which the distribution of the statistic is counted out."""
_SCIPY_UNTIED: Final = 50
_SCIPY_TIED: Final = 13
"""Pairs up to which scipy counts out: without ties and zeros, and with them."""


class ZeroMethod(StrEnum):
    """How pairs without a difference are handled."""

    WILCOX = "wilcox"
    """They are left out."""
    PRATT = "pratt"
    """They are ranked with the others, and their ranks then left out."""
    ZSPLIT = "zsplit"
    """They are ranked with the others, half of their ranks to each side."""


class PMethod(StrEnum):
    """How the p-value is computed."""

    EXACT = "exact"
    """From all sign patterns, ties and zeros included, up to 1,000 ranked pairs."""
    NORMAL = "normal"
    """By the normal approximation with tie correction.

    Few pairs can fall below the smallest p-value that they can have.
    """
    SCIPY = "scipy"
    """As scipy 1.17 chooses: exact up to 50 pairs, with ties or zeros up to 13."""


@dataclass(frozen=True, slots=True)
class SignedRank:
    """The result of the test.

    ``plus`` and ``minus`` are the sums of ranks of positive and negative differences,
    ``effect`` the matched-pairs rank-biserial correlation (plus - minus) / both;
    ``pairs`` is the number of pairs, ``zeros`` of them without a difference. NaN if no
    pair differs.
    """

    plus: float
    minus: float
    p_value: float
    effect: float
    pairs: int
    zeros: int
    method: str


def signed_rank(
    first: Sequence[float],
    second: Sequence[float],
    zero_method: ZeroMethod = ZeroMethod.WILCOX,
    p_method: PMethod = PMethod.EXACT,
    clusters: Sequence[Hashable] = (),
) -> SignedRank:
    """Test whether first minus second is symmetric about 0, two-sided.

    The normal approximation is corrected for ties, not for continuity. If any of
    ``clusters``, such as patients, has several pairs, the signs of all ranks of a
    cluster are flipped together instead.

    Raises
    ------
    ValueError
        If the two lengths differ, or a score is not a finite number.
    """
    differences = _differences(first, second)
    zeros = int(np.count_nonzero(differences == 0))
    kept = differences
    if zero_method is ZeroMethod.WILCOX:
        kept = differences[differences != 0]
    ranks, ties = _ranks(np.abs(kept))
    plus, minus = float(ranks[kept > 0].sum()), float(ranks[kept < 0].sum())
    smaller = min(plus, minus)
    if zero_method is ZeroMethod.ZSPLIT:
        half = float(ranks[kept == 0].sum()) / 2
        plus, minus = plus + half, minus + half
    ranked = int(np.count_nonzero(kept))
    tied = ties.max(initial=1) > 1 or zeros > 0
    if not ranked:
        p, how = nan, "no pair differs"
    elif (shared := _shared(clusters, differences)).size:
        signed = ranks[kept != 0] * np.sign(kept[kept != 0])
        p, how = _by_cluster(signed, shared)
    elif _counts_out(p_method, ranked, differences.size, tied=tied):
        p, how = _exact(ranks[kept != 0], smaller), f"exact, {ranked} pairs"
    else:
        ranked_zeros = zeros if zero_method is ZeroMethod.PRATT else 0
        p = _normal(plus, kept.size, ranked_zeros, ties)
        how = "normal approximation with tie correction"
    words = f"Wilcoxon signed-rank, two-sided, zeros {zero_method} ({zeros}), {how}"
    total = plus + minus
    effect = (plus - minus) / total if ranked else nan
    return SignedRank(plus, minus, p, effect, differences.size, zeros, words)


def _shared(clusters: Sequence[Hashable], differences: _Floats) -> _Places:
    """Return the cluster of each nonzero difference; empty if all clusters differ."""
    clusters_used = [
        c for c, gap in zip(clusters, differences, strict=bool(clusters)) if gap
    ]
    place = {name: i for i, name in enumerate(dict.fromkeys(clusters_used))}
    shared = clusters_used if len(place) < len(clusters_used) else []
    return np.array([place[name] for name in shared], dtype=np.int64)


def _by_cluster(signed: _Floats, of: _Places) -> tuple[float, str]:
    """Return p from flipping each cluster's signs together, and its method."""
    # mean ranks are whole when doubled, so that the distribution is counted out
    found = sign_flip(np.bincount(of, 2 * signed).tolist())
    return found.p_value, found.method


def _differences(first: Sequence[float], second: Sequence[float]) -> _Floats:
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError("both sides need equally many scores")
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("a score is not a finite number")
    # a mean of three readers has no last binary digit: equal differences must tie
    return np.asarray(np.round(a - b, 12))


def _ranks(sizes: _Floats) -> tuple[_Floats, npt.NDArray[np.int64]]:
    """Return mean ranks from 1, and the sizes of ties, smallest values first."""
    _, where, ties = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(ties)
    return (last - (ties - 1) / 2)[where], ties.astype(np.int64)


def _counts_out(method: PMethod, ranked: int, pairs: int, *, tied: bool) -> bool:
    """Tell whether the exact distribution is used for this many pairs."""
    if method is PMethod.SCIPY:
        return pairs <= (_SCIPY_TIED if tied else _SCIPY_UNTIED)
    return method is PMethod.EXACT and ranked <= _LARGEST_EXACT


def _exact(ranks: _Floats, smaller: float) -> float:
    """Return twice the tail of the smaller sum over all 2^n sign patterns, at most 1.

    The distribution of rank sums is built up one rank at a time: mean ranks are
    integers when doubled, and sums above the smaller one are not needed.
    """
    doubled = np.rint(2 * ranks).astype(np.int64)
    shares = np.zeros(round(2 * smaller) + 1)
    shares[0] = 1.0
    for rank in doubled:
        longer = shares.copy()
        longer[rank:] += shares[: max(0, shares.size - rank)]
        shares = longer / 2
    return min(1.0, 2 * float(shares.sum()))


def _normal(plus: float, n: int, zeros: int, ties: npt.NDArray[np.int64]) -> float:
    """Return the two-sided p of plus; the ranks of ``zeros`` do not count."""
    mean = (n * (n + 1) - zeros * (zeros + 1)) / 4
    spread = n * (n + 1) * (2 * n + 1) - zeros * (zeros + 1) * (2 * zeros + 1)
    # Zeros are the first tie, whose ranks are already left out of the spread.
    counted = ties[1:] if zeros else ties
    tied = int((counted**3 - counted).sum())
    return erfc(abs(plus - mean) / sqrt((spread - tied / 2) / 24) / sqrt(2))
