from fractions import Fraction
from itertools import product
from operator import mul

import numpy as np
import pytest
from scipy import stats

from viewer.metrics import permutation as module
from viewer.metrics.permutation import macro_contributions, sign_flip


def every_pattern(differences: list[Fraction]) -> float:
    """Try each sign of each difference, in exact fractions."""
    observed = abs(sum(differences, Fraction()))
    far = [
        abs(sum(map(mul, signs, differences), Fraction())) >= observed
        for signs in product((-1, 1), repeat=len(differences))
    ]
    return float(sum(far) / len(far))


def random_differences(seed: int, denominator: int) -> list[Fraction]:
    rng = np.random.default_rng(seed)
    numerators = rng.integers(-4, 5, rng.integers(1, 9))
    return [Fraction(int(n), denominator) for n in numerators]


@pytest.mark.parametrize("denominator", [1, 3])
def test_that_few_patients_get_the_exact_p_value(denominator: int) -> None:
    for seed in range(100):
        exact = random_differences(seed, denominator)
        ours = sign_flip([float(d) for d in exact])
        assert ours.p_value == pytest.approx(every_pattern(exact), abs=1e-12)
        assert ours.total == pytest.approx(float(sum(exact)), abs=1e-12)
        n = sum(d != 0 for d in exact)
        assert ours.method == f"sign flips by patient, all 2^{n} patterns"


@pytest.mark.proof
@pytest.mark.parametrize("denominator", [1, 3])
def test_that_ten_thousand_p_values_are_exact(denominator: int) -> None:
    for seed in range(10_000):
        exact = random_differences(seed, denominator)
        expected = every_pattern(exact)
        ours = sign_flip([float(d) for d in exact])
        assert ours.p_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("odd", [np.nan, np.inf])
def test_that_what_is_no_number_is_refused(odd: float) -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        sign_flip([1.0, odd, -1.0])


def test_that_single_items_give_the_exact_mcnemar_also_for_hundreds() -> None:
    for b, c in ((10, 3), (250, 190), (0, 40)):
        expected = stats.binomtest(b, b + c).pvalue
        ours = sign_flip([1.0] * b + [-1.0] * c + [0.0] * 20)
        assert ours.p_value == pytest.approx(expected, rel=1e-9)


def test_that_thousands_of_patients_with_several_items_are_exact_and_quick() -> None:
    rng = np.random.default_rng(3)
    differences = rng.integers(-3, 4, 4_000)
    spread = float(np.sqrt((differences.astype(float) ** 2).sum()))
    normal = 2 * stats.norm.sf((abs(differences.sum()) - 1) / spread)
    ours = sign_flip(differences.tolist())
    assert ours.p_value == pytest.approx(normal, rel=2e-3)
    alone = sign_flip([1.0] * 15_100 + [-1.0] * 14_800)
    assert alone.p_value == pytest.approx(stats.binomtest(15_100, 29_900).pvalue)


def test_that_many_patients_with_fractions_are_sampled_from_a_seed() -> None:
    rng = np.random.default_rng(2)
    differences = list(rng.normal(0.2, 1, 40))
    ours = sign_flip(differences, seed=5, permutations=4_000)
    assert ours.method == ("sign flips by patient, 4,000 random patterns, seed 5")
    assert ours == sign_flip(differences, seed=5, permutations=4_000)
    assert ours != sign_flip(differences, seed=6, permutations=4_000)
    theirs = stats.permutation_test(
        (differences,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(1),
    )
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.03)
    assert "10,000 random patterns, seed 0" in sign_flip(differences).method


def test_that_a_seed_stands_for_the_same_patterns_in_every_version() -> None:
    thirds = [i / 3 for i in range(1, 18)] + [-i / 5 for i in range(1, 20)]
    assert sign_flip(thirds, 5, 4_000).p_value == 1809 / 4001


def test_that_a_sampled_p_value_is_never_0_and_counts_what_was_seen() -> None:
    far = [10.5] * 40
    assert sign_flip(far, permutations=99).p_value == 1 / 100
    assert sign_flip([0.5, -0.5] * 20, permutations=99).p_value == 1.0


def test_that_sixteen_patients_are_enumerated_and_seventeen_are_not() -> None:
    fractions = list(np.linspace(0.1, 0.9, 17))
    assert "all 2^16 patterns" in sign_flip(fractions[:16]).method
    assert "random patterns" in sign_flip(fractions).method


def test_that_whole_numbers_too_great_to_follow_are_sampled_or_enumerated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    differences = [3.0, 2.0] * 10
    assert "all 2^20 patterns" in sign_flip(differences).method
    monkeypatch.setattr(module, "_LONGEST_DISTRIBUTION", 51)
    assert "all 2^20 patterns" in sign_flip(differences).method
    monkeypatch.setattr(module, "_LONGEST_DISTRIBUTION", 50)
    assert "random patterns" in sign_flip(differences).method


def test_that_no_difference_at_all_is_a_p_value_of_1() -> None:
    assert sign_flip([]).p_value == 1.0
    assert sign_flip([0.0, 0.0]).p_value == 1.0
    assert sign_flip([1.0, -1.0]).p_value == 1.0


def test_that_patients_add_up_to_the_mean_over_findings() -> None:
    totals = np.array([[1, 0, 0], [2, -1, 0], [0, -1, 0]])
    trials = np.array([[1, 0, 0], [3, 1, 0], [0, 1, 0]])
    ours = macro_contributions(totals, trials)
    assert ours == pytest.approx((1 / 8, 2 / 8 - 1 / 4, -1 / 4))
    assert sum(ours) == pytest.approx((3 / 4 - 2 / 2) / 2)
    once = macro_contributions(np.array([[0], [-1]]), np.array([[0], [1]]))
    assert once == (0.0, -1.0)
    assert macro_contributions(totals[:, 2:], trials[:, 2:]) == (0.0, 0.0, 0.0)
