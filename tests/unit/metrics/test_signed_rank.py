from itertools import product
from math import isnan

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from viewer.metrics.signed_rank import PMethod, SignedRank, ZeroMethod, signed_rank

X = (3, 2, 5, 4, 1, 4, 4, 2)
Y = (4, 2, 3, 4, 2, 5, 4, 4)
TOLERANCE = 1e-12


def drawn(rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Return two sets of scores, of whole or half points, or without any tie."""
    n = int(rng.integers(2, 60))
    kind = rng.integers(0, 3)
    if kind == 2:
        return rng.normal(size=n).tolist(), rng.normal(size=n).tolist()
    scores = rng.integers(1, 6, (2, n)) if kind else rng.integers(2, 11, (2, n)) / 2
    return scores[0].tolist(), scores[1].tolist()


def gap_to_scipy(
    first: list[float], second: list[float], zero: ZeroMethod, way: PMethod
) -> float:
    """Return the greatest difference to scipy's statistic and p value."""
    ours = signed_rank(first, second, zero, way)
    if ours.zeros == ours.pairs:
        assert isnan(ours.p_value)
        assert isnan(ours.effect)
        return 0.0
    method = "asymptotic" if way is PMethod.NORMAL else "auto"
    theirs = wilcoxon(first, second, zero, method=method, correction=False)
    smaller = min(ours.plus, ours.minus)
    gaps = abs(smaller - theirs.statistic), abs(ours.p_value - theirs.pvalue)
    return float(max(gaps))


def permuted(first: list[float], second: list[float], zero: ZeroMethod) -> float:
    """Return the two-sided p-value over every pattern of signs, one by one."""
    gaps = np.round(np.subtract(first, second), 12)
    if zero is ZeroMethod.WILCOX:
        gaps = gaps[gaps != 0]
    ranks = rankdata(abs(gaps))[gaps != 0]
    seen = ranks[gaps[gaps != 0] > 0].sum()
    sums = [np.dot(ranks, signs) for signs in product((0, 1), repeat=ranks.size)]
    tails = np.mean(sums <= seen), np.mean(sums >= seen)
    return float(min(1.0, 2 * min(tails)))


@pytest.mark.statement("E001-14")
@pytest.mark.parametrize(
    ("zero", "p"),
    [
        (ZeroMethod.WILCOX, 0.4076),
        (ZeroMethod.PRATT, 0.2733),
        (ZeroMethod.ZSPLIT, 0.2882),
    ],
)
def test_that_zeros_are_treated_as_the_method_says(zero: ZeroMethod, p: float) -> None:
    found = signed_rank(X, Y, zero, PMethod.NORMAL)
    assert round(found.p_value, 4) == p
    assert (found.pairs, found.zeros) == (8, 3)
    assert f"zeros {zero} (3)" in found.method
    assert "normal approximation with tie correction" in found.method


@pytest.mark.statement("E001-14")
@pytest.mark.parametrize("way", [PMethod.NORMAL, PMethod.SCIPY])
@pytest.mark.parametrize("zero", list(ZeroMethod))
def test_that_the_test_is_scipys(zero: ZeroMethod, way: PMethod) -> None:
    rng = np.random.default_rng(3)
    cases = 3 if way is PMethod.SCIPY else 60  # scipy tries 8,192 patterns for it
    gaps = [gap_to_scipy(*drawn(rng), zero, way) for _ in range(cases)]
    assert max(gaps) < TOLERANCE


@pytest.mark.proof
@pytest.mark.parametrize("way", [PMethod.NORMAL, PMethod.SCIPY])
@pytest.mark.parametrize("zero", list(ZeroMethod))
def test_that_the_test_is_scipys_in_thousands_of_cases(
    zero: ZeroMethod, way: PMethod
) -> None:
    rng = np.random.default_rng(4)
    cases = 2_000 if way is PMethod.SCIPY else 10_000
    gaps = [gap_to_scipy(*drawn(rng), zero, way) for _ in range(cases)]
    assert max(gaps) < TOLERANCE


@pytest.mark.statement("E001-14")
@pytest.mark.parametrize("zero", list(ZeroMethod))
def test_that_ties_and_zeros_are_counted_out(zero: ZeroMethod) -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        n = int(rng.integers(1, 11))
        first, second = rng.integers(2, 11, (2, n)) / 2
        found = signed_rank(first.tolist(), second.tolist(), zero)
        if found.zeros < n:
            expected = permuted(first.tolist(), second.tolist(), zero)
            assert found.p_value == pytest.approx(expected, abs=TOLERANCE)
            assert f"exact, {n - found.zeros} pairs" in found.method


@pytest.mark.statement("E001-14")
def test_that_no_p_value_is_below_the_smallest_that_so_few_pairs_can_have() -> None:
    ones, zeros = [1.0] * 4, [0.0] * 4
    assert signed_rank(ones, zeros).p_value == 0.125
    assert signed_rank(ones, zeros, p_method=PMethod.SCIPY).p_value == 0.125
    approximated = signed_rank(ones, zeros, p_method=PMethod.NORMAL)
    assert round(approximated.p_value, 4) == 0.0455


def test_that_a_thousand_tied_pairs_are_counted_out_and_more_are_not() -> None:
    rng = np.random.default_rng(6)
    gaps = rng.choice((-2.0, -1.0, 1.0, 1.5), 1_001).tolist()
    exact = signed_rank(gaps[:1_000], [0.0] * 1_000)
    near = signed_rank(gaps[:1_000], [0.0] * 1_000, p_method=PMethod.NORMAL)
    assert "exact, 1000 pairs" in exact.method
    assert exact.p_value == pytest.approx(near.p_value, rel=0.05)
    assert "normal approximation" in signed_rank(gaps, [0.0] * 1_001).method


def test_that_scipys_choice_depends_on_pairs_ties_and_zeros() -> None:
    def method(n: int, tied: int) -> str:
        gaps = [*map(float, range(1, n - tied + 1)), *[99.0] * tied]
        return signed_rank(gaps, [0.0] * n, p_method=PMethod.SCIPY).method

    assert "exact, 50 pairs" in method(50, 0)
    assert "normal approximation" in method(51, 0)
    assert "exact, 13 pairs" in method(13, 2)
    assert "normal approximation" in method(14, 2)


def test_that_the_effect_runs_from_all_lower_to_all_higher() -> None:
    assert signed_rank([2, 3, 5], [1, 1, 1]).effect == 1
    assert signed_rank([1, 1, 1], [2, 3, 5]).effect == -1


def test_that_nothing_to_test_has_no_p_value() -> None:
    for found in (signed_rank([], []), signed_rank([2, 2], [2, 2], ZeroMethod.PRATT)):
        assert isnan(found.p_value)
        assert "no pair differs" in found.method


def test_that_what_is_no_pair_of_numbers_is_refused() -> None:
    with pytest.raises(ValueError, match="equally many"):
        signed_rank([1], [1, 2])
    with pytest.raises(ValueError, match="not a finite number"):
        signed_rank([1, float("nan")], [1, 2])


def test_that_a_result_keeps_its_numbers() -> None:
    assert isinstance(signed_rank(X, Y), SignedRank)
    assert signed_rank(X, Y).plus + signed_rank(X, Y).minus == 15


@pytest.mark.statement("E001-14")
@pytest.mark.parametrize("zero", list(ZeroMethod))
def test_that_the_signs_of_a_patients_pairs_are_flipped_together(
    zero: ZeroMethod,
) -> None:
    rng = np.random.default_rng(8)
    for _ in range(10):
        first, second = rng.integers(1, 6, (2, 14)).tolist()
        whose = rng.integers(0, 6, 14).tolist()
        gaps = np.subtract(first, second)
        kept = gaps[gaps != 0] if zero is ZeroMethod.WILCOX else gaps
        signed = (rankdata(abs(kept)) * np.sign(kept))[kept != 0]
        patients = np.array(whose)[gaps != 0]
        sums = [signed[patients == one].sum() for one in np.unique(patients)]
        flipped = [np.dot(sums, signs) for signs in product((-1, 1), repeat=len(sums))]
        expected = np.mean(np.abs(flipped) >= abs(sum(sums)))
        found = signed_rank(first, second, zero, clusters=whose)
        assert found.p_value == pytest.approx(expected, abs=TOLERANCE)
        alone = signed_rank(first, second, zero)
        assert (found.plus, found.effect) == (alone.plus, alone.effect)


def test_that_patients_with_one_pair_each_change_nothing() -> None:
    assert signed_rank(X, Y, clusters="abcdefgh") == signed_rank(X, Y)
    with pytest.raises(ValueError, match="zip"):
        signed_rank(X, Y, clusters="abc")
