from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from viewer.metrics.posterior import (
    PREFIXES,
    Estimator,
    Posterior,
    cyclic_orders,
    from_counts,
    from_letters,
    from_sequences,
    from_top_logprobs,
    in_option_order,
    permutation_averaged,
)

LETTERS = ("A", "B", "C", "D")
SHARES = st.lists(st.floats(1e-6, 1.0), min_size=40, max_size=40)
COUNTS = st.lists(st.integers(0, 30), min_size=2, max_size=6)


def vocabulary(shares: list[float]) -> dict[str, float]:
    """Return a distribution over every variant of the letters and eight other words."""
    names = [prefix + letter for letter in LETTERS for prefix in PREFIXES]
    names += [f"word{i}" for i in range(len(shares) - len(names))]
    whole = sum(shares)
    return {n: log(x / whole) for n, x in zip(names, shares, strict=True)}


def truth(tokens: dict[str, float]) -> list[float]:
    """Return the options' true posterior, summed one by one."""
    masses = [
        sum(exp(lp) for token, lp in tokens.items() if token.endswith(letter))
        for letter in LETTERS
    ]
    return [mass / sum(masses) for mass in masses]


@pytest.mark.statement("E004-17")
def test_that_letters_with_and_without_a_prefix_are_summed_and_renormalised() -> None:
    tokens = {"A": log(0.2), " A": log(0.1), "(A": log(0.1), "B": log(0.4), "The": -2.0}
    found = from_letters(tokens, LETTERS)
    assert found.p == pytest.approx((0.5, 0.5, 0.0, 0.0), abs=1e-15)
    assert found.is_exact
    assert found.estimator is Estimator.LETTERS


def test_that_no_letter_among_the_tokens_is_no_posterior() -> None:
    with pytest.raises(ValueError, match="no option's letter"):
        from_letters({"The": -0.1}, LETTERS)


@given(SHARES)
@pytest.mark.statement("E004-17")
def test_that_all_variants_give_the_true_posterior(shares: list[float]) -> None:
    tokens = vocabulary(shares)
    assert from_letters(tokens, LETTERS).p == pytest.approx(truth(tokens), abs=1e-12)


@given(SHARES, st.integers(0, 2**32 - 1))
def test_that_rounded_logprobs_have_the_truth_within_their_bounds(
    shares: list[float], seed: int
) -> None:
    tokens = vocabulary(shares)
    errors = np.random.default_rng(seed).uniform(-1e-3, 1e-3, len(tokens))
    told = {t: lp + float(e) for (t, lp), e in zip(tokens.items(), errors, strict=True)}
    found = from_letters(told, LETTERS, precision=1e-3)
    for p, low, high in zip(truth(tokens), found.low, found.high, strict=True):
        assert low - 1e-12 <= p <= high + 1e-12


@pytest.mark.statement("E004-17")
def test_that_sequences_are_compared_whole_or_token_by_token() -> None:
    whole = from_sequences((log(0.2), log(0.6), log(0.2)), (2, 4, 1))
    assert whole.p == pytest.approx((0.2, 0.6, 0.2), abs=1e-15)
    by_length = from_sequences((-4.0, -8.0, -2.0), (2, 4, 1), by_length=True)
    assert by_length.p == pytest.approx((1 / 3, 1 / 3, 1 / 3), abs=1e-15)
    assert whole.estimator is Estimator.SEQUENCES


def test_that_an_error_of_each_token_adds_up_in_a_sequence() -> None:
    found = from_sequences((-4.0, -4.0), (10, 1), precision=0.01)
    low = exp(-0.1) / (exp(-0.1) + exp(0.01))
    assert found.low[0] == pytest.approx(low, abs=1e-12)
    one = from_sequences((-40.0, -4.0), (10, 1), by_length=True, precision=0.01)
    assert one.low[0] == pytest.approx(1 / (1 + exp(0.02)), abs=1e-12)


def test_that_very_unlikely_texts_still_have_a_posterior() -> None:
    found = from_sequences((-1000.0, -1001.0), (3, 3))
    assert found.p[0] == pytest.approx(1 / (1 + exp(-1)), abs=1e-12)


@pytest.mark.statement("E004-17")
def test_that_an_option_that_is_not_told_is_bounded_by_what_is_left() -> None:
    top = [("A", log(0.6)), ("B", log(0.3))]
    found = from_top_logprobs(top, LETTERS)
    assert found.estimator is Estimator.TOP_LOGPROBS
    assert found.p == pytest.approx((0.6, 0.3, 0.05, 0.05), abs=1e-12)
    assert found.low == pytest.approx((0.6, 0.3, 0.0, 0.0), abs=1e-12)
    assert found.high == pytest.approx((0.7, 0.4, 0.1, 0.1), abs=1e-12)


def test_that_an_unseen_token_is_no_likelier_than_the_least_that_is_told() -> None:
    top = [("A", log(0.5)), ("B", log(0.01))]
    found = from_top_logprobs(top, LETTERS)
    most = 0.01 * len(PREFIXES)
    assert found.high[2] == pytest.approx(most / (0.51 + most), abs=1e-12)


def test_that_tokens_without_an_option_leave_everything_open() -> None:
    found = from_top_logprobs([("The", log(0.4))], LETTERS)
    assert found.p == (0.25, 0.25, 0.25, 0.25)
    assert found.low == (0.0, 0.0, 0.0, 0.0)
    assert found.high == (1.0, 1.0, 1.0, 1.0)
    nothing = from_top_logprobs([("The", 0.0)], LETTERS)
    assert nothing.p == (0.25, 0.25, 0.25, 0.25)
    assert nothing.high == (1.0, 1.0, 1.0, 1.0)
    assert from_top_logprobs([], LETTERS).high == (1.0, 1.0, 1.0, 1.0)


@given(SHARES, st.integers(1, 20))
@pytest.mark.statement("E004-17")
def test_that_top_logprobs_have_the_truth_within_their_bounds(
    shares: list[float], k: int
) -> None:
    tokens = vocabulary(shares)
    top = sorted(tokens.items(), key=lambda pair: -pair[1])[:k]
    found = from_top_logprobs(top, LETTERS)
    assert sum(found.p) == pytest.approx(1.0, abs=1e-12)
    for p, low, high in zip(truth(tokens), found.low, found.high, strict=True):
        assert low - 1e-12 <= p <= high + 1e-12


@given(COUNTS)
@pytest.mark.statement("E004-17")
def test_that_counts_are_smoothed_by_half_an_answer_each(counts: list[int]) -> None:
    found = from_counts(counts)
    weights = [n + 0.5 for n in counts]
    whole = sum(weights)
    assert found.p == pytest.approx([w / whole for w in weights], abs=1e-12)
    for w, low, high in zip(weights, found.low, found.high, strict=True):
        middle = w / whole
        bounds = beta.ppf([0.025, 0.975], w, whole - w)
        assert low == pytest.approx(min(bounds[0], middle), abs=1e-9)
        assert high == pytest.approx(max(bounds[1], middle), abs=1e-9)
    assert found.counts == tuple(counts)


def test_that_counts_of_one_option_or_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="not counts"):
        from_counts((3,))
    with pytest.raises(ValueError, match="not counts"):
        from_counts((3, -1))


@pytest.mark.statement("E004-07", "E004-17")
def test_that_a_mean_over_orders_takes_a_preferred_place_away() -> None:
    orders = cyclic_orders(4)
    assert orders == ((0, 1, 2, 3), (1, 2, 3, 0), (2, 3, 0, 1), (3, 0, 1, 2))
    shown = from_letters({"A": log(0.7), "B": log(0.1), "C": log(0.1), "D": log(0.1)},
                         LETTERS)  # fmt: skip
    found = permutation_averaged([shown] * 4, orders)
    assert found.p == pytest.approx((0.25,) * 4, abs=1e-15)
    assert found.estimator is Estimator.PERMUTED
    assert in_option_order(shown, orders[1]).p == pytest.approx((0.1, 0.7, 0.1, 0.1))


def test_that_drawn_answers_keep_their_counts_in_the_options_order() -> None:
    found = in_option_order(from_counts((5, 0, 1)), (2, 0, 1))
    assert found.counts == (0, 1, 5)


@pytest.mark.parametrize("posteriors", [0, 2])
def test_that_a_mean_needs_a_posterior_for_each_order(posteriors: int) -> None:
    one = Posterior((0.5, 0.5), (0.5, 0.5), (0.5, 0.5), Estimator.LETTERS)
    with pytest.raises(ValueError, match="each order"):
        permutation_averaged([one] * posteriors, [(0, 1)])
