"""Two runs on the same items: which items one hits and the other misses."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import numpy.typing as npt

from viewer.metrics.estimate import Estimate, percent
from viewer.metrics.intervals import Interval
from viewer.metrics.proportions import exact_bounds, patient_method

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairedTable:
    """How many items both runs hit, only one of them, or neither."""

    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def items(self) -> int:
        """The total number of items."""
        return self.both + self.only_first + self.only_second + self.neither


@dataclass(frozen=True, slots=True)
class McNemar:
    """Two-sided p values of a paired table; items are assumed to be independent."""

    p_value: float
    mid_p: float
    method: str


def paired_table(first: Sequence[bool], second: Sequence[bool]) -> PairedTable:
    """Count hits of two runs on the same items, in the same order."""
    pairs = list(zip(first, second, strict=True))
    return PairedTable(
        sum(1 for a, b in pairs if a and b),
        sum(1 for a, b in pairs if a and not b),
        sum(1 for a, b in pairs if b and not a),
        sum(1 for a, b in pairs if not (a or b)),
    )


def mcnemar(only_first: int, only_second: int) -> McNemar:
    """Return the exact conditional test and its mid-p (Fagerland 2013).

    Given n discordant pairs the first wins Bin(n, 1/2) of them. The mid-p counts half
    the probability of the observed table. Without discordant pairs both are 1.
    """
    method = f"McNemar, exact, {only_first} against {only_second}"
    n, fewer = only_first + only_second, min(only_first, only_second)
    if n == 0:
        return McNemar(1.0, 1.0, method)
    whole, ways, observed = 2**n, 1, 1
    for i in range(fewer):  # each binomial coefficient comes of the one before
        observed = observed * (n - i) // (i + 1)
        ways += observed
    if only_first == only_second:
        return McNemar(1.0, 1 - observed / (2 * whole), method)
    return McNemar(2 * ways / whole, (2 * ways - observed) / whole, method)


def mean_difference(
    totals: Sequence[float], trials: Sequence[int], confidence: float = 0.95
) -> Estimate:
    """Return the mean of differences of shares with an interval by patient.

    A difference d from -1 to 1 is mapped to a rate (d + 1) / 2, which gets the exact
    interval for its effective number of trials, as in :func:`patient_bounds`. The
    variance is that between patients (linearized, as for a ratio of sums), but at least
    that of the patients' means with two pseudo-patients added, one of +1 and one of -1:
    without them the interval has no width if all patients have the same difference.
    Simulated coverage with 5-200 patients, correlations of 0-0.6 and any share of gains
    and losses is at least 94 %; Student's t falls to 88 % with seven patients.

    Parameters
    ----------
    totals, trials : (patients,)
        Sums of differences from -1 to 1, and their number, at least 1.
    """
    d, n = np.asarray(totals, np.float64), np.asarray(trials, np.float64)
    return _of_differences(d[:, None], n[:, None], "of differences", confidence)


def macro_difference(
    totals: npt.ArrayLike, trials: npt.ArrayLike, confidence: float = 0.95
) -> Estimate:
    """Return the unweighted mean over cells of mean differences, with an interval.

    As :func:`mean_difference`; covariances of cells through shared patients are added
    if they increase the variance. A cell's minimum variance is that of its number of
    patients, without the two pseudo-patients, and the variance of few patients is
    inflated by Student's quantile (Korn and Graubard 1998).

    Parameters
    ----------
    totals, trials : (patients, cells)
        Sums of differences and their number; cells without a trial are left out.
    """
    d, n = np.asarray(totals, np.float64), np.asarray(trials, np.float64)
    d, n = d[:, n.sum(axis=0) > 0], n[:, n.sum(axis=0) > 0]
    there = n.sum(axis=1) > 0
    named = "mean of differences"
    return _of_differences(d[there], n[there], named, confidence)


def bounded_mean(
    totals: Sequence[float],
    trials: Sequence[int],
    ends: tuple[float, float],
    confidence: float = 0.95,
) -> Estimate:
    """Return the mean of scores between two ends, like :func:`mean_difference`."""
    middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    t, n = np.asarray(totals, np.float64), np.asarray(trials, np.float64)
    found = mean_difference(((t - middle * n) / half).tolist(), trials, confidence)
    low, high = (
        middle + half * end for end in (found.interval.low, found.interval.high)
    )
    value = float(t.sum() / n.sum()) if n.size else nan
    method = found.method.replace("differences", f"scores {ends[0]:g} to {ends[1]:g}")
    return Estimate(value, Interval(low, high), method)


def _of_differences(d: _Floats, n: _Floats, named: str, confidence: float) -> Estimate:
    """Return the mean over columns; (patients, cells), each with at least one trial."""
    m, cells = d.shape
    shares = d.sum(axis=0) / n.sum(axis=0) if m else np.full(cells, nan)
    value = float(shares.mean()) if cells else nan
    if m < 2:
        method = patient_method(int(n.sum()), m, confidence)
        return Estimate(value, Interval(nan, nan), method)
    gaps = (d - shares * n) / (cells * n.sum(axis=0))
    squares, patients = (gaps * gaps).sum(axis=0), (n > 0).sum(axis=0)
    least = _least(d, n)
    if cells > 1:  # a cell of one patient must not look surer than that patient is
        least *= (patients + 2) / patients
    variances = np.maximum(
        squares * patients / np.maximum(patients - 1, 1), least / cells**2
    )
    common = m / (m - 1) * float((gaps.sum(axis=1) ** 2).sum() - squares.sum())
    rate, between = (value + 1) / 2, float(variances.sum()) + max(common, 0.0)
    if cells > 1:
        between *= _student(m - 1, confidence)
    worth = 4 * rate * (1 - rate) / between or float(m)
    ends = exact_bounds(np.array(rate * worth), np.array(worth), confidence)
    interval = Interval(*(2 * float(end) - 1 for end in ends))
    method = f"Clopper-Pearson by patient, {named}, {percent(confidence)}"
    return Estimate(value, interval, method)


def _student(freedom: int, confidence: float) -> float:
    """Return the squared ratio of Student's to the normal quantile (Korn 1998)."""
    from scipy.special import ndtri, stdtrit

    tail = 0.5 + confidence / 2
    return float(stdtrit(freedom, tail) / ndtri(tail)) ** 2


def _least(d: _Floats, n: _Floats) -> _Floats:
    """Return the variances of means with two pseudo-patients, -1 and 1, (cells,)."""
    means = np.divide(d, n, out=np.zeros_like(d), where=n > 0)
    more = (n > 0).sum(axis=0) + 2
    squares = (means * means).sum(axis=0) + 2
    return np.asarray((squares - means.sum(axis=0) ** 2 / more) / more**2)
