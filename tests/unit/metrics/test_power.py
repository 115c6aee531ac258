import numpy as np
import pytest
from scipy.stats import binom, binomtest, multinomial
from statsmodels.stats.contingency_tables import mcnemar as reference_test

from viewer.metrics.power import (
    RATE_METHOD,
    PairedPower,
    mcnemar_power,
    paired_power,
    rate_power,
)


def summed_power(n: int, p_first: float, p_second: float, alpha: float) -> float:
    """Add up the chance of each table that statsmodels calls significant."""
    rates = [p_first, p_second, 1 - p_first - p_second]
    return float(
        sum(
            multinomial.pmf([b, c, n - b - c], n, rates)
            for b in range(n + 1)
            for c in range(n + 1 - b)
            if reference_test([[0, b], [c, 0]], exact=True).pvalue <= alpha
        )
    )


@pytest.mark.parametrize("n", [1, 6, 10, 14])
@pytest.mark.parametrize("flips", [(0.5, 0.1), (0.3, 0.3), (0.9, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_that_power_adds_up_every_significant_table(
    n: int, flips: tuple[float, float], alpha: float
) -> None:
    ours = mcnemar_power(n, *flips, alpha)
    assert ours == pytest.approx(summed_power(n, *flips, alpha), abs=1e-12)


def test_that_without_flips_or_items_nothing_is_found() -> None:
    assert mcnemar_power(10, 0.0, 0.0) == 0.0
    assert mcnemar_power(0, 0.5, 0.1) == 0.0
    assert mcnemar_power(10, 0.6, 0.1) == mcnemar_power(10, 0.6, 0.1, 0.05)


def test_that_ten_pneumothoraces_show_only_differences_of_67_points() -> None:
    ours = paired_power(10)
    assert ours.fewest_flips == 6
    assert ours.smallest_difference == pytest.approx(0.67317, abs=5e-6)
    assert mcnemar_power(10, 0.67318, 0) > 0.8 > mcnemar_power(10, 0.67316, 0)
    assert (ours.items, ours.alpha, ours.power, ours.against) == (10, 0.05, 0.8, 0)
    assert ours.method == "exact McNemar, two-sided, α 0.05, power 0.8"


def test_that_flips_the_other_way_ask_for_more() -> None:
    ours = paired_power(40, against=0.1, alpha=0.01, power=0.9)
    assert (ours.alpha, ours.power, ours.against) == (0.01, 0.9, 0.1)
    difference = ours.smallest_difference
    assert difference is not None
    assert mcnemar_power(40, difference + 0.1, 0.1, 0.01) == pytest.approx(0.9)
    alone = paired_power(40, alpha=0.01, power=0.9).smallest_difference
    assert alone is not None
    assert alone < difference


def test_that_five_items_can_never_show_a_difference() -> None:
    ours = paired_power(5)
    assert (ours.fewest_flips, ours.smallest_difference) == (None, None)
    assert paired_power(0).fewest_flips is None
    assert paired_power(6).fewest_flips == 6
    assert paired_power(6).smallest_difference == pytest.approx(0.8 ** (1 / 6))


def test_that_a_power_out_of_reach_is_told_with_all_that_was_asked() -> None:
    ours = paired_power(10, 0.2, 0.01, 0.99)
    assert ours == PairedPower(
        10, 0.01, 0.99, 0.2, fewest_flips=8, smallest_difference=None
    )


def test_that_a_level_reached_exactly_is_significant() -> None:
    assert paired_power(5, alpha=0.0625).fewest_flips == 5


@pytest.mark.parametrize("wrong", [-0.1, 0.5])
def test_that_impossible_flips_are_refused(wrong: float) -> None:
    words = f"^{wrong} of the items cannot flip against a difference$"
    with pytest.raises(ValueError, match=words):
        paired_power(10, wrong)


@pytest.mark.parametrize("baseline", [0.119, 0.5, 0.0])
@pytest.mark.parametrize("n", [1, 10, 85])
def test_that_the_fewest_hits_above_a_baseline_are_those_of_scipy(
    n: int, baseline: float
) -> None:
    ours = rate_power(n, baseline)
    p = [binomtest(k, n, baseline, "greater").pvalue for k in range(n + 1)]
    significant = np.flatnonzero(np.array(p) <= 0.05)
    assert ours.fewest_hits == (significant[0] if significant.size else None)
    if ours.fewest_hits is not None:
        assert ours.smallest_rate is not None
        found = binom.sf(ours.fewest_hits - 1, n, ours.smallest_rate)
        assert found == pytest.approx(0.8, abs=1e-9)


def test_that_ten_items_need_four_hits_above_chance() -> None:
    ours = rate_power(10, 0.119)
    assert ours.fewest_hits == 4
    assert ours.smallest_rate == pytest.approx(0.48366, abs=5e-6)
    assert (ours.alpha, ours.power) == (0.05, 0.8)
    assert RATE_METHOD == "exact binomial, one-sided, α 0.05, power 0.8"
    assert (ours.items, ours.baseline) == (10, 0.119)


def test_that_nothing_is_above_a_certain_baseline() -> None:
    ours = rate_power(3, 1.0, 0.01, 0.9)
    assert (ours.fewest_hits, ours.smallest_rate) == (None, None)
    assert (ours.items, ours.baseline, ours.alpha, ours.power) == (3, 1.0, 0.01, 0.9)


def test_that_a_binomial_level_reached_exactly_is_significant() -> None:
    assert rate_power(3, 0.5, alpha=0.125).fewest_hits == 3
