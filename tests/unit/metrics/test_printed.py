from decimal import ROUND_HALF_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from itertools import product
from statistics import harmonic_mean, mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.metrics.printed import (
    Range,
    as_percent,
    before_rounding,
    counts_that_print,
    every_mean_prints,
    harmonic_range,
    matches_printed,
    mean_range,
    pooled,
    sizes_that_print,
    squares_that_print,
    sums_that_print,
)

ROUNDINGS = (ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN)


def _prints(k: int, n: int, decimals: int) -> set[Decimal]:
    """Return every way in which a person may round k / n, in decimal arithmetic."""
    exact = Decimal(100 * k) / Decimal(n)
    step = Decimal(1).scaleb(-decimals)
    return {exact.quantize(step, rounding=way) for way in ROUNDINGS}


@given(
    st.integers(1, 400),
    st.integers(0, 3),
    st.data(),
)
def test_that_the_counts_are_those_a_decimal_rounding_gives(
    n: int, decimals: int, data: st.DataObject
) -> None:
    printed = data.draw(st.integers(0, 100 * 10**decimals))
    percent = printed / 10**decimals
    wanted = Decimal(printed).scaleb(-decimals)
    brute = tuple(k for k in range(n + 1) if wanted in _prints(k, n, decimals))
    assert counts_that_print(percent, decimals, n) == brute


@pytest.mark.statement("X-05")
def test_that_a_percentage_of_no_whole_number_has_no_count() -> None:
    assert counts_that_print(92.3, 1, 298) == (275,)
    assert counts_that_print(49.8, 1, 298) == ()
    assert counts_that_print(5.0, 1, 81) == ()
    assert counts_that_print(12.5, 1, 8) == (1,)
    assert counts_that_print(50.0, 0, 1) == ()


def test_that_a_mean_of_large_groups_excludes_nothing() -> None:
    assert every_mean_prints((10, 310), 0)
    assert every_mean_prints((10, 500, 500), 1)
    assert not every_mean_prints((4, 4), 1)
    assert every_mean_prints((4, 500), 1)
    assert not every_mean_prints((4, 499), 1)


def test_that_such_a_mean_can_print_as_any_value_and_a_small_one_cannot() -> None:
    sizes = (3, 40)
    assert every_mean_prints(sizes, 0) == (
        {
            round(50 * (a / sizes[0] + b / sizes[1]))
            for a in range(sizes[0] + 1)
            for b in range(sizes[1] + 1)
        }
        >= set(range(101))
    )


@pytest.mark.statement("X-06")
def test_that_half_of_the_last_decimal_matches_and_more_does_not() -> None:
    assert matches_printed(275 / 298, 92.3, 1)
    assert not matches_printed(276 / 298, 92.3, 1)
    assert matches_printed(0.1225, 12.2, 1)
    assert matches_printed(0.1225, 12.3, 1)
    assert not matches_printed(0.12251, 12.2, 1)
    assert matches_printed(1 / 160, 0.6, 1)


@given(st.integers(1, 400), st.data())
def test_that_a_count_matches_what_it_prints_as(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    for way in _prints(k, n, 1):
        assert matches_printed(k / n, float(way), 1)
        assert k in counts_that_print(float(way), 1, n)


def test_that_a_mean_of_whole_scores_has_a_whole_sum() -> None:
    assert sums_that_print(4.118, 3, 51) == (210,)
    assert sums_that_print(4.12, 2, 7) == ()
    brute = tuple(s for s in range(1, 60) if round(mean([s / 12]), 2) == 2.58)
    assert sums_that_print(2.58, 2, 12) == brute == (31,)


@pytest.mark.parametrize(("n", "ddof"), [(3, 1), (4, 1), (4, 0)])
def test_that_a_deviation_has_the_squares_that_scores_can_have(
    n: int, ddof: int
) -> None:
    for scores in product(range(1, 6), repeat=n):
        total, squares = sum(scores), sum(s * s for s in scores)
        spread = stdev(scores) * ((n - 1) / (n - ddof)) ** 0.5
        found = squares_that_print(total, round(spread, 3), 3, n, ddof)
        assert squares in found
        assert all((q - total) % 2 == 0 and q * n >= total * total for q in found)


@pytest.mark.statement("E001-15")
def test_that_a_deviation_of_no_whole_squares_is_found_out() -> None:
    assert squares_that_print(210, 0.840, 3, 51) == (900,)
    assert squares_that_print(210, 0.840, 3, 51, ddof=0) == ()


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_that_an_f1_of_rounded_parts_lies_in_its_range(a: int, b: int) -> None:
    p, r = a / 1000, b / 1000
    for dp, dr in product((-4e-4, 0, 4e-4), repeat=2):
        exact = Fraction(harmonic_mean([max(p + dp, 0), max(r + dr, 0)]))
        slack = Fraction(1, 10**9)
        assert Range(exact, exact).meets(harmonic_range(p, r, 3), slack)
        assert Range(exact, exact).meets(mean_range(p, r, 3), slack)


def test_that_ranges_meet_at_their_ends_and_within_the_slack() -> None:
    first, second = before_rounding(0.5, 1), before_rounding(0.6, 1)
    assert first.meets(second)
    assert second.meets(first)
    assert not first.meets(before_rounding(0.7, 1))
    assert first.meets(before_rounding(0.7, 1), Fraction(1, 10))


def test_that_sizes_and_pooled_rates_come_of_exact_fractions() -> None:
    assert sizes_that_print((10.1, 36.2), 1, range(1, 130)) == (69,)
    assert sizes_that_print((10.1,), 1, (62,)) == ()
    assert pooled((50.0, 25.0), 1, (1, 3)) == Fraction(125, 4)
    with pytest.raises(ValueError, match="zip"):
        pooled((50.0,), 1, (1, 3))


@pytest.mark.parametrize("decimals", [0, 1, 2])
def test_that_per_cent_are_printed_with_ties_to_even(decimals: int) -> None:
    step = Decimal(1).scaleb(-decimals)
    for n in range(1, 401):
        for k in range(n + 1):
            exact = Decimal(100 * k) / n
            wanted = exact.quantize(step, ROUND_HALF_EVEN)
            assert as_percent(k / n, decimals) == str(wanted)
    assert as_percent(23 / 80) == "28.8"
    assert as_percent(-0.0625) == "-6.2"
