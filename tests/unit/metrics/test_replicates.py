import math
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from viewer.metrics.replicates import answer_spread, replicate_agreement


@pytest.mark.statement("E000-14")
def test_that_the_mode_and_entropy_of_five_answers_are_known() -> None:
    spread = answer_spread(["D4", "D5", "D4", None, "D4"])
    assert (spread.replicates, spread.mode, spread.share) == (5, "D4", 0.6)
    assert not spread.tied
    assert spread.entropy == pytest.approx(stats.entropy([3, 1, 1], base=2))


def test_that_agreeing_answers_have_no_entropy_and_ties_are_told() -> None:
    assert answer_spread([None, None]).entropy == 0.0
    assert answer_spread([None, None]).mode is None
    tie = answer_spread(["B", "A", "A", "B"])
    assert (tie.mode, tie.share, tie.tied, tie.entropy) == ("B", 0.5, True, 1.0)
    with pytest.raises(ValueError, match=r"^an item without replicates has no spread$"):
        answer_spread([])


def has_icc(seed: int) -> bool:
    """Compare with plain pairs and sums of squares; tell whether there is an ICC."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, rng.integers(1, 12))
    items = [list(rng.integers(0, 2, k).astype(float)) for k in sizes]
    kept = [item for item in items if len(item) > 1]
    ours = replicate_agreement(items)
    assert ours.items == len(kept)
    assert ours.method.startswith("ICC(1), one-way random")
    shares = [np.mean([a == b for a, b in combinations(item, 2)]) for item in kept]
    if kept:
        assert ours.pairs == pytest.approx(np.mean(shares), abs=1e-12)
    if len(kept) < 2 or len({x for item in kept for x in item}) < 2:
        assert math.isnan(ours.icc)
        assert ours.reason
    else:
        assert ours.icc == pytest.approx(anova_icc(kept), abs=1e-12)
        assert ours.reason == ""
    return not ours.reason


def test_that_icc_and_pairs_equal_a_plain_analysis_of_variance() -> None:
    assert {has_icc(seed) for seed in range(200)} == {True, False}


@pytest.mark.proof
def test_that_ten_thousand_iccs_equal_a_plain_analysis_of_variance() -> None:
    assert sum(has_icc(seed) for seed in range(10_000)) > 5_000


def anova_icc(items: list[list[float]]) -> float:
    """Return ICC(1) from sums of squares of all values, k0 by its definition."""
    values = np.concatenate(items)
    n, total = len(items), values.size
    inside = sum(((np.array(item) - np.mean(item)) ** 2).sum() for item in items)
    between = (((values - values.mean()) ** 2).sum() - inside) / (n - 1)
    within = inside / (total - n)
    k = (total - sum(len(item) ** 2 for item in items) / total) / (n - 1)
    return float((between - within) / (between + (k - 1) * within))


def test_that_what_cannot_be_had_is_said() -> None:
    once = replicate_agreement([[1.0], [0.0]])
    assert (once.items, once.reason) == (0, "no item was asked twice")
    assert math.isnan(once.pairs)
    assert math.isnan(once.icc)
    for items in ([[1.0, 0.0]], [[1.0, 1.0], [1.0, 1.0]]):
        ours = replicate_agreement(items)
        assert math.isnan(ours.icc)
        assert ours.reason == "there is one item, or no value differs"
    assert replicate_agreement([[1.0, 1.0], [0.0, 0.0]]).icc == 1.0
