import math

import numpy as np
import numpy.typing as npt
import pytest
from statsmodels.stats.multitest import multipletests

from viewer.metrics.multiplicity import benjamini_hochberg, holm

Floats = npt.NDArray[np.float64]
RAW = (0.02, 0.04, 0.114, 0.416, 0.66)


def test_that_holm_gives_the_known_values() -> None:
    family = holm(RAW)
    assert family.raw == RAW
    assert family.adjusted == pytest.approx((0.10, 0.16, 0.342, 0.832, 0.832))
    assert family.method == "Holm, a declared family of 5"


def test_that_benjamini_hochberg_gives_the_known_values() -> None:
    family = benjamini_hochberg(RAW)
    assert family.adjusted == pytest.approx((0.10, 0.10, 0.19, 0.52, 0.66))
    assert family.method == "Benjamini-Hochberg, exploratory, 5"


def random_family(seed: int) -> Floats:
    """Return p values rounded so far that some are ties."""
    rng = np.random.default_rng(seed)
    return np.round(rng.random(rng.integers(1, 30)), int(rng.integers(1, 6)))


def family_error(seed: int) -> float:
    """Compare with Holm's definition and with statsmodels."""
    p = random_family(seed)
    steps = [(one, one * np.count_nonzero(p >= one)) for one in p]
    expected = [min(1, max(step for one, step in steps if one <= mine)) for mine in p]
    of_holm = np.abs(np.array(holm(list(p)).adjusted) - expected).max()
    theirs = multipletests(p, method="fdr_bh")[1]
    ours = benjamini_hochberg(list(p)).adjusted
    return float(max(of_holm, np.abs(np.array(ours) - theirs).max()))


def test_that_both_are_right_in_any_order_with_ties() -> None:
    assert max(family_error(seed) for seed in range(200)) <= 1e-12


@pytest.mark.proof
def test_that_both_are_right_for_ten_thousand_families() -> None:
    assert max(family_error(seed) for seed in range(10_000)) <= 1e-12


def test_that_holm_equals_statsmodels() -> None:
    for seed in range(10):
        p = random_family(seed)
        theirs = multipletests(p, method="holm")[1]
        assert np.abs(np.array(holm(list(p)).adjusted) - theirs).max() <= 1e-12


def test_that_a_missing_p_value_stays_missing_and_counts_in_the_family() -> None:
    family = holm([0.01, math.nan, 0.02])
    assert math.isnan(family.adjusted[1])
    assert family.adjusted[0] == pytest.approx(0.03)
    assert family.adjusted[2] == pytest.approx(0.04)
    exploratory = benjamini_hochberg([0.01, math.nan])
    assert exploratory.adjusted[0] == pytest.approx(0.02)
    assert math.isnan(exploratory.adjusted[1])


def test_that_an_empty_family_is_empty() -> None:
    assert holm([]).adjusted == ()
    assert benjamini_hochberg([]).adjusted == ()


@pytest.mark.parametrize("wrong", [-0.01, 1.01])
def test_that_what_is_no_p_value_is_refused(wrong: float) -> None:
    for adjust in (holm, benjamini_hochberg):
        with pytest.raises(ValueError, match=r"^a p value must be from 0 to 1$"):
            adjust([0.5, wrong])
    assert holm([0.0, 1.0]).adjusted == (0.0, 1.0)
