"""The interval of a rate by patient, the long way: fractions, and scipy's binomial."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.stats import beta

Trial = tuple[bool, Hashable, Hashable]
"""Whether it is a hit, and its patient and item."""


def ends_of(
    hits: list[int], trials: list[int], items: int
) -> tuple[float | None, float | None]:
    """Return the exact bounds for as many trials as tell the same."""
    if len(trials) < 2:
        return None, None
    rate = Fraction(sum(hits), sum(trials))
    groups = [
        [Fraction(i < k) for i in range(n)] for k, n in zip(hits, trials, strict=True)
    ]
    size = min(effective_trials(groups, rate, (0, 1)), items)
    return _exact(float(rate) * size, size)


def effective_trials(
    groups: Sequence[Sequence[Fraction]], mean: Fraction, ends: tuple[int, int]
) -> float:
    """Return how many independent trials vary like these, value by value."""
    trials = [value for of in groups for value in of]
    n, m = len(trials), len(groups)
    if n == m:
        return n
    alike = Fraction(n**2, sum(len(of) ** 2 for of in groups))
    far = _squares(sum(of) - mean * len(of) for of in groups)
    size, more = n / alike, (m / alike) ** 2 / 4
    between = far * alike / (alike - 1)
    between += more * _squares(size * (end - mean) for end in ends)
    within = _squares(value - mean for value in trials)
    within += more * size * _squares(end - mean for end in ends)
    return max(n / max(float(between / within), 1), float(alike))


def _squares(values: Iterable[Fraction]) -> Fraction:
    return sum((value * value for value in values), Fraction(0))


def ci_of(trials: Iterable[Trial]) -> dict[str, Any]:
    """Return the columns of an interval over trials that count."""
    of: dict[Hashable, list[int]] = {}
    items = set()
    for is_hit, patient, item in trials:
        of.setdefault(patient, [0, 0])
        of[patient][0] += is_hit
        of[patient][1] += 1
        items.add(item)
    tried = [n for _, n in of.values()]
    low, high = ends_of([k for k, _ in of.values()], tried, len(items))
    name = "Clopper-Pearson" if set(tried) == {1} else "Clopper-Pearson by patient"
    if len(of) < 2:
        name = "not estimable from one patient" if of else "no trial"
    return {"ci_low": low, "ci_high": high, "ci_method": f"{name}, 95 %"}


def named_ends(name: str, ci: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of an interval that is another number's."""
    return {f"{name}_{of}": ci[f"ci_{of}"] for of in ("low", "high", "method")}


def unit_ci_of(scores: Iterable[tuple[float, Hashable]]) -> dict[str, Any]:
    """Return the columns of the interval of a mean of scores from 0 to 1."""
    of: dict[Hashable, list[float]] = {}
    for score, patient in scores:
        of.setdefault(patient, []).append(score)
    if len(of) < 2:
        why = "not estimable from one patient" if of else "no trial"
        return {"ci_low": None, "ci_high": None, "ci_method": f"{why}, 95 %"}
    low, high = mean_ends([*of.values()], 1)
    name = "Clopper-Pearson by patient, of scores 0 to 1, 95 %"
    return {"ci_low": low, "ci_high": high, "ci_method": name}


def macro_ci_of(trials: Mapping[Any, Sequence[Trial]]) -> dict[str, Any]:
    """Return the columns of the interval of a mean of rates, in fractions."""
    asked = [(name, *trial) for name, own in trials.items() for trial in own]
    patients = {patient for _, _, patient, _ in asked}
    if len(patients) < 2 or len([own for own in trials.values() if own]) < 2:
        return ci_of((is_hit, patient, item) for _, is_hit, patient, item in asked)
    rates = {
        name: Fraction(sum(is_hit for is_hit, _, _ in own), len(own))
        for name, own in trials.items()
        if own
    }
    gaps: dict[tuple[Hashable, Hashable], Fraction] = {}
    for name, is_hit, patient, _ in asked:
        gap = (is_hit - rates[name]) / len(trials[name]) / len(rates)
        gaps[name, patient] = gaps.get((name, patient), Fraction(0)) + gap
    variance, near = Fraction(0), list[Fraction]()
    for name, rate in rates.items():
        own = [gap for (other, _), gap in gaps.items() if other == name]
        m = len(own)
        near.append((rate * m + 1) / (m + 2))
        least = near[-1] * (1 - near[-1]) / m / len(rates) ** 2
        squares = sum((gap**2 for gap in own), Fraction(0))
        variance += max(squares * Fraction(m, m - 1) if m > 1 else squares, least)
    products = (
        one * other
        for (name, patient), one in gaps.items()
        for (another, same), other in gaps.items()
        if patient == same and name != another
    )
    common = sum(products, Fraction(0))
    variance += max(Fraction(len(patients), len(patients) - 1) * common, Fraction(0))
    middle = sum(near, Fraction(0)) / len(near)
    value = sum(rates.values(), Fraction(0)) / len(rates)
    items = len({item for *_, item in asked})
    told = middle * (1 - middle) / variance
    size = min(told, Fraction(items), Fraction(2 * len(patients)))
    low, high = _exact(value * size, size)
    method = "Clopper-Pearson by patient, mean of rates, 95 %"
    return {"ci_low": low, "ci_high": high, "ci_method": method}


def _exact(k: Fraction | float, n: Fraction | float) -> tuple[float, float]:
    one, other = float(k), float(n - k)
    low = beta.ppf(0.025, one, other + 1) if one else 0.0
    high = beta.ppf(0.975, one + 1, other) if other else 1.0
    return float(low), float(high)


def difference_by_patient(
    gaps: Sequence[Sequence[float]],
) -> tuple[float, float, float]:
    """Return the mean of patients' differences, and its interval, as of a rate.

    Its variance is at least that of as many independent ones and two more, 1 and -1.
    """
    values = [[Fraction(one) for one in of] for of in gaps]
    n = sum(map(len, values))
    mean = sum((one for of in values for one in of), Fraction(0)) / n
    worth = effective_trials(values, mean, (-1, 1))
    variance = float(_squares(one - mean for of in values for one in of) / n)
    value = float(mean)
    weights, more = [worth, 1, 1], [value, 1, -1]
    middle = np.average(more, weights=weights)
    around = variance * worth + np.dot(weights, (np.array(more) - middle) ** 2)
    least = around / (worth + 2) ** 2
    rate = (value + 1) / 2
    size = max(4 * rate * (1 - rate) / max(variance / (worth - 1), least), worth)
    low, high = _exact(rate * size, size)
    return value, 2 * low - 1, 2 * high - 1


def mean_ends(scores: Sequence[Sequence[float]], most: int) -> tuple[float, float]:
    """Return the bounds of the mean of patients' scores from 0 to ``most``."""
    half = most / 2
    gaps = [[(score - half) / half for score in of] for of in scores]
    _, low, high = difference_by_patient(gaps)
    return half + half * low, half + half * high
