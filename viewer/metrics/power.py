"""Smallest effects that a test can detect in few items, before seeing results."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
_ROUNDING = 1 + 1e-12
_STEPS = 50
"""Halvings of an interval of rates: 1e-15."""
_ALPHA, _POWER = 0.05, 0.8
RATE_METHOD: Final = f"exact binomial, one-sided, α {_ALPHA:g}, power {_POWER:g}"
"""What :func:`rate_power` computes by default, in words."""


@dataclass(frozen=True, slots=True)
class PairedPower:
    """What the exact McNemar test can detect in ``items`` paired items.

    ``fewest_flips`` in one direction are significant; ``smallest_difference`` of the
    hit rates is detected with the given ``power`` if ``against`` of all items flip the
    other way. None: not even a flip of every item would be significant.
    """

    items: int
    alpha: float
    power: float
    against: float
    fewest_flips: int | None
    smallest_difference: float | None

    @property
    def method(self) -> str:
        """What was computed, in words."""
        return f"exact McNemar, two-sided, α {self.alpha:g}, power {self.power:g}"


@dataclass(frozen=True, slots=True)
class RatePower:
    """What the exact binomial test can detect in ``items`` items above a baseline.

    ``fewest_hits`` are significantly more than the baseline (one-sided);
    ``smallest_rate`` is detected with the given ``power``. None: not even all hits
    would be significant.
    """

    items: int
    baseline: float
    alpha: float
    power: float
    fewest_hits: int | None
    smallest_rate: float | None


def mcnemar_power(
    items: int, only_first: float, only_second: float, alpha: float = 0.05
) -> float:
    """Return the power of the exact McNemar test.

    It is Σ over flips m of P(m) · P(one direction has at most critical[m]).

    Parameters
    ----------
    items : int
        Number of independent paired items.
    only_first, only_second : float
        The probability that only the first, or only the second, run hits an item.
    alpha : float
        Two-sided level.
    """
    from scipy.special import bdtr

    flipping = only_first + only_second
    if flipping == 0:
        return 0.0
    critical = _critical(items, alpha)
    chance = np.diff(bdtr(np.arange(items + 1), items, flipping), prepend=0.0)
    m = np.flatnonzero(critical >= 0)
    first = min(only_first / flipping, 1.0)
    one_sided = bdtr(critical[m], m, first) + bdtr(critical[m], m, 1 - first)
    return float((chance[m] * one_sided).sum())


def paired_power(
    items: int, against: float = 0.0, alpha: float = 0.05, power: float = 0.8
) -> PairedPower:
    """Return the smallest difference that is detected with a given power.

    Raises
    ------
    ValueError
        If ``against`` is not from 0 to less than one half.
    """
    if not 0 <= against < 0.5:
        raise ValueError(f"{against} of the items cannot flip against a difference")
    significant = np.flatnonzero(_critical(items, alpha) >= 0)
    fewest = int(significant[0]) if significant.size else None
    low, high = against, 1 - against
    if mcnemar_power(items, high, against, alpha) < power:
        return PairedPower(items, alpha, power, against, fewest, None)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        found = mcnemar_power(items, middle, against, alpha) >= power
        low, high = (low, middle) if found else (middle, high)
    return PairedPower(items, alpha, power, against, fewest, high - against)


def rate_power(
    items: int, baseline: float, alpha: float = _ALPHA, power: float = _POWER
) -> RatePower:
    """Return the smallest rate that is detected to be above a baseline."""
    from scipy.special import bdtrc, betaincinv

    hits = np.arange(items + 1)
    tail = bdtrc(hits - 1, items, baseline)
    enough = np.flatnonzero(tail <= alpha * _ROUNDING)
    if not enough.size:
        return RatePower(items, baseline, alpha, power, None, None)
    k = int(enough[0])
    smallest = float(betaincinv(k, items - k + 1, power))
    return RatePower(items, baseline, alpha, power, k, smallest)


@lru_cache(maxsize=64)
def _critical(items: int, alpha: float) -> npt.NDArray[np.int64]:
    """Return the critical count of the rarer direction by number of flips; -1: none."""
    from scipy.special import bdtr

    critical = np.full(items + 1, -1)
    for flips in range(1, items + 1):
        # The critical count never falls with more flips: the search goes on from it.
        most = critical[flips - 1]
        while 2 * bdtr(most + 1, flips, 0.5) <= alpha * _ROUNDING:
            most += 1
        critical[flips] = most
    critical.setflags(write=False)  # it is kept for the next question
    return critical
