"""Which data a printed number is compatible with, in integer arithmetic.

A rate of ``n`` trials is k / n, so a percentage printed to one decimal is possible for
few k, or for none (the GRIM test, Brown and Heathers 2017). A figure that no k gives
comes from other trials, from another estimator, or is wrong. Likewise a mean of integer
scores is an integer sum over n, a standard deviation has an integer sum of squares
(GRIMMER, Anaya 2016), an F1 is the harmonic mean of its parts, and a pooled rate their
weighted mean.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from math import ceil, floor


@dataclass(frozen=True, slots=True)
class Range:
    """All values that a printed number may have had before rounding, ends included."""

    low: Fraction
    high: Fraction

    def meets(self, other: "Range", slack: Fraction = Fraction(0)) -> bool:
        """Tell whether two ranges overlap, or are no farther apart than ``slack``."""
        return self.low <= other.high + slack and other.low <= self.high + slack


def as_printed(value: float, decimals: int) -> Fraction:
    """Return a printed number as an exact decimal fraction."""
    return Fraction(round(value * 10**decimals), 10**decimals)


def as_percent(rate: float, decimals: int = 1) -> str:
    """Return a rate 0-1 as a printed percentage, ties to even (X-06).

    The rate counts as the decimal fraction nearest to it within 10^-12, so that 23 / 80
    is a tie although no binary number is.
    """
    exact = Decimal(f"{rate:.12f}") * 100
    return str(exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_EVEN))


def before_rounding(value: float, decimals: int) -> Range:
    """Return the values that round to a printed number; ties may go either way."""
    half = Fraction(1, 2 * 10**decimals)
    exact = as_printed(value, decimals)
    return Range(exact - half, exact + half)


def counts_that_print(percent: float, decimals: int, n: int) -> tuple[int, ...]:
    """Return every k for which k / n prints as a percentage; ties may go either way.

    Parameters
    ----------
    percent : float
        As printed, 0 to 100.
    decimals : int
        How many decimals were printed.
    n : int
        Trials, at least 1.
    """
    scale = 10**decimals
    printed = round(percent * scale)
    # k / n prints so from (printed - 1/2) / (100 scale) on, in whole numbers
    first = -((n - 2 * printed * n) // (200 * scale))
    last = (n + 2 * printed * n) // (200 * scale)
    return tuple(range(max(0, first), min(n, last) + 1))


def every_mean_prints(sizes: tuple[int, ...], decimals: int) -> bool:
    """Tell whether a mean of rates of these sizes could print as any percentage.

    If one more hit in the largest group moves the mean of the rates by no more than a
    printed step, a printed mean excludes nothing.
    """
    return Fraction(100, len(sizes) * max(sizes)) <= Fraction(1, 10**decimals)


def matches_printed(rate: float, percent: float, decimals: int) -> bool:
    """Tell whether a rate 0-1 is within half a printed step of a percentage (X-06).

    Exactly half a step counts as within, whatever the rate's last binary digit.
    """
    half = Fraction(1, 2 * 10**decimals)
    gap = abs(100 * Fraction(rate) - Fraction(round(percent * 10**decimals)) * 2 * half)
    return gap <= half + Fraction(1, 10**12)


def sizes_that_print(
    percents: Sequence[float], decimals: int, sizes: Sequence[int]
) -> tuple[int, ...]:
    """Return the sizes n for which every percentage is some k / n."""
    return tuple(
        n for n in sizes if all(counts_that_print(p, decimals, n) for p in percents)
    )


def sums_that_print(mean: float, decimals: int, n: int) -> tuple[int, ...]:
    """Return every integer sum whose mean over ``n`` scores prints as ``mean``."""
    span = before_rounding(mean, decimals)
    return tuple(range(ceil(span.low * n), floor(span.high * n) + 1))


def squares_that_print(
    total: int, deviation: float, decimals: int, n: int, ddof: int = 1
) -> tuple[int, ...]:
    """Return every integer sum of squares compatible with a printed standard deviation.

    Parameters
    ----------
    total : int
        The sum of ``n`` integer scores; it has the same parity as the sum of their
        squares, which is never below total² / n.
    deviation : float
        As printed.
    decimals, n, ddof : int
        Decimals printed, number of scores, and what is subtracted from ``n`` in the
        divisor.
    """
    span = before_rounding(deviation, decimals)
    low, high = max(span.low, Fraction(0)), span.high
    rest, least = n - ddof, Fraction(total * total, n)
    first, last = ceil(least + low * low * rest), floor(least + high * high * rest)
    return tuple(q for q in range(first, last + 1) if (q - total) % 2 == 0)


def harmonic_range(precision: float, recall: float, decimals: int) -> Range:
    """Return the possible range of 2PR / (P + R) for printed precision and recall."""
    p, r = before_rounding(precision, decimals), before_rounding(recall, decimals)
    return Range(_harmonic(p.low, r.low), _harmonic(p.high, r.high))


def mean_range(precision: float, recall: float, decimals: int) -> Range:
    """Return the possible range of a mean of two: from the lower to the higher."""
    p, r = before_rounding(precision, decimals), before_rounding(recall, decimals)
    return Range(min(p.low, r.low), max(p.high, r.high))


def pooled(values: Sequence[float], decimals: int, sizes: Sequence[int]) -> Fraction:
    """Return Σ nᵢ·aᵢ / Σ nᵢ of printed rates ``values`` of groups of these sizes."""
    parts = [
        as_printed(value, decimals) * n for value, n in zip(values, sizes, strict=True)
    ]
    return sum(parts, Fraction(0)) / sum(sizes)


def _harmonic(p: Fraction, r: Fraction) -> Fraction:
    """Return the harmonic mean, 0 unless both are positive."""
    return 2 * p * r / (p + r) if p > 0 and r > 0 else Fraction(0)
