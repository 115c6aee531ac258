import math

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import beta
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.proportion import proportion_confint

from tests.helpers.by_patient import ends_of, macro_ci_of
from viewer.metrics.estimate import Estimate
from viewer.metrics.intervals import wilson
from viewer.metrics.proportions import (
    Spread,
    effective_trials,
    macro_interval,
    patient_interval,
    patient_method,
)

Ints = npt.NDArray[np.int64]


def exact(k: int, n: int, confidence: float = 0.95) -> Estimate:
    """Return the interval of k of n patients with one trial each."""
    return patient_interval([1] * k + [0] * (n - k), [1] * n, n, confidence)


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_that_clopper_pearson_equals_statsmodels_for_every_small_count(
    confidence: float,
) -> None:
    for n in range(2, 30):
        for k in range(n + 1):
            low, high = proportion_confint(k, n, alpha=1 - confidence, method="beta")
            ours = exact(k, n, confidence)
            assert ours.value == k / n
            assert ours.interval.low == pytest.approx(low, abs=1e-12)
            assert ours.interval.high == pytest.approx(high, abs=1e-12)


@pytest.mark.proof
def test_that_ten_thousand_rates_have_the_intervals_of_statsmodels() -> None:
    rng = np.random.default_rng(0)
    for _ in range(10_000):
        n = int(rng.integers(2, 3_000))
        k = int(rng.choice([0, n, int(rng.integers(0, n + 1))]))
        pairs = ((exact(k, n).interval, "beta"), (wilson(k, n), "wilson"))
        for interval, method in pairs:
            expected = proportion_confint(k, n, method=method)
            bounds = interval.low, interval.high
            assert bounds == pytest.approx(np.clip(expected, 0, 1), abs=1e-12)


def test_that_none_of_ten_is_up_to_31_percent() -> None:
    ours = exact(0, 10)
    assert ours.interval.low == 0.0
    assert ours.interval.high == pytest.approx(0.3085, abs=5e-5)
    assert ours.method == "Clopper-Pearson, 95 %"
    assert exact(10, 10).interval.high == 1.0


def test_that_nothing_asked_is_no_rate_and_no_crash() -> None:
    nothing = exact(0, 0)
    assert math.isnan(nothing.value)
    assert math.isnan(nothing.interval.low)
    assert math.isnan(nothing.interval.high)


@pytest.mark.statement("X-07")
def test_that_the_interval_by_patient_equals_that_of_its_effective_trials() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        trials = rng.integers(1, 6, int(rng.integers(2, 12))).tolist()
        hits = [int(rng.integers(0, n + 1)) for n in trials]
        items = int(rng.integers(len(trials), sum(trials) + 1))
        if set(trials) == {1} or not 0 < sum(hits) < sum(trials):
            continue
        found = patient_interval(hits, trials, items)
        assert found.value == sum(hits) / sum(trials)
        told = found.interval.low, found.interval.high
        assert told == pytest.approx(ends_of(hits, trials, items), abs=1e-12)
        assert found.method == "Clopper-Pearson by patient, 95 %"


@pytest.mark.statement("X-07")
def test_that_asking_again_tells_nothing_more() -> None:
    once = patient_interval([1, 0, 2, 1], [2, 2, 2, 1], items=7)
    again = patient_interval([5, 0, 10, 5], [10, 10, 10, 5], items=7)
    assert again.interval.low == pytest.approx(once.interval.low)
    assert again.interval.high == pytest.approx(once.interval.high)


@pytest.mark.statement("X-07")
def test_that_all_right_is_not_certain() -> None:
    right = patient_interval([2] * 19, [2] * 19, items=38)
    assert right.interval.high == 1.0
    assert right.interval.low == pytest.approx(0.025 ** (1 / 19))
    wrong = patient_interval([0] * 19, [2] * 19, items=38)
    assert wrong.interval.low == 0.0
    assert wrong.interval.high == pytest.approx(1 - 0.025 ** (1 / 19))


@pytest.mark.parametrize(
    ("hits", "trials", "worth"),
    [
        ([1] * 10, [3] * 10, 30),
        ([3] * 5 + [0] * 5, [3] * 10, 10),
        ([4, 0, 0, 0, 0], [4, 1, 1, 1, 1], 64 / 20),
    ],
)
def test_that_items_that_agree_within_patients_count_as_patients(
    hits: list[int], trials: list[int], worth: float
) -> None:
    """One of three of every patient are 30 trials; unequal patients are fewer."""
    found = patient_interval(hits, trials, items=sum(trials))
    k = worth * sum(hits) / sum(trials)
    expected = beta.ppf([0.025, 0.975], [k, k + 1], [worth - k + 1, worth - k])
    assert [found.interval.low, found.interval.high] == pytest.approx(expected)


@pytest.mark.statement("X-07")
def test_that_many_patients_have_the_design_effect_of_statsmodels() -> None:
    rng = np.random.default_rng(8)
    sizes = rng.integers(1, 9, 4_000)
    hits = rng.binomial(sizes, rng.beta(0.6, 1.4, sizes.size))
    worth = effective_of(hits, sizes)
    values = [float(i < k) for k, n in zip(hits, sizes, strict=True) for i in range(n)]
    who = np.repeat(np.arange(sizes.size), sizes)
    plain = OLS(values, np.ones(len(values))).fit()
    clustered = plain.get_robustcov_results("cluster", groups=who)
    effect = (float(clustered.bse[0]) / float(plain.bse[0])) ** 2
    assert effect > 2
    assert len(values) / worth == pytest.approx(effect, rel=2e-3)


def effective_of(hits: Ints, trials: Ints) -> float:
    """Return how many independent trials the hits of patients are worth."""
    n, rate = float(trials.sum()), float(hits.sum() / trials.sum())
    gaps = hits - rate * trials
    sums = (n, trials.size, (trials**2).sum(), (gaps * gaps).sum())
    rest = (n * rate * (1 - rate), rate**2 + (1 - rate) ** 2)
    of = Spread(*(np.array(one, np.float64) for one in (*sums, *rest)))
    return float(effective_trials(of))


def test_that_one_patient_has_no_interval() -> None:
    found = patient_interval([3, 0], [5, 0], items=5)
    assert found.value == 0.6
    assert math.isnan(found.interval.low)
    assert math.isnan(found.interval.high)
    assert found.method == "not estimable from one patient, 95 %"
    nothing = patient_interval([], [], items=0)
    assert math.isnan(nothing.value)
    assert math.isnan(nothing.interval.high)
    assert nothing.method == "no trial, 95 %"


def test_that_more_hits_than_trials_are_refused() -> None:
    with pytest.raises(ValueError, match="must be from 0 to its trials"):
        patient_interval([2], [1], items=1)


@pytest.mark.parametrize(
    ("trials", "patients", "method"),
    [
        (0, 0, "no trial, 90 %"),
        (7, 1, "not estimable from one patient, 90 %"),
        (7, 7, "Clopper-Pearson, 90 %"),
        (8, 7, "Clopper-Pearson by patient, 90 %"),
    ],
)
def test_that_an_interval_is_named_by_its_counts(
    trials: int, patients: int, method: str
) -> None:
    assert patient_method(trials, patients, 0.9) == method


@pytest.mark.statement("X-07")
def test_that_the_interval_of_a_mean_of_rates_equals_the_long_way() -> None:
    rng = np.random.default_rng(5)
    for _ in range(150):
        patients, rates = int(rng.integers(2, 9)), int(rng.integers(2, 5))
        n = rng.integers(0, 4, (patients, rates))
        k = rng.integers(0, n + 1)
        if (n.sum(axis=0) > 0).sum() < 2 or (n.sum(axis=1) > 0).sum() < 2:
            continue
        by_rate = {
            name: [
                (i < k[patient, name], patient, (patient, name, i))
                for patient in range(patients)
                for i in range(n[patient, name])
            ]
            for name in range(rates)
        }
        found = macro_interval(k.tolist(), n.tolist(), int(n.sum()))
        wanted = macro_ci_of(by_rate)
        own = found.interval.low, found.interval.high
        assert own == pytest.approx((wanted["ci_low"], wanted["ci_high"]), abs=1e-12)
        assert found.method == wanted["ci_method"]
        there = n.sum(axis=0) > 0
        mean = (k.sum(axis=0)[there] / n.sum(axis=0)[there]).mean()
        assert found.value == pytest.approx(mean)


def test_that_a_rate_of_one_patient_makes_a_mean_less_certain() -> None:
    many, one = [[1, 0]] * 40 + [[0, 0]] * 10, [[1, 0]]
    trials = [[1, 0]] * 50
    alone = patient_interval([k for k, _ in many], [n for n, _ in trials], items=50)
    beside = macro_interval([*many, [0, 1]], [*trials, [0, 1]], items=51)
    assert beside.value == 0.9
    assert beside.interval.high - beside.interval.low > 2 * (
        alone.interval.high - alone.interval.low
    )
    found = macro_interval(one, [[1, 2]], items=3)
    assert found.value == 0.5
    assert found.method == "not estimable from one patient, 95 %"
    assert math.isnan(macro_interval([], [], items=0).value)
