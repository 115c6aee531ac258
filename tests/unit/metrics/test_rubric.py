from collections.abc import Sequence
from math import isnan, nan
from statistics import mean, stdev

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from viewer.metrics.cluster_bootstrap import Resampling
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
FEW = Resampling(replicates=40, seed=2)
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
    ours = weighted_kappa(a, b, LABELS, tasks, Resampling(2, 0)).value
    expected = brute_kappa(a, b)
    if isnan(expected):
        assert isnan(ours)
        return 0.0
    theirs = cohen_kappa_score(a, b, labels=list(LABELS), weights="quadratic")
    return float(max(abs(ours - expected), abs(ours - theirs)))


@pytest.mark.statement("E001-16")
def test_that_kappa_has_fixed_labels() -> None:
    found = weighted_kappa(A, B, LABELS, TASKS, FEW)
    assert abs(found.value - 0.8181818181818182) < TOLERANCE
    observed = cohen_kappa_score(A, B, weights="quadratic")
    assert abs(observed - 0.8) < TOLERANCE
    second = weighted_kappa(
        (1, 1, 5, 5, 4, 4), (1, 5, 5, 5, 4, 1), LABELS, "abcdef", FEW
    )
    assert abs(second.value - 0.32432432432432434) < TOLERANCE
    mad = mean_absolute_difference(A, B, TASKS, FEW)
    assert mad.value == 0.625


@pytest.mark.statement("E001-16")
def test_that_constant_raters_have_no_kappa() -> None:
    found = weighted_kappa((4, 4), (4, 4), LABELS, "ab", FEW)
    assert isnan(found.value)
    assert isnan(found.percentile.interval.low)
    assert isnan(weighted_kappa((), (), LABELS, (), FEW).value)


@pytest.mark.statement("E001-16")
def test_that_kappa_is_the_formula_and_scikit_learns() -> None:
    rng = np.random.default_rng(5)
    assert max(gap(rng) for _ in range(200)) < TOLERANCE


@pytest.mark.proof
def test_that_kappa_is_the_formula_in_ten_thousand_cases() -> None:
    rng = np.random.default_rng(6)
    assert max(gap(rng) for _ in range(10_000)) < TOLERANCE


@pytest.mark.statement("E001-16")
def test_that_the_bootstrap_draws_tasks_with_all_their_outputs() -> None:
    rng = np.random.default_rng(7)
    a = rng.integers(1, 6, 60).tolist()
    b = [min(5, max(1, x + int(rng.integers(-1, 2)))) for x in a]
    tasks = [f"{i // 6:02d}" for i in range(60)]
    found = weighted_kappa(a, b, LABELS, tasks, Resampling(4000, 1))
    brute = []
    for _ in range(4000):
        drawn = rng.integers(0, 10, 10)
        at = [6 * d + i for d in drawn for i in range(6)]
        brute.append(brute_kappa([a[i] for i in at], [b[i] for i in at]))
    low, high = np.quantile(brute, [0.025, 0.975])
    assert abs(found.percentile.interval.low - low) < 0.02
    assert abs(found.percentile.interval.high - high) < 0.02
    assert "bootstrap over tasks" in found.percentile.method
    again = weighted_kappa(a, b, LABELS, tasks, Resampling(4000, 1))
    assert again == found


def test_that_units_of_one_reader_only_count_for_nothing() -> None:
    mad = mean_absolute_difference((5, None, 2), (4, 3, None), "abc", FEW)
    assert mad.value == 1
    kappa = weighted_kappa((5, 1, None), (5, 1, 3), LABELS, "abc", FEW)
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
