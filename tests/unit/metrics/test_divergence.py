from itertools import combinations
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from viewer.metrics.divergence import (
    MOST_OPTIONS,
    bounded_divergence,
    chance_divergence,
    corners,
    divergence,
    jsd,
    sampled_divergence,
)
from viewer.metrics.posterior import (
    Estimator,
    Posterior,
    from_counts,
    from_letters,
    from_top_logprobs,
)

WEIGHTS = st.lists(
    st.one_of(st.just(0.0), st.floats(1e-6, 1.0)), min_size=4, max_size=4
).filter(lambda w: sum(w) > 0)
MANY = settings().max_examples // 2
"""Each example tries every corner of the bounds."""
UNIFORM = (0.25, 0.25, 0.25, 0.25)


def normal(weights: list[float]) -> list[float]:
    return [w / sum(weights) for w in weights]


def boxed(p: list[float], width: float) -> Posterior:
    low = tuple(max(0.0, x - width) for x in p)
    high = tuple(min(1.0, x + width) for x in p)
    return Posterior(tuple(p), low, high, Estimator.TOP_LOGPROBS)


@given(WEIGHTS, WEIGHTS)
@pytest.mark.statement("E004-17")
def test_that_the_divergence_is_scipys(first: list[float], second: list[float]) -> None:
    p, q = normal(first), normal(second)
    distance = float(jensenshannon(p, q, 2.0))
    assert jsd(p, q) == pytest.approx(distance**2, abs=1e-12)
    assert jsd(p, q, np.e) == pytest.approx(jsd(p, q) * log(2), abs=1e-12)
    assert 0 <= jsd(p, q) <= 1 + 1e-12


@pytest.mark.statement("E004-17")
def test_that_the_divergence_of_the_specification_is_exact() -> None:
    assert jsd((0.7, 0.1, 0.1, 0.1), UNIFORM) == pytest.approx(0.1519113672, abs=5e-11)
    nats = jsd((0.7, 0.1, 0.1, 0.1), UNIFORM, np.e)
    assert nats == pytest.approx(0.1052969359, abs=5e-11)
    assert jsd((1, 0, 0, 0), (0, 1, 0, 0)) == 1.0
    assert jsd(UNIFORM, UNIFORM) == 0.0


def test_that_exact_posteriors_have_no_interval() -> None:
    letters = ("A", "B")
    one = from_letters({"A": log(0.8), "B": log(0.2)}, letters)
    other = from_letters({"A": log(0.5), "B": log(0.5)}, letters)
    found = divergence(one, other)
    assert found.value == found.corrected == found.interval.low == found.interval.high
    assert (found.bias, found.se) == (0.0, 0.0)
    assert found.value == pytest.approx(jsd((0.8, 0.2), (0.5, 0.5)), abs=1e-12)


@settings(max_examples=MANY)
@given(WEIGHTS, WEIGHTS, st.floats(0.001, 0.2), st.integers(0, 2**32 - 1))
def test_that_bounds_hold_for_every_distribution_within_them(
    first: list[float], second: list[float], width: float, seed: int
) -> None:
    one, other = boxed(normal(first), width), boxed(normal(second), width)
    found = bounded_divergence(one, other)
    rng = np.random.default_rng(seed)
    ends = corners(one), corners(other)
    for _ in range(5):
        p, q = (rng.dirichlet(np.full(len(c), 0.2)) @ c for c in ends)
        assert found.interval.low - 1e-9 <= jsd(p, q) <= found.interval.high + 1e-9


@pytest.mark.parametrize("seed", range(12))
def test_that_the_least_divergence_is_that_of_an_optimizer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(4, 0.4)), rng.dirichlet(np.full(4, 0.4))
    one, other = boxed(list(p), 0.03), boxed(list(q), 0.03)
    start = np.concatenate([p, q])
    best = minimize(
        lambda x: jsd(np.clip(x[:4], 1e-15, 1), np.clip(x[4:], 1e-15, 1)),
        start,
        bounds=list(zip(one.low + other.low, one.high + other.high, strict=True)),
        constraints=[
            {"type": "eq", "fun": lambda x: x[:4].sum() - 1},
            {"type": "eq", "fun": lambda x: x[4:].sum() - 1},
        ],
        options={"ftol": 1e-12, "maxiter": 500},
    )
    found = bounded_divergence(one, other).interval.low
    assert found <= best.fun + 1e-6
    assert found == pytest.approx(best.fun, abs=0.01)


def test_that_the_most_divergence_lies_at_the_far_corners() -> None:
    one = Posterior((0.6, 0.4), (0.5, 0.3), (0.7, 0.5), Estimator.TOP_LOGPROBS)
    other = Posterior((0.2, 0.8), (0.1, 0.7), (0.3, 0.9), Estimator.TOP_LOGPROBS)
    found = bounded_divergence(one, other)
    assert found.interval.high == pytest.approx(jsd((0.7, 0.3), (0.1, 0.9)), abs=1e-12)
    assert found.interval.low == pytest.approx(jsd((0.5, 0.5), (0.3, 0.7)), abs=1e-6)


def test_that_an_option_that_cannot_be_has_no_part_in_the_least() -> None:
    one = Posterior((1.0, 0.0), (1.0, 0.0), (1.0, 0.0), Estimator.LETTERS)
    other = Posterior((0.5, 0.5), (0.4, 0.4), (0.6, 0.6), Estimator.LETTERS)
    found = bounded_divergence(one, other)
    assert found.interval.low == pytest.approx(jsd((1, 0), (0.6, 0.4)), abs=1e-6)
    assert found.interval.high == pytest.approx(jsd((1, 0), (0.4, 0.6)), abs=1e-12)


def test_that_bounds_that_meet_allow_no_divergence() -> None:
    top = [("A", log(0.5))]
    found = divergence(
        from_top_logprobs(top, ("A", "B")), from_top_logprobs(top, ("A", "B"))
    )
    assert found.interval.low == 0.0
    assert found.interval.high > 0.0


def test_that_bounds_that_hardly_differ_allow_hardly_any_other_divergence() -> None:
    p, q = [0.5, 0.3, 0.2], [0.1, 0.3, 0.6]
    found = bounded_divergence(boxed(p, 1e-9), boxed(q, 1e-9))
    assert found.interval.low < found.value == jsd(p, q) < found.interval.high
    assert found.interval.low == pytest.approx(jsd(p, q), abs=2e-7)
    assert found.interval.high == pytest.approx(jsd(p, q), abs=2e-7)


def test_that_nine_options_have_too_many_corners() -> None:
    many = boxed([1 / (MOST_OPTIONS + 1)] * (MOST_OPTIONS + 1), 0.01)
    with pytest.raises(ValueError, match="more than 8"):
        bounded_divergence(many, many)


def test_that_unlike_posteriors_are_not_compared() -> None:
    exact = Posterior((0.5, 0.5), (0.5, 0.5), (0.5, 0.5), Estimator.LETTERS)
    with pytest.raises(ValueError, match="different kinds"):
        divergence(exact, from_counts((1, 1)))
    with pytest.raises(ValueError, match="different options"):
        divergence(from_counts((1, 1, 1)), from_counts((1, 1)))


@pytest.mark.statement("E004-17")
def test_that_drawn_answers_differ_even_where_nothing_changed() -> None:
    rng = np.random.default_rng(0)
    n = rng.multinomial(20, UNIFORM, 100_000) / 20
    m = rng.multinomial(20, UNIFORM, 100_000) / 20
    middle = (n + m) / 2

    plain = float((entropy(middle, axis=1) - entropy([n, m], axis=2).mean(0)).mean())
    assert plain == pytest.approx(0.0406, abs=0.0005)
    again = [chance_divergence(tuple(a), tuple(b)) for a, b in DRAWN_ALIKE]
    assert float(np.mean(again)) == pytest.approx(0.0406, abs=0.001)


DRAWN_ALIKE = np.random.default_rng(7).multinomial(20, UNIFORM, (1_000, 2)).tolist()


@pytest.mark.statement("E004-17")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((3, 1, 0, 0), (1, 1, 1, 0)),
        ((2, 2), (3, 0)),
        ((5, 0), (0, 1)),
        ((3, 0), (2, 0)),
    ],
)
def test_that_what_chance_makes_is_the_mean_over_all_divisions(
    first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    """Every way to deal the pooled answers is tried, one by one."""
    answers = [k for k, n in enumerate(np.add(first, second)) for _ in range(n)]
    size, options = sum(first), len(first)
    found = []
    for chosen in combinations(range(len(answers)), size):
        of_one = [answers[i] for i in chosen]
        of_other = [a for i, a in enumerate(answers) if i not in chosen]
        one, other = (np.bincount(of, minlength=options) for of in (of_one, of_other))
        found.append(jensenshannon(one, other) ** 2)
    expected = float(np.nan_to_num(found).mean())
    assert chance_divergence(first, second) == pytest.approx(expected, abs=1e-12)


@pytest.mark.statement("E004-17")
def test_that_nothing_is_taken_from_a_model_that_always_says_the_same() -> None:
    found = sampled_divergence((20, 0, 0, 0), (20, 0, 0, 0))
    assert (found.corrected, found.bias) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (UNIFORM, UNIFORM),
        ((0.97, 0.01, 0.01, 0.01),) * 2,
        ((0.7, 0.1, 0.1, 0.1), (0.4, 0.2, 0.2, 0.2)),
        ((0.5, 0.3, 0.1, 0.1), (0.1, 0.3, 0.5, 0.1)),
    ],
)
@pytest.mark.statement("E004-17")
def test_that_the_correction_takes_most_of_the_bias_away(
    p: tuple[float, ...], q: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(1)
    drawn = [
        sampled_divergence(
            tuple(rng.multinomial(50, p)), tuple(rng.multinomial(50, q)), np.e
        )
        for _ in range(400)
    ]
    true = jsd(p, q, np.e)
    raw = float(np.mean([d.value for d in drawn])) - true
    left = float(np.mean([d.corrected for d in drawn])) - true
    assert abs(left) < max(abs(raw) / 2, 0.003)
    spread = float(np.std([d.corrected for d in drawn]))
    claimed = float(np.mean([d.se for d in drawn]))
    assert spread / 2 < claimed < spread * 2


def test_that_answers_without_one_in_common_may_be_as_far_apart_as_can_be() -> None:
    found = sampled_divergence((20, 0), (0, 20))
    assert found.interval.high == 1.0
    assert found.interval.low > 0.3
    assert sampled_divergence((1, 0), (0, 1)).interval.low == 0.0


def test_that_the_same_counts_give_the_same_interval() -> None:
    one = divergence(from_counts((9, 1)), from_counts((2, 8)), seed=3)
    again = divergence(from_counts((9, 1)), from_counts((2, 8)), seed=3)
    assert one == again
    assert one.interval.low > 0
    assert one.method == "Monte Carlo, 10 and 10 answers"


def test_that_nothing_drawn_is_no_divergence() -> None:
    with pytest.raises(ValueError, match="at least one answer"):
        sampled_divergence((0, 0), (1, 1))
