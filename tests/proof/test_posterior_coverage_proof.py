"""Every estimator of a posterior is tried on models whose posterior is known."""

from collections.abc import Callable
from math import log

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.distance import jensenshannon

from viewer.metrics.divergence import Divergence, divergence
from viewer.metrics.posterior import (
    Posterior,
    cyclic_orders,
    from_counts,
    from_letters,
    from_sequences,
    from_top_logprobs,
    permutation_averaged,
)

pytestmark = pytest.mark.proof

LETTERS = ("A", "B", "C", "D")
SIMULATIONS = 1000
LEAST = 930
PRECISION = 1e-4
_Floats = npt.NDArray[np.float64]


def beliefs(rng: np.random.Generator) -> tuple[_Floats, _Floats]:
    """Return a scripted model's posterior with and without an evidence.

    A third of the time nothing changes, a third a little, a third all.
    """
    p = rng.dirichlet(np.full(4, rng.choice((0.3, 1.0, 5.0))))
    change = rng.integers(3)
    if change == 0:
        return p, p
    other = rng.dirichlet(np.ones(4))
    return p, (other if change == 2 else 0.85 * p + 0.15 * other)


def rounded(p: _Floats) -> list[float]:
    """Return log-probabilities as a model tells them, to so many decimals."""
    return [round(max(log(x), -80.0), 4) if x > 0 else -80.0 for x in p]


def by_letters(p: _Floats, rng: np.random.Generator) -> Posterior:
    mass = rng.uniform(0.5, 1.0)
    told = dict(zip(LETTERS, rounded(p * mass), strict=True))
    return from_letters(told, LETTERS, PRECISION)


def by_sequences(p: _Floats, rng: np.random.Generator) -> Posterior:
    tokens = [int(n) for n in rng.integers(1, 9, 4)]
    return from_sequences(rounded(p), tokens, precision=PRECISION)


def by_top_logprobs(p: _Floats, rng: np.random.Generator) -> Posterior:
    mass = rng.uniform(0.6, 1.0)
    words = rng.dirichlet(np.ones(6)) * (1 - mass)
    names = [*LETTERS, *(f"word{i}" for i in range(6))]
    told = zip(names, rounded(np.concatenate([p * mass, words])), strict=True)
    top = sorted(told, key=lambda pair: -pair[1])[: int(rng.integers(1, 8))]
    return from_top_logprobs(top, LETTERS, PRECISION)


def by_permutation(p: _Floats, rng: np.random.Generator) -> Posterior:
    orders = cyclic_orders(4)
    shown = [by_letters(p[list(order)], rng) for order in orders]
    return permutation_averaged(shown, orders)


def drawn(rng: np.random.Generator, draws: int, p: _Floats) -> Posterior:
    return from_counts(rng.multinomial(draws, p).tolist())


def truth_of(p: _Floats, q: _Floats) -> float:
    """Return the true sensitivity in bits, by scipy."""
    return 0.0 if np.array_equal(p, q) else float(jensenshannon(p, q, 2.0)) ** 2


def width(found: Divergence) -> float:
    return found.interval.high - found.interval.low


def covered(found: Divergence, truth: float) -> bool:
    return found.interval.low - 1e-12 <= truth <= found.interval.high + 1e-12


@pytest.mark.parametrize(
    ("estimate", "widest"),
    [
        (by_letters, 1e-3),
        (by_sequences, 4e-3),
        (by_top_logprobs, 0.5),
        (by_permutation, 1e-3),
    ],
)
@pytest.mark.statement("E004-17")
def test_that_bounds_of_log_probabilities_cover_the_true_sensitivity(
    estimate: Callable[[_Floats, np.random.Generator], Posterior], widest: float
) -> None:
    rng = np.random.default_rng(20)
    hits, widths = 0, []
    for _ in range(SIMULATIONS):
        p, q = beliefs(rng)
        found = divergence(estimate(p, rng), estimate(q, rng))
        hits += covered(found, truth_of(p, q))
        widths.append(width(found))
    print(f"{estimate}: {hits} of {SIMULATIONS}, {np.mean(widths):.2g} wide")
    assert hits >= LEAST
    assert np.mean(widths) < widest  # an interval of 0 to 1 would always hold


@pytest.mark.parametrize(("draws", "widest"), [(20, 0.45), (50, 0.3), (200, 0.15)])
@pytest.mark.statement("E004-17")
def test_that_intervals_of_drawn_answers_cover_the_true_sensitivity(
    draws: int, widest: float
) -> None:
    rng = np.random.default_rng(21)
    hits, widths = 0, []
    for simulation in range(SIMULATIONS):
        p, q = beliefs(rng)
        full, ablated = (
            from_counts(rng.multinomial(draws, x).tolist()) for x in (p, q)
        )
        found = divergence(full, ablated, seed=simulation)
        hits += covered(found, truth_of(p, q))
        widths.append(width(found))
    print(f"{draws} draws: {hits} of {SIMULATIONS}, {np.mean(widths):.2g} wide")
    assert hits >= LEAST
    assert np.mean(widths) < widest


@pytest.mark.parametrize(
    ("p", "q"),
    [
        ((0.25, 0.25, 0.25, 0.25), (0.25, 0.25, 0.25, 0.25)),
        ((0.7, 0.1, 0.1, 0.1), (0.6, 0.2, 0.1, 0.1)),
        ((0.7, 0.1, 0.1, 0.1), (0.1, 0.7, 0.1, 0.1)),
        ((0.97, 0.01, 0.01, 0.01), (0.01, 0.97, 0.01, 0.01)),
        ((1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)),
        ((1.0, 0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)),
    ],
)
@pytest.mark.statement("E004-17")
def test_that_intervals_of_drawn_answers_cover_each_hard_truth(
    p: tuple[float, ...], q: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(22)
    hits = 0
    for simulation in range(SIMULATIONS):
        full, ablated = (drawn(rng, 20, np.array(x)) for x in (p, q))
        found = divergence(full, ablated, seed=simulation)
        hits += covered(found, truth_of(np.array(p), np.array(q)))
    print(f"{p} and {q}: {hits} of {SIMULATIONS}")
    assert hits >= LEAST
