"""Each interval and test of the policy on studies whose truth is known (X-07).

Patients have rates of their own, drawn from a beta distribution, so that two items of a
patient correlate by a known amount; a repeat says what the item said nine times of ten.
Lines printed: what, the least coverage and where, the median width of all.
"""

from itertools import product
from math import isnan
from statistics import median

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import norm

from viewer.metrics.location_prior import gain_over_prior, stratum
from viewer.metrics.pairing import mean_difference
from viewer.metrics.permutation import sign_flip
from viewer.metrics.proportions import PatientSums, macro_interval, patient_bounds

Floats = npt.NDArray[np.float64]
PATIENTS, CORRELATIONS = (5, 8, 20, 50, 200), (0.0, 0.1, 0.3, 0.6)
RATES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.98)
ITEMS, SEVERAL = (1, 4, 15), 0
"""Of a patient; SEVERAL stands for one to four."""
STUDIES, NOISE = 3_000, 0.008
"""Two standard errors of a coverage of .95 in so many studies."""
Coverage = tuple[float, float, str]


def rates_of(
    rng: np.random.Generator, rate: float, correlation: float, shape: tuple[int, ...]
) -> Floats:
    """Return patients' own rates, two items of whom correlate by so much."""
    if not correlation:
        return np.full(shape, rate)
    scale = (1 - correlation) / correlation
    return rng.beta(rate * scale, (1 - rate) * scale, shape)


def sums_of(
    rng: np.random.Generator, patients: int, items: int, repeats: int, own: Floats
) -> PatientSums:
    """Return what patients of many studies add up to; ``own``: (studies, patients)."""
    most = items or 4
    asked = np.full(own.shape, items)
    if not items:
        asked = rng.integers(1, most + 1, own.shape)
    hits = np.zeros(own.shape)
    for item in range(most):
        first = rng.random(own.shape) < own
        for repeat in range(repeats):
            again = rng.random(own.shape) < own
            same = (rng.random(own.shape) < 0.9) | (repeat == 0)
            hits += np.where(same, first, again) & (item < asked)
    trials = asked * repeats
    rate = hits.sum(axis=1) / trials.sum(axis=1)
    gaps = hits - rate[:, None] * trials
    return PatientSums(
        hits.sum(axis=1),
        trials.sum(axis=1).astype(np.float64),
        np.full(len(own), float(patients)),
        asked.sum(axis=1).astype(np.float64),
        (gaps * gaps).sum(axis=1),
    )


def tell(what: str, found: list[Coverage]) -> float:
    """Print the least coverage and return it."""
    least, _, where = min(found)
    width = median(one for _, one, _ in found)
    print(f"\n{what}: at least {least:.3f} ({where}); median width {width:.3f}")
    return least


@pytest.mark.proof
@pytest.mark.statement("X-07")
@pytest.mark.parametrize("repeats", [1, 5])
def test_that_rates_by_patient_hold_the_truth(repeats: int) -> None:
    found = []
    for patients, items, correlation, rate in product(
        PATIENTS, (*ITEMS, SEVERAL), CORRELATIONS, RATES
    ):
        rng = np.random.default_rng([patients, items, repeats])
        own = rates_of(rng, rate, correlation, (STUDIES, patients))
        low, high = patient_bounds(sums_of(rng, patients, items, repeats, own))
        holds = (low <= rate + 1e-12) & (rate - 1e-12 <= high)
        where = f"{patients} patients, {items or '1-4'} items, {correlation}, {rate}"
        found.append((float(holds.mean()), float(np.median(high - low)), where))
    assert tell(f"rates, {repeats} repeat(s)", found) >= 0.93


SIZES = (
    ((10, 14, 30, 60, 100), 120, 3),
    ((1, 1, 1, 1, 50), 60, 4),
    ((1, 3, 5, 8), 20, 5),
    ((2, 2, 2), 5, 4),
    ((5,) * 9, 12, 1),
    ((2, 40), 41, 1),
)
"""Patients of each finding, of how many in all, and how many items each at most."""


@pytest.mark.proof
@pytest.mark.statement("X-07")
@pytest.mark.parametrize(("sizes", "everyone", "most"), SIZES)
def test_that_means_over_findings_hold_the_truth(
    sizes: tuple[int, ...], everyone: int, most: int
) -> None:
    found = []
    for correlation, rate, spread in product((0.0, 0.3, 0.6), RATES, (0, 1)):
        rng = np.random.default_rng([everyone, most])
        logits = np.log(rate / (1 - rate)) + np.linspace(-spread, spread, len(sizes))
        rates = 1 / (1 + np.exp(-logits))
        holds, widths = 0, []
        for _ in range(600):
            hits, trials = drawn(rng, sizes, everyone, most, rates, correlation)
            items = int(trials.sum())
            ends = macro_interval(hits.tolist(), trials.tolist(), items).interval
            holds += ends.low <= rates.mean() + 1e-12 <= ends.high + 2e-12
            widths.append(ends.high - ends.low)
        where = f"correlation {correlation}, rate {rate}, spread {spread}"
        found.append((holds / 600, median(widths), where))
    assert tell(f"means of {sizes}", found) >= 0.93 - 2 * NOISE


def drawn(
    rng: np.random.Generator,
    sizes: tuple[int, ...],
    everyone: int,
    most: int,
    rates: Floats,
    correlation: float,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return hits and trials, (patients, findings), of patients with traits."""
    shape = everyone, len(sizes)
    trials = np.zeros(shape, np.int64)
    for finding, size in enumerate(sizes):
        who = rng.choice(everyone, size, replace=False)
        trials[who, finding] = rng.integers(1, most + 1, size)
    trait = np.sqrt(correlation / 2)
    common = trait * (rng.standard_normal((everyone, 1)) + rng.standard_normal(shape))
    hits = np.zeros(shape, np.int64)
    for item in range(most):
        own = np.sqrt(1 - correlation) * rng.standard_normal(shape)
        hits += (common + own < norm.ppf(rates)) & (item < trials)
    return hits, trials


SIDE = 8
PLACE = np.exp(-((np.arange(SIDE)[:, None] - 4) ** 2 + (np.arange(SIDE) - 3) ** 2) / 6)
WHERE = (PLACE / PLACE.sum()).ravel()
"""How often a finding's first cell lies where, row by row."""


def films(
    rng: np.random.Generator, n: int
) -> tuple[npt.NDArray[np.int64], list[tuple[int, ...]]]:
    """Return the first cell of each reference, and all of its four cells."""
    first = rng.choice(SIDE * SIDE, n, p=WHERE)
    row, column = np.divmod(first, SIDE)
    down, right = np.minimum(row + 1, SIDE - 1), np.minimum(column + 1, SIDE - 1)
    corners = ((row, column), (row, right), (down, column), (down, right))
    cells = np.stack([y * SIDE + x for y, x in corners], axis=1)
    return first, [tuple(sorted({*map(int, one)})) for one in cells]


def answers(
    rng: np.random.Generator, first: npt.NDArray[np.int64], own: Floats, else_: str
) -> npt.NDArray[np.int64]:
    """Return a right cell as often as ``own`` says, otherwise what ``else_`` says."""
    other = {
        "from the prior": rng.choice(SIDE * SIDE, first.size, p=WHERE),
        "always one cell": np.full(first.size, int(np.argmax(WHERE))),
        "any cell": rng.integers(0, SIDE * SIDE, first.size),
    }[else_]
    return np.where(rng.random(first.size) < own, first, other)


def gain_of(rate: float, else_: str) -> float:
    """Return the true gain: over very many patients."""
    rng = np.random.default_rng(1)
    n = 100_000
    first, references = films(rng, n)
    said = answers(rng, first, np.full(n, rate), else_)
    one = stratum(np.arange(n), SIDE * SIDE, said, references)
    return gain_over_prior([[one]]).gain


@pytest.mark.proof
@pytest.mark.statement("X-04", "X-07")
@pytest.mark.parametrize(
    ("rate", "else_"),
    [
        *((rate, "from the prior") for rate in (0.0, 0.4, 0.8, 1.0)),
        *((rate, "always one cell") for rate in (0.0, 0.1, 0.5)),
        *((rate, "any cell") for rate in (0.0, 0.1, 0.95)),
    ],
)
def test_that_gains_over_the_location_prior_hold_the_truth(
    rate: float, else_: str
) -> None:
    truth, found = gain_of(rate, else_), []
    for patients, items, correlation in product((5, 10, 20, 50), (1, 4), (0.0, 0.6)):
        rng = np.random.default_rng([patients, items])
        holds, widths = 0, []
        for _ in range(500):
            own = rates_of(rng, rate, correlation if 0 < rate < 1 else 0, (patients,))
            first, references = films(rng, patients * items)
            said = answers(rng, first, np.repeat(own, items), else_)
            who = np.repeat(np.arange(patients), items)
            ends = gain_over_prior(
                [[stratum(who, SIDE * SIDE, said, references)]]
            ).interval
            assert not isnan(ends.low)
            holds += ends.low - 1e-3 <= truth <= ends.high + 1e-3
            widths.append(ends.high - ends.low)
        where = f"{patients} patients, {items} items, {correlation}"
        found.append((holds / 500, median(widths), where))
    what = f"gain, right {rate}, else {else_} (truth {truth:.3f})"
    assert tell(what, found) >= 0.93 - 2.5 * NOISE


GAINED_AND_LOST = (
    *((share, 0.0) for share in (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 0.9, 1.0)),
    *((0.02, 0.02), (0.05, 0.02), (0.1, 0.1), (0.3, 0.1), (0.3, 0.3), (0.5, 0.5)),
)


@pytest.mark.proof
@pytest.mark.statement("X-07")
@pytest.mark.parametrize("patients", PATIENTS)
def test_that_differences_by_patient_hold_the_truth(patients: int) -> None:
    found = []
    for items, correlation, (gained, lost) in product(
        (1, 4), (0.0, 0.6), GAINED_AND_LOST
    ):
        rng = np.random.default_rng([patients, items])
        shape = (2_000, patients, items)
        alike = rng.random(shape) < correlation**0.5
        drawn = np.where(alike, rng.random((*shape[:2], 1)), rng.random(shape))
        gains = (drawn < gained).astype(int)
        losses = ((drawn >= gained) & (drawn < gained + lost)).astype(int)
        trials, truth = [items] * patients, gained - lost
        ends = [
            mean_difference(one, trials).interval
            for one in (gains - losses).sum(axis=2).tolist()
        ]
        share = sum(e.low - 1e-9 <= truth <= e.high + 1e-9 for e in ends) / len(ends)
        where = f"{items} items, {correlation}, gained {gained}, lost {lost}"
        found.append((share, median(e.high - e.low for e in ends), where))
    assert tell(f"differences, {patients} patients", found) >= 0.93 - 1.5 * NOISE


@pytest.mark.proof
@pytest.mark.statement("X-07")
def test_that_sign_flips_by_patient_find_nothing_where_nothing_is() -> None:
    """Two models alike, asked five times: at most one study of twenty differs."""
    found = []
    for patients, correlation, rate in product((5, 8, 20, 50), CORRELATIONS, RATES):
        rng = np.random.default_rng([patients])
        own = rates_of(rng, rate, correlation, (800, patients))
        first, second = (rng.random((2, 800, patients)) < own).astype(int)
        differences = 5 * (first - second)
        ps = [sign_flip(one.tolist()).p_value for one in differences]
        share = sum(p <= 0.05 for p in ps) / len(ps)
        found.append((1 - share, 0.0, f"{patients} patients, {correlation}, {rate}"))
    assert tell("sign flips, 1 - size", found) >= 0.95 - 2 * NOISE
