from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar as theirs

from tests.helpers.by_patient import difference_by_patient
from tests.helpers.paired import paired_comparison
from viewer.metrics.estimate import Estimate
from viewer.metrics.pairing import (
    McNemar,
    PairedTable,
    macro_difference,
    mcnemar,
    mean_difference,
    paired_table,
)
from viewer.metrics.permutation import sign_flip


def test_that_ten_against_three_have_the_known_p_values() -> None:
    ours = mcnemar(10, 3)
    assert ours.p_value == pytest.approx(0.092285, abs=5e-7)
    assert ours.mid_p == pytest.approx(0.057373, abs=5e-7)
    assert ours.method == "McNemar, exact, 10 against 3"
    assert mcnemar(3, 10).p_value == ours.p_value
    assert mcnemar(3, 10).mid_p == ours.mid_p


def test_that_mcnemar_equals_statsmodels_for_every_small_table() -> None:
    for b in range(25):
        for c in range(25):
            expected = theirs([[5, b], [c, 7]], exact=True).pvalue
            assert mcnemar(b, c).p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.proof
def test_that_ten_thousand_tables_have_the_p_value_of_statsmodels() -> None:
    for b, c in np.random.default_rng(0).integers(0, 400, (10_000, 2)):
        expected = theirs([[5, b], [c, 7]], exact=True).pvalue
        assert mcnemar(int(b), int(c)).p_value == pytest.approx(expected, abs=1e-12)


def test_that_the_mid_p_is_half_of_ties_with_the_observed_and_all_beyond() -> None:
    for b in range(15):
        for c in range(15):
            if b == c == 0:
                continue
            n = b + c
            x = np.arange(n + 1)
            chance = stats.binom.pmf(x, n, 0.5)
            far, mine = abs(2 * x - n), abs(b - c)
            expected = chance[far > mine].sum() + chance[far == mine].sum() / 2
            assert mcnemar(b, c).mid_p == pytest.approx(expected, abs=1e-12)


def test_that_no_discordant_pair_says_nothing() -> None:
    assert mcnemar(0, 0) == McNemar(1.0, 1.0, "McNemar, exact, 0 against 0")
    assert mcnemar(3, 3).method == "McNemar, exact, 3 against 3"


def test_that_the_table_counts_each_item_once() -> None:
    first = [True, True, True, False, False, False, False]
    second = [True, False, False, True, True, True, False]
    table = paired_table(first, second)
    assert table == PairedTable(both=1, only_first=2, only_second=3, neither=1)
    assert table.items == 7
    with pytest.raises(ValueError, match="shorter"):
        paired_table(first, second[1:])


def test_that_a_comparison_holds_every_test_of_the_same_items() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 60)) < [[0.7], [0.5]]
    patients = [f"p{i}" for i in rng.integers(0, 25, 60)]
    ours = paired_comparison(list(first), list(second), patients)
    assert ours.table == paired_table(list(first), list(second))
    assert ours.mcnemar == mcnemar(ours.table.only_first, ours.table.only_second)
    names = sorted(set(patients))
    totals = np.zeros((len(names), 1), dtype=np.int64)
    trials = np.zeros_like(totals)
    for a, b, name in zip(first, second, patients, strict=True):
        totals[names.index(name)] += int(a) - int(b)
        trials[names.index(name)] += 1
    apart = ours.table.only_first + ours.table.only_second
    of_patients = totals[:, 0].tolist(), trials[:, 0].tolist(), apart
    assert ours.difference == mean_difference(*of_patients)
    assert ours.difference.value == pytest.approx(first.mean() - second.mean())
    assert ours.permutation == sign_flip([float(d) for d in totals[:, 0]])
    order = rng.permutation(60)
    assert ours == paired_comparison(
        list(first[order]),
        list(second[order]),
        [patients[i] for i in order],
    )


def test_that_no_common_item_is_no_comparison_and_no_crash() -> None:
    ours = paired_comparison([], [], [])
    assert ours.table.items == 0
    assert np.isnan(ours.difference.value)
    assert ours.permutation.p_value == 1.0
    assert ours.difference.method == "no trial, 95 %"


@pytest.mark.statement("X-07", "E000-21")
def test_that_a_mean_over_findings_keeps_the_variance_of_one_patient() -> None:
    """Findings apart add a quarter of their variances; one patient is one."""
    many = macro_difference([[1], [-1], [0], [1]], [[1]] * 4, [3])
    assert many.interval == mean_difference([1, -1, 0, 1], [1] * 4, 3).interval
    apart = [[1, 0], [-1, 0], [0, 0], [1, 0], [0, 1]]
    trials = [[1, 0], [1, 0], [1, 0], [1, 0], [0, 1]]
    found = macro_difference(apart, trials, [3, 1])
    assert found.value == pytest.approx((0.25 + 1) / 2)
    of_one = 3 / 3 - (1 / 3) ** 2
    of_four = 4 / 3 * (0.75**2 * 2 + 1.25**2 + 0.25**2) / 16
    rate = (found.value + 1) / 2
    few = (stats.t.ppf(0.975, 4) / stats.norm.ppf(0.975)) ** 2
    size = 4 * rate * (1 - rate) / (few * (of_one + of_four) / 4)
    low, high = stats.beta.ppf(
        [0.025, 0.975],
        *np.array(
            [[rate * size, rate * size + 1], [(1 - rate) * size + 1, (1 - rate) * size]]
        ),
    )
    ends = found.interval.low, found.interval.high
    assert ends == pytest.approx((2 * low - 1, 2 * high - 1))
    assert "mean of differences" in found.method
    assert np.isnan(macro_difference([[1, 1]], [[1, 1]], [1, 1]).interval.low)
    assert np.isnan(macro_difference(np.zeros((3, 0)), np.zeros((3, 0)), []).value)


def of_gaps(gaps: Sequence[Sequence[float]]) -> Estimate:
    """Return the mean of patients' differences."""
    squares = sum(gap * gap for own in gaps for gap in own)
    return mean_difference([*map(sum, gaps)], [*map(len, gaps)], squares)


@pytest.mark.statement("X-07")
def test_that_a_patient_with_most_of_the_items_does_not_make_a_difference_sure() -> (
    None
):
    """Nearly all comes of one patient: it is not known how patients differ."""
    found = of_gaps([[1.0] * 500, [0.0], [0.0]])
    assert found.interval.high - found.interval.low > 1


@pytest.mark.statement("X-07")
def test_that_patients_of_unequal_size_are_not_less_certain_than_their_ratio() -> None:
    """Means of patients with one item vary most, and count least."""
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 9, 100)
    gaps = [rng.choice([-1.0, 0.0, 1.0], int(n)).tolist() for n in sizes]
    found = of_gaps(gaps)
    every = [gap for own in gaps for gap in own]
    who = np.repeat(np.arange(100), sizes)
    fit = OLS(every, np.ones(len(every))).fit(
        cov_type="cluster", cov_kwds={"groups": who}
    )
    wanted = 2 * 1.96 * float(fit.bse[0])
    assert found.value == pytest.approx(float(fit.params[0]))
    width = found.interval.high - found.interval.low
    assert 0.95 * wanted < width < 1.15 * wanted


@pytest.mark.statement("X-07")
def test_that_a_difference_has_the_interval_of_a_rate_that_varies_alike() -> None:
    rng = np.random.default_rng(2)
    for _ in range(60):
        gaps = [
            rng.uniform(-1, 1, int(rng.integers(1, 5))).tolist()
            for _ in range(int(rng.integers(2, 15)))
        ]
        found = of_gaps(gaps)
        told = found.value, found.interval.low, found.interval.high
        assert told == pytest.approx(difference_by_patient(gaps), abs=1e-12)


@pytest.mark.statement("X-07")
def test_that_patients_who_all_differ_alike_are_not_certain() -> None:
    for gap in (0, 1, -1):
        found = of_gaps([[gap]] * 10)
        assert found.value == gap
        width = found.interval.high - found.interval.low
        assert 0.3 < width < 0.7
        assert -1 <= found.interval.low <= gap <= found.interval.high <= 1


def test_that_one_patient_has_a_difference_without_an_interval() -> None:
    found = of_gaps([[0.5]])
    assert found.value == 0.5
    assert np.isnan(found.interval.low)
    assert found.method == "not estimable from one patient, 95 %"
    assert np.isnan(mean_difference([], [], 0).value)
