from math import isnan

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tests.helpers.by_patient import difference_by_patient
from viewer.metrics.judging import judge_agreement, prediction_powered

LEVELS = (5, 4, 3, 2, 0)
SCALE = (0, 5)


@pytest.mark.statement("E004-09")
def test_that_a_judges_agreement_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    human = rng.choice(LEVELS, 60).tolist()
    judge = [h if rng.random() < 0.7 else int(rng.choice(LEVELS)) for h in human]
    found = judge_agreement(judge, human, LEVELS)
    assert found.kappa.value == pytest.approx(
        cohen_kappa_score(judge, human, labels=LEVELS), abs=1e-12
    )
    assert found.weighted.value == pytest.approx(
        cohen_kappa_score(judge, human, labels=LEVELS, weights="quadratic"), abs=1e-12
    )
    same = np.mean([a == b for a, b in zip(judge, human, strict=True)])
    assert found.same.value == pytest.approx(same, abs=1e-12)
    for level, of in zip(LEVELS, found.levels, strict=True):
        expected = cohen_kappa_score(
            [x == level for x in judge], [x == level for x in human]
        )
        assert of.value == pytest.approx(expected, abs=1e-12)


def test_that_items_that_one_side_did_not_score_are_left_out() -> None:
    found = judge_agreement([5, None, 3], [5, 4, None], LEVELS)
    assert (found.same.units, found.same.value) == (1, 1.0)


@pytest.mark.statement("E004-09")
def test_that_a_judges_mean_is_corrected_by_the_errors_people_found() -> None:
    found = prediction_powered((5, 5, 4, 0), (5, 3, None, None), "abcd", SCALE)
    assert found.value == pytest.approx(3.5 - 1.0, abs=1e-12)
    assert found.method == "prediction-powered, 2 labelled, 95 %"


@pytest.mark.statement("E004-09", "X-07")
def test_that_a_corrected_mean_is_a_sum_of_two_means_of_bounded_scores() -> None:
    rng = np.random.default_rng(2)
    judge = rng.integers(0, 6, 30).astype(float).tolist()
    human = [float(rng.integers(0, 6)) if i < 12 else None for i in range(30)]
    found = prediction_powered(judge, human, range(30), SCALE)
    labelled = [h - 0.6 * j for j, h in zip(judge, human, strict=True) if h is not None]
    parts = ((labelled, -3.0, 5.0, 1.0), (judge[12:], 0.0, 5.0, 0.6))
    squares = np.zeros(2)
    for scores, low, high, share in parts:
        gaps = [[(2 * one - low - high) / (high - low)] for one in scores]
        middle, *ends = difference_by_patient(gaps)
        reach = share * (np.array(ends) - middle) * (high - low) / 2
        squares += reach**2
    assert found.interval.low == pytest.approx(found.value - squares[0] ** 0.5)
    assert found.interval.high == pytest.approx(found.value + squares[1] ** 0.5)
    shared = prediction_powered(judge, human, [i % 10 for i in range(30)], SCALE)
    assert shared.interval.low < found.interval.low
    assert shared.interval.high > found.interval.high


@pytest.mark.statement("X-07")
def test_that_a_judge_people_agree_with_on_few_answers_is_not_taken_for_sure() -> None:
    judge = [1.0] * 5 + [0.0] * 15
    found = prediction_powered(judge, [1.0] * 5 + [None] * 15, range(20), (0, 1))
    assert found.value == 0.25
    assert found.interval.high - found.interval.low > 0.5


def test_that_everything_labelled_gives_peoples_own_mean_and_interval() -> None:
    rng = np.random.default_rng(2)
    judge, human = rng.integers(0, 6, (2, 40)).astype(float)
    found = prediction_powered(list(judge), list(human), range(40), SCALE)
    _, low, high = difference_by_patient([[one / 2.5 - 1] for one in human])
    assert found.value == pytest.approx(human.mean(), abs=1e-12)
    assert found.interval.low == pytest.approx(2.5 * (low + 1))
    assert found.interval.high == pytest.approx(2.5 * (high + 1))


def test_that_one_answer_that_nobody_labelled_may_be_anything() -> None:
    judge, human = (5.0, 5.0, 4.0), (5.0, 5.0, None)
    found = prediction_powered(judge, human, "abc", SCALE)
    assert found.interval.low < found.value - 4 / 3


def test_that_without_labels_nothing_is_corrected() -> None:
    assert isnan(prediction_powered((5.0, 4.0), (None, None), "ab", SCALE).value)
    one = prediction_powered((5.0, 4.0), (4.0, None), "ab", SCALE)
    assert one.value == 3.5
    assert isnan(one.interval.low)
    assert one.method.startswith("not estimable from one labelled case")
    with pytest.raises(ValueError, match="same items"):
        prediction_powered((1.0,), (), (), SCALE)
