"""Sign-flip test: whether two runs differ, with patients as the exchangeable units."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from viewer.metrics.seeding import generator

_Floats = npt.NDArray[np.float64]
_MOST_ENUMERATED = 16
"""Patients whose signs are all tried: 65,536 patterns."""
_LONGEST_DISTRIBUTION = 1_000_000
"""Whole-number sums that are followed one by one."""
_ROUNDING = 1e-9
"""Of the sum of all differences; a sum this close to the observed one equals it."""


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """The summed difference, its two-sided p value, and how it was computed."""

    total: float
    p_value: float
    method: str


def sign_flip(
    differences: Sequence[float], seed: int = 0, permutations: int = 10_000
) -> PermutationTest:
    """Test whether differences, one per patient, are symmetric about 0.

    The p value is the share of sign patterns whose sum is at least as far from 0 as
    the observed one: of all patterns if the differences are whole numbers (hits) or
    there are at most 16 that are not 0, else of random ones, the observed one counted
    among them, (b + 1) / (m + 1).

    Raises
    ------
    ValueError
        If a difference is not a finite number.
    """
    d = np.asarray(differences, dtype=np.float64)
    if not np.isfinite(d).all():
        raise ValueError("a difference is not a finite number")
    # A patient without a difference adds 0 under either sign.
    d = d[d != 0]
    name = "sign flips by patient"
    if np.all(d == np.rint(d)) and np.abs(d).sum() < _LONGEST_DISTRIBUTION:
        p, how = _whole_numbers(d), f"all 2^{d.size} patterns"
    elif d.size <= _MOST_ENUMERATED:
        p, how = _enumerated(d), f"all 2^{d.size} patterns"
    else:
        p = _sampled(d, seed, permutations)
        how = f"{permutations:,} random patterns, seed {seed}"
    return PermutationTest(float(d.sum()), p, f"{name}, {how}")


def macro_contributions(
    totals: npt.NDArray[np.int64], trials: npt.NDArray[np.int64]
) -> tuple[float, ...]:
    """Return each patient's contribution to the mean over cells of paired differences.

    Parameters
    ----------
    totals, trials : (patients, cells) integers
        Differences in hits, and trials; cells without any trial are left out. The
        contributions sum to the macro difference, as :func:`sign_flip` requires.
    """
    there = trials.sum(axis=0) > 0
    shares = totals[:, there] / trials[:, there].sum(axis=0)
    return tuple(float(one) for one in shares.sum(axis=1) / max(shares.shape[1], 1))


def _whole_numbers(d: _Floats) -> float:
    """Return the exact p value, from the distribution of the sum.

    Patients with the same difference, s, add s · (2 · heads - patients).
    """
    steps, patients = np.unique(np.abs(d).astype(np.int64), return_counts=True)
    chance = np.ones(1)
    for step, n in zip(steps.tolist(), patients.tolist(), strict=True):
        chance = _added(chance, step, n)
    reach = chance.size // 2
    far = np.abs(np.arange(-reach, reach + 1)) >= abs(d.sum())
    return min(1.0, float(chance[far].sum()))


def _added(chance: _Floats, step: int, n: int) -> _Floats:
    """Convolve the distribution of sums with n patients of one difference."""
    heads = _heads(n)
    longer = np.zeros(chance.size + 2 * step * n)
    if chance.size == 1:  # the most frequent case: hits, one step for all patients
        longer[:: 2 * step] = heads
        return longer
    for k in range(n + 1):
        longer[2 * step * k : 2 * step * k + chance.size] += heads[k] * chance
    return longer


def _heads(n: int) -> _Floats:
    """Return the probability of 0 to n heads in n tosses, from the middle outwards."""
    # Ratios from the largest one on are at most 1: nothing overflows.
    middle = (n + 1) // 2
    k = np.arange(middle, n)
    right = np.concatenate((np.ones(1), np.cumprod((n - k) / (k + 1))))
    left = right[::-1] if n % 2 else right[:0:-1]
    whole = np.concatenate((left, right))
    return np.asarray(whole / whole.sum())


def _enumerated(d: _Floats) -> float:
    sums = np.zeros(1)
    for one in d:
        sums = np.concatenate((sums + one, sums - one))
    return float(np.mean(np.abs(sums) >= _limit(d)))


def _sampled(d: _Floats, seed: int, permutations: int) -> float:
    rng = generator(seed, "sign flips")
    sums = [
        (rng.integers(0, 2, d.size, dtype=np.int8) * 2.0 - 1.0) @ d
        for _ in range(permutations)
    ]
    far = int(np.count_nonzero(np.abs(sums) >= _limit(d)))
    return (far + 1) / (permutations + 1)


def _limit(d: _Floats) -> float:
    return float(abs(d.sum()) - _ROUNDING * np.abs(d).sum())
