"""Studies whose truth is known: patients with traits, items, repeats, readers, judges.

Patients have rates of their own, so that two items of a patient correlate by a known
amount; a repeat says what the item said nine times of ten.
"""

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.stats import norm

from viewer.metrics.location_prior import Stratum, gain_over_prior, stratum
from viewer.metrics.proportions import PatientSums
from viewer.metrics.word_prior import Worded

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Rng = np.random.Generator
ALIKE = 0.9
"""How often a repeat says what the item said."""
LEVELS = (1, 2, 3, 4, 5)
UNEQUAL, SKEWED = 0, -1
SIDE = 8
PLACE = np.exp(-((np.arange(SIDE)[:, None] - 4) ** 2 + (np.arange(SIDE) - 3) ** 2) / 6)
WHERE = (PLACE / PLACE.sum()).ravel()
"""How often a finding's first cell lies where, row by row."""


def rates_of(rng: Rng, rate: float, icc: float, shape: tuple[int, ...]) -> Floats:
    """Return patients' own rates, two items of whom correlate by so much."""
    if not icc or not 0 < rate < 1:
        return np.full(shape, rate)
    if icc == 1:
        return (rng.random(shape) < rate).astype(np.float64)
    scale = (1 - icc) / icc
    return rng.beta(rate * scale, (1 - rate) * scale, shape)


def hits_of(rng: Rng, own: Floats, items: int, repeats: int) -> Ints:
    """Return hits of each item over its repeats, (items, *own.shape)."""
    shape = items, *own.shape
    first = rng.random(shape) < own
    hits = first.astype(np.int64)
    for _ in range(repeats - 1):
        again = rng.random(shape) < own
        hits += np.where(rng.random(shape) < ALIKE, first, again)
    return hits


def sizes_of(rng: Rng, items: int, shape: tuple[int, ...]) -> Ints:
    """Return how many items patients have: so many, or not the same number.

    ``UNEQUAL`` is one to eight; with ``SKEWED`` one in ten patients has fifteen, and
    the others have one.
    """
    if items == SKEWED:
        return np.where(rng.random(shape) < 0.1, 15, 1)
    if items == UNEQUAL:
        return rng.integers(1, 9, shape)
    return np.full(shape, items)


def sums_of(rng: Rng, own: Floats, items: int, repeats: int) -> PatientSums:
    """Return what patients of many studies add up to; ``own``: (studies, patients).

    How many ``items`` means is told by :func:`sizes_of`.
    """
    asked = sizes_of(rng, items, own.shape)
    most = int(asked.max())
    there = np.arange(most)[:, None, None] < asked
    hits = (hits_of(rng, own, most, repeats) * there).sum(axis=0).astype(np.float64)
    trials = (asked * repeats).astype(np.float64)
    rate = hits.sum(axis=1) / trials.sum(axis=1)
    gaps = hits - rate[:, None] * trials
    return PatientSums(
        hits.sum(axis=1),
        trials.sum(axis=1),
        np.full(len(own), float(own.shape[1])),
        asked.sum(axis=1).astype(np.float64),
        (trials * trials).sum(axis=1),
        (gaps * gaps).sum(axis=1),
    )


def of_findings(
    rng: Rng,
    sizes: tuple[int, ...],
    everyone: int,
    most: int,
    rates: Floats,
    icc: float,
) -> tuple[Ints, Ints]:
    """Return hits and trials, (patients, findings), of patients with traits.

    ``sizes`` are patients of each finding, of ``everyone``, with up to ``most`` items.
    """
    shape = everyone, len(sizes)
    trials = np.zeros(shape, np.int64)
    for finding, size in enumerate(sizes):
        who = rng.choice(everyone, size, replace=False)
        trials[who, finding] = rng.integers(1, most + 1, size)
    trait = np.sqrt(icc / 2)
    common = trait * (rng.standard_normal((everyone, 1)) + rng.standard_normal(shape))
    hits = np.zeros(shape, np.int64)
    for item in range(most):
        own = np.sqrt(1 - icc) * rng.standard_normal(shape)
        hits += (common + own < norm.ppf(rates)) & (item < trials)
    return hits, trials


def spread_rates(rate: float, spread: float, findings: int) -> Floats:
    """Return findings' own rates, apart on the scale of logits."""
    logits = np.log(rate / (1 - rate)) + np.linspace(-spread, spread, findings)
    return np.asarray(1 / (1 + np.exp(-logits)))


def films(rng: Rng, n: int) -> tuple[Ints, list[tuple[int, ...]]]:
    """Return the first cell of each reference, and all of its four cells."""
    first = rng.choice(SIDE * SIDE, n, p=WHERE)
    row, column = np.divmod(first, SIDE)
    down, right = np.minimum(row + 1, SIDE - 1), np.minimum(column + 1, SIDE - 1)
    corners = ((row, column), (row, right), (down, column), (down, right))
    cells = np.stack([y * SIDE + x for y, x in corners], axis=1)
    return first, [tuple(sorted({*map(int, one)})) for one in cells]


def placed(rng: Rng, own: Floats, items: int, repeats: int, else_: str) -> Stratum:
    """Return one finding's trials: a right cell as often as ``own`` says, (patients,).

    Otherwise the answer is what ``else_`` says: "prior", "constant" or "uniform".
    """
    n = own.size * items
    first, references = films(rng, n)
    right = (rng.random(n) < np.repeat(own, items)).astype(np.int64)
    other = {
        "prior": rng.choice(SIDE * SIDE, n, p=WHERE),
        "constant": np.full(n, int(np.argmax(WHERE))),
        "uniform": rng.integers(0, SIDE * SIDE, n),
    }[else_]
    said = np.where(right > 0, first, other)
    who = np.repeat(np.arange(own.size), items)
    often = (np.repeat(one, repeats) for one in (who, said))
    return stratum(next(often), SIDE * SIDE, next(often), _often(references, repeats))


def _often(references: list[tuple[int, ...]], repeats: int) -> list[tuple[int, ...]]:
    return [one for one in references for _ in range(repeats)]


@lru_cache
def true_gain(rate: float, else_: str) -> float:
    """Return the gain over the location prior of very many patients."""
    rng = np.random.default_rng(1)
    return gain_over_prior([[placed(rng, np.full(60_000, rate), 1, 1, else_)]]).gain


def worded(
    rng: Rng,
    sizes: tuple[int, int, int],
    icc: float,
    words: int,
    denied: tuple[float, float],
) -> tuple[list[Worded], list[Worded]]:
    """Return swapped questions of true positives, and all that are right.

    ``sizes`` are patients, items and repeats; ``denied`` says how often questions are
    denied whose finding is absent, and present. Some words are asked more often.
    """
    patients, items, repeats = sizes
    often = 1 / np.arange(1, words + 1)
    asked = rng.choice(words, (items, patients), p=often / often.sum())
    other = (asked + rng.integers(1, words, asked.shape)) % words
    absent, present = (
        _denials(rng, rates_of(rng, rate, icc, (patients,)), items, repeats)
        for rate in denied
    )
    swapped, there = list[Worded](), list[Worded]()
    for repeat, item, one in np.ndindex(repeats, items, patients):
        is_no = bool(present[repeat, item, one])
        there.append(Worded(int(asked[item, one]), one, is_no))
        if not is_no:
            told = bool(absent[repeat, item, one])
            swapped.append(Worded(int(other[item, one]), one, told))
    return swapped, there


def _denials(rng: Rng, own: Floats, items: int, repeats: int) -> npt.NDArray[np.bool_]:
    """Return what is denied, (repeats, items, patients)."""
    shape = repeats, items, own.size
    drawn = rng.random(shape) < own
    return np.where(rng.random(shape) < ALIKE, drawn[:1], drawn)


def graded(
    rng: Rng, tasks: int, items: int, use: tuple[float, ...], agree: float, icc: float
) -> tuple[Ints, Ints]:
    """Return two readers' scores, (tasks, items) each.

    ``use`` is how often each level is used, ``agree`` the correlation of what the
    readers see; items of one task correlate by ``icc``.
    """
    cuts = norm.ppf(np.clip(np.cumsum(use)[:-1], 1e-12, 1 - 1e-12))
    shape = tasks, items
    common = np.sqrt(icc) * rng.standard_normal((tasks, 1))
    seen = common + np.sqrt(1 - icc) * rng.standard_normal(shape)
    noise = np.sqrt(1 - agree) * rng.standard_normal((2, *shape))
    first, second = np.searchsorted(cuts, np.sqrt(agree) * seen + noise) + 1
    return first, second


@lru_cache
def true_agreement(use: tuple[float, ...], agree: float) -> tuple[float, float]:
    """Return quadratic kappa and the mean absolute difference of very many outputs."""
    table = _graded_table(use, agree)
    place = np.arange(5)
    gaps = np.abs(place[:, None] - place)
    by_chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    kappa = 1 - (table * gaps**2).sum() / (by_chance * gaps**2).sum()
    return float(kappa), float((table * gaps).sum() / table.sum())


@lru_cache
def true_coefficients(use: tuple[float, ...], agree: float) -> dict[str, float]:
    """Return Gwet's and Krippendorff's coefficients, and κ, of very many outputs."""
    table = _graded_table(use, agree)
    table /= table.sum()
    q, place = len(use), np.arange(len(use))
    shares = (table.sum(axis=0) + table.sum(axis=1)) / 2
    by_chance = np.outer(table.sum(axis=1), table.sum(axis=0))
    middle = np.cumsum(shares) - shares / 2
    apart = (middle[:, None] - middle) ** 2
    weights = 1 - ((place[:, None] - place) / (q - 1)) ** 2
    found = {
        "κ": 1 - (1 - np.trace(table)) / (1 - np.trace(by_chance)),
        "α, nominal": 1 - (1 - np.trace(table)) / (1 - (shares**2).sum()),
        "α, ordinal": 1 - (table * apart).sum() / (shares @ apart @ shares),
    }
    for name, weight in (("AC1", np.eye(q)), ("AC2", weights)):
        chance = weight.sum() * (shares * (1 - shares)).sum() / (q * (q - 1))
        found[name] = ((table * weight).sum() - chance) / (1 - chance)
    return {name: float(value) for name, value in found.items()}


def _graded_table(use: tuple[float, ...], agree: float) -> Floats:
    one, two = graded(np.random.default_rng(7), 400_000, 1, use, agree, 0.0)
    table = np.zeros((len(use), len(use)))
    np.add.at(table, (one[:, 0] - 1, two[:, 0] - 1), 1)
    return table
