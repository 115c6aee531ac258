from collections.abc import Sequence
from math import isnan, nan
from statistics import mean, stdev

import numpy as np
import pytest
from scipy.stats import t
from sklearn.metrics import cohen_kappa_score

from tests.helpers.by_patient import difference_by_patient
from viewer.metrics.rubric import (
    category_agreement,
    mean_absolute_difference,
    spread,
    weighted_kappa,
)

LABELS = (1, 2, 3, 4, 5)
A = (5, 5, 4, 2, 1, 5, 4, 4)
B = (5, 4, 4, 1, 1, 5, 5, 2)
TASKS = tuple("aabbcdef")
TOLERANCE = 1e-12


def brute_kappa(a: Sequence[int], b: Sequence[int]) -> float:
    """Return the formula of the specification, term by term."""
    n = len(a)
    seen = sum((x - y) ** 2 / 16 for x, y in zip(a, b, strict=True)) / n
    chance = sum((x - y) ** 2 / 16 for x in a for y in b) / n**2
    return nan if chance == 0 else 1 - seen / chance


def gap(rng: np.random.Generator) -> float:
    """Return the difference of one random case to the formula and to scikit-learn."""
    n = int(rng.integers(1, 40))
    a, b = rng.integers(1, rng.integers(2, 7), (2, n)).clip(1, 5).tolist()
    tasks = [str(t) for t in rng.integers(0, 9, n)]
    ours = weighted_kappa(a, b, LABELS, tasks).value
    expected = brute_kappa(a, b)
    if isnan(expected):
        assert isnan(ours)
        return 0.0
    theirs = cohen_kappa_score(a, b, labels=list(LABELS), weights="quadratic")
    return float(max(abs(ours - expected), abs(ours - theirs)))


@pytest.mark.statement("E001-16")
def test_that_kappa_has_fixed_labels() -> None:
    found = weighted_kappa(A, B, LABELS, TASKS)
    assert abs(found.value - 0.8181818181818182) < TOLERANCE
    observed = cohen_kappa_score(A, B, weights="quadratic")
    assert abs(observed - 0.8) < TOLERANCE
    second = weighted_kappa((1, 1, 5, 5, 4, 4), (1, 5, 5, 5, 4, 1), LABELS, "abcdef")
    assert abs(second.value - 0.32432432432432434) < TOLERANCE
    mad = mean_absolute_difference(A, B, TASKS, 4)
    assert mad.value == 0.625


@pytest.mark.statement("E001-16")
def test_that_constant_raters_have_no_kappa() -> None:
    found = weighted_kappa((4, 4), (4, 4), LABELS, "ab")
    assert isnan(found.value)
    assert isnan(found.interval.low)
    assert found.method == "quadratic κ, 5 labels, not estimable, 95 %"
    alone = weighted_kappa((4, 5), (4, 3), LABELS, "aa")
    assert isnan(alone.interval.low)
    assert "not estimable from one patient" in alone.method
    assert isnan(weighted_kappa((), (), LABELS, ()).value)


@pytest.mark.statement("E001-16")
def test_that_kappa_is_the_formula_and_scikit_learns() -> None:
    rng = np.random.default_rng(5)
    assert max(gap(rng) for _ in range(200)) < TOLERANCE


@pytest.mark.proof
def test_that_kappa_is_the_formula_in_ten_thousand_cases() -> None:
    rng = np.random.default_rng(6)
    assert max(gap(rng) for _ in range(10_000)) < TOLERANCE


@pytest.mark.statement("E001-16", "X-07")
def test_that_kappas_interval_is_that_of_a_jackknife_over_patients() -> None:
    """Four more patients have as many outputs as one, all in a corner of the table."""
    rng = np.random.default_rng(7)
    a = rng.integers(1, 6, 60).tolist()
    b = [min(5, max(1, x + int(rng.integers(-1, 2)))) for x in a]
    patients = [f"{i // 6:02d}" for i in range(60)]
    found = weighted_kappa(a, b, LABELS, patients)
    groups = [(a[i : i + 6], b[i : i + 6]) for i in range(0, 60, 6)]
    groups += [([x] * 6, [y] * 6) for x in (1, 5) for y in (1, 5)]

    def kappa(of: Sequence[tuple[list[int], list[int]]]) -> float:
        one, other = ([x for pair in of for x in pair[i]] for i in (0, 1))
        return float(cohen_kappa_score(one, other, labels=LABELS, weights="quadratic"))

    left_out = [kappa([*groups[:i], *groups[i + 1 :]]) for i in range(14)]
    half = t.ppf(0.975, 9) * 13 / np.sqrt(14) * np.std(left_out, ddof=1)
    assert found.interval.low == pytest.approx(kappa(groups) - half)
    assert found.interval.high == pytest.approx(min(kappa(groups) + half, 1))
    assert found.method == "quadratic κ, 5 labels, jackknife by patient, 95 %"
    again = weighted_kappa(a * 3, b * 3, LABELS, patients * 3)
    assert again.interval.low == pytest.approx(found.interval.low)


@pytest.mark.statement("E001-16", "X-07")
def test_that_a_mean_difference_of_readers_is_as_sure_as_its_patients() -> None:
    first, second, patients = (5, 4, 3, 5, 2), (4, 4, 1, 5, 2), "aabbc"
    found = mean_absolute_difference(first, second, patients, 4)
    _, low, high = difference_by_patient([[-0.5, -1], [0, -1], [-1]])
    ends = found.interval.low, found.interval.high
    assert ends == pytest.approx((2 * (low + 1), 2 * (high + 1)))
    assert found.method == "Clopper-Pearson by patient, of scores 0 to 4, 95 %"
    alike = mean_absolute_difference((3,) * 9, (3,) * 9, "abcdefghi", 4)
    assert alike.interval.low == 0
    assert alike.interval.high > 0.5


def test_that_units_of_one_reader_only_count_for_nothing() -> None:
    mad = mean_absolute_difference((5, None, 2), (4, 3, None), "abc", 4)
    assert mad.value == 1
    kappa = weighted_kappa((5, 1, None), (5, 1, 3), LABELS, "abc")
    assert kappa.value == 1


@pytest.mark.statement("E001-15")
def test_that_the_deviation_has_one_less_than_n() -> None:
    scores = [5, 2.5, 4, 4.5, 1]
    found = spread(scores)
    assert abs(found.mean - mean(scores)) < TOLERANCE
    assert abs(found.deviation - stdev(scores)) < TOLERANCE
    assert isnan(spread([3]).deviation)
    assert isnan(spread([]).mean)


@pytest.mark.statement("E001-16")
def test_that_agreement_on_each_score_is_twice_both_over_either() -> None:
    found = category_agreement((5, 5, 4, 1), (5, 4, 4, 2), LABELS)
    assert found[4] == 2 / 3
    assert found[3] == 2 / 3
    assert found[:2] == (0, 0)
    assert isnan(found[2])
