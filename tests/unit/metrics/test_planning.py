"""Variance components against statsmodels, and plans against simulated studies."""

from math import inf, isnan

import numpy as np
import pytest
import statsmodels.api as sm

from viewer.metrics.planning import Variances, half_width, plans, variances


def simulated(
    rng: np.random.Generator, of: Variances, readers: int, cases: int
) -> np.ndarray:
    """Return ratings (readers, cases) with known variance components."""
    return (
        rng.normal(0, of.cases**0.5, cases)[None, :]
        + rng.normal(0, of.readers**0.5, readers)[:, None]
        + rng.normal(0, of.rest**0.5, (readers, cases))
    )


@pytest.mark.parametrize("seed", range(4))
def test_that_components_are_those_of_an_analysis_of_variance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    r, n = 3 + seed, 12
    ratings = simulated(rng, Variances(2.0, 0.5, 1.0), r, n)
    reader = np.repeat(np.eye(r), n, axis=0)
    case = np.tile(np.eye(n), (r, 1))
    whole, alone = np.hstack([reader, case[:, 1:]]), ratings.ravel()
    left = {
        name: sm.OLS(alone, design).fit().ssr
        for name, design in (("both", whole), ("reader", reader), ("case", case))
    }
    rest = left["both"] / ((r - 1) * (n - 1))
    cases = (left["reader"] - left["both"]) / (n - 1)
    readers = (left["case"] - left["both"]) / (r - 1)
    mine = variances(ratings)
    assert mine.rest == pytest.approx(rest)
    assert mine.cases == pytest.approx(max((cases - rest) / r, 0))
    assert mine.readers == pytest.approx(max((readers - rest) / n, 0))


def test_that_a_planned_study_has_the_half_width_it_was_planned_for() -> None:
    of = Variances(0.8, 0.02, 0.4)
    rng = np.random.default_rng(0)
    (plan,) = plans(of, 0.4, (4,))
    cases = int(plan.cases)
    assert half_width(of, 4, cases) <= 0.4 < half_width(of, 4, cases - 1)
    means = [simulated(rng, of, 4, cases).mean() for _ in range(4000)]
    inside = np.mean([abs(mean) <= 0.4 for mean in means])
    assert inside == pytest.approx(0.95, abs=0.02)


def test_that_no_number_of_cases_makes_up_for_too_few_readers() -> None:
    few, many = plans(Variances(1.0, 0.5, 0.5), 0.5, (1, 20))
    assert few.cases == inf
    assert many.cases < 100


def test_that_one_reader_tells_nothing_and_a_width_must_be_positive() -> None:
    assert isnan(variances([[1, 2, 3]]).rest)
    assert isnan(variances([[1], [2]]).cases)
    with pytest.raises(ValueError, match="above 0"):
        plans(Variances(1, 1, 1), 0)
