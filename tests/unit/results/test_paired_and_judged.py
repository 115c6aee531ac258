"""Estimators of paired, ranked and judged answers, against statsmodels and the like."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.contingency_tables import mcnemar

from tests.helpers.by_patient import difference_by_patient
from viewer.metrics.judging import prediction_powered
from viewer.metrics.word_prior import Worded, gain_over_words
from viewer.results.estimators import ESTIMATORS, Seen
from viewer.results.estimators.paired import NOT_SAME
from viewer.results.frame import Frame, frame_of

RNG = np.random.default_rng(3)
MODELS = RNG.choice(["a", "b", "c", "d"], 60).tolist()
RIGHT = [bool(x) for x in RNG.random(60) < 0.5]
ANSWERS = frame_of({"model": MODELS, "correct": RIGHT})


def estimate(
    name: str,
    rows: Frame,
    of: tuple[str, ...],
    others: "Frame | None" = None,
    options: Mapping[str, Any] | None = None,
) -> Sequence[Any]:
    return ESTIMATORS[name](Seen(rows, others, of, options or {}))


def shares() -> dict[str, float]:
    return {
        model: float(
            np.mean([r for m, r in zip(MODELS, RIGHT, strict=True) if m == model])
        )
        for model in sorted(set(MODELS))
    }


def test_that_a_share_is_ranked_among_those_of_all_models() -> None:
    ranks = rankdata([-share for share in shares().values()], method="min")
    for model, rank in zip(shares(), ranks, strict=True):
        own, options = ANSWERS.where({"model": (model,)}), {"by": "model"}
        found = estimate("rank of share", own, ("correct",), ANSWERS, options)
        assert found == (rank,)
    nobody = ANSWERS.take(())
    options = {"by": "model"}
    assert estimate("rank of share", nobody, ("correct",), ANSWERS, options) == (None,)
    assert estimate("rank of share", nobody, ("correct",), None, options) == (None,)


def test_that_a_spread_lies_between_the_extremes_and_needs_every_share() -> None:
    among = {"by": "model", "among": tuple(shares())}
    (found,) = estimate("spread of shares", ANSWERS, ("correct",), None, among)
    assert found == pytest.approx(np.ptp(list(shares().values())), abs=1e-12)
    more = {**among, "among": ("a", "nobody")}
    (found,) = estimate("spread of shares", ANSWERS, ("correct",), None, more)
    assert np.isnan(found)


def test_that_a_gap_is_between_means_with_an_interval_over_the_same_cases() -> None:
    lists, choices = ([bool(x) for x in RNG.random(30) < p] for p in (0.7, 0.4))
    frame = frame_of(
        {
            "a": [*lists, *[None] * 30],
            "b": [*[None] * 30, *choices],
            "case": [*range(30), *range(30)],
        }
    )
    found = estimate("gap of rates", frame, ("a", "b"), None, {"cluster": "case"})
    gaps = [[float(a) - b] for a, b in zip(lists, choices, strict=True)]
    expected = [100 * one for one in difference_by_patient(gaps)]
    assert found[:3] == pytest.approx(expected, abs=1e-9)


def test_that_a_gap_between_other_cases_has_no_interval() -> None:
    frame = frame_of(
        {"a": [True, False, None], "b": [None, None, False], "case": [1, 2, 2]}
    )
    found = estimate("gap of rates", frame, ("a", "b"), None, {"cluster": "case"})
    assert (found[0], found[3]) == (50.0, NOT_SAME)
    assert np.isnan(found[1:3]).all()


def test_that_the_interval_of_scores_is_by_patient_and_between_the_ends() -> None:
    scores = [int(x) for x in RNG.integers(0, 6, 24)]
    patients = [i // 2 for i in range(24)]
    frame = frame_of({"score": [*scores, None], "patient": [*patients, 99]})
    options = {"cluster": "patient", "ends": (0, 5)}
    low, high, _ = estimate("interval of scores", frame, ("score",), None, options)
    scaled = [[(x - 2.5) / 2.5 for x in scores[i : i + 2]] for i in range(0, 24, 2)]
    expected = [2.5 + 2.5 * end for end in difference_by_patient(scaled)[1:]]
    assert (low, high) == pytest.approx(expected, abs=1e-9)
    alone = frame.where({"patient": (0,)})
    low, *_, why = estimate("interval of scores", alone, ("score",), None, options)
    assert np.isnan(low)
    assert str(why).startswith("not estimable")


def test_that_a_change_is_that_of_the_pairs_that_both_have() -> None:
    before, after = (
        frame_of(
            {
                "pair": pairs,
                "case": pairs,
                "correct": [bool(x) for x in RNG.random(40) < p],
            }
        )
        for pairs, p in ((list(range(40)), 0.4), (list(range(10, 50)), 0.7))
    )
    options = {"pair": "pair", "cluster": "case"}
    found = estimate("paired change", after, ("correct",), before, options)
    both = [(before["correct"][i], after["correct"][i - 10]) for i in range(10, 40)]
    gained = sum(bool(b and not a) for a, b in both)
    lost = sum(bool(a and not b) for a, b in both)
    p = mcnemar([[0, lost], [gained, 0]], exact=True).pvalue
    gaps = [[float(a) - b] for b, a in both]
    ends = [100 * one for one in difference_by_patient(gaps)]
    assert found[:3] == pytest.approx(ends, abs=1e-9)
    assert found[4:] == pytest.approx((gained, lost, p, 30), abs=1e-12)
    for others in (None, after):
        found = estimate("paired change", after, ("correct",), others, options)
        assert np.isnan(found).all()
    apart = before.having(pair=[-1] * 40)
    found = estimate("paired change", after, ("correct",), apart, options)
    assert (found[3], found[-1]) == ("no trial, 95 %", 0)
    assert np.isnan([*found[:3], *found[4:-1]]).all()


@pytest.mark.statement("X-07")
@pytest.mark.parametrize("repeats", [1, 5])
def test_that_asking_again_makes_no_change_more_certain(repeats: int) -> None:
    cases = [case for case in range(10) for _ in range(repeats)]
    pairs = list(range(len(cases)))
    before = frame_of({"pair": pairs, "case": cases, "correct": [False] * len(pairs)})
    after = before.having(correct=[case < 3 for case in cases])
    options = {"pair": "pair", "cluster": "case"}
    *_, p, n = estimate("paired change", after, ("correct",), before, options)
    assert (p, n) == (0.25, len(pairs))


def test_that_a_change_is_tested_over_cases_with_all_patterns_of_signs() -> None:
    cases = [int(case) for case in RNG.integers(0, 9, 30)]
    before, after = ([bool(x) for x in RNG.random(30) < p] for p in (0.3, 0.6))
    columns = {"pair": list(range(30)), "case": cases}
    options = {"pair": "pair", "cluster": "case"}
    *_, p, _ = estimate(
        "paired change",
        frame_of({**columns, "correct": after}),
        ("correct",),
        frame_of({**columns, "correct": before}),
        options,
    )
    means = [
        Fraction(sum(after[i] - before[i] for i in own), len(own))
        for case in set(cases)
        for own in [[i for i, one in enumerate(cases) if one == case]]
    ]
    sums = [
        abs(sum((s * m for s, m in zip(signs, means, strict=True)), Fraction(0)))
        for signs in product((1, -1), repeat=len(means))
    ]
    observed = abs(sum(means, Fraction(0)))
    assert p == pytest.approx(sum(one >= observed for one in sums) / len(sums))


def test_that_a_judge_is_corrected_by_people_and_compared_with_them() -> None:
    judge = [float(x) for x in RNG.integers(0, 4, 30)]
    human = [int(x) if i % 2 else None for i, x in enumerate(RNG.integers(0, 4, 30))]
    cases = [i // 2 for i in range(30)]
    frame = frame_of({"judge": judge, "human": human, "case": cases})
    columns = ("judge", "human")
    expected = prediction_powered(judge, human, cases, (0, 3))
    interval = expected.interval
    options = {"ends": (0, 3), "cluster": "case"}
    *numbers, method = estimate(
        "prediction-powered mean", frame, columns, None, options
    )
    assert numbers == pytest.approx(
        [np.mean(judge), expected.value, interval.low, interval.high], abs=1e-12
    )
    assert method == expected.method
    levels = (3, 2, 1, 0)
    found = estimate("judge agreement", frame, columns, None, {"levels": levels})
    pairs = [(j, h) for j, h in zip(judge, human, strict=True) if h is not None]
    one, other = (list(of) for of in zip(*pairs, strict=True))
    assert found[0] == pytest.approx(np.mean([a == b for a, b in pairs]), abs=1e-12)
    assert found[1] == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)
    weighted = cohen_kappa_score(one, other, weights="quadratic")
    assert found[2] == pytest.approx(weighted, abs=1e-12)
    of_levels = [
        cohen_kappa_score([x == level for x in one], [x == level for x in other])
        for level in levels
    ]
    assert found[3:] == pytest.approx(of_levels, abs=1e-12)


Asked = tuple[str, str, bool, str]
"""The words, the patient, whether the question is swapped, and the answer."""


def over_words(*asked: Asked) -> Sequence[Any]:
    names = ("words", "patient", "swapped", "answer")
    values = list(zip(*asked, strict=True)) or [()] * 4
    frame = frame_of(dict(zip(names, map(list, values), strict=True)))
    return estimate("gain over words", frame, names)


@pytest.mark.statement("E002-09")
def test_that_denials_are_told_from_those_that_the_words_alone_bring() -> None:
    rng = np.random.default_rng(5)
    asked: list[Asked] = [
        (f"w{word}", f"p{patient}", bool(swapped), ("Yes", "No", "?")[answer])
        for word, patient, swapped, answer in rng.integers(0, (3, 8, 2, 3), (60, 4))
    ]
    said = {"No": True, "Yes": False, "?": None}
    kinds = [
        [Worded(w, p, said[a]) for w, p, s, a in asked if s is wanted]
        for wanted in (True, False)
    ]
    gain = gain_over_words(*kinds)
    n, share, prior, value, low, high, method = over_words(*asked)
    assert (n, share) == (gain.trials, gain.hits / gain.trials)
    assert (prior, value, low, high) == (
        *(gain.prior, gain.gain),
        *(gain.interval.low, gain.interval.high),
    )
    assert low < value < high
    assert method == "jackknife by patient, 95 %"


@pytest.mark.statement("X-09")
@pytest.mark.parametrize(
    ("asked", "trials", "why"),
    [
        ([("w", "p1", False, "Yes"), ("w", "p2", False, "No")], 0, "no trial"),
        ([("w", "p1", True, "No"), ("w", "p1", False, "Yes")], 0, "no other patient"),
        ([("w", "p1", True, "No"), ("w", "p2", False, "Yes")], 1, "nothing is left"),
    ],
)
def test_that_a_gain_over_words_without_an_interval_says_why(
    asked: list[Asked], trials: int, why: str
) -> None:
    n, *_, low, high, method = over_words(*asked)
    assert n == trials
    assert np.isnan([low, high]).all()
    assert why in method
    assert method.endswith(", 95 %")


@pytest.mark.statement("E001-16")
@pytest.mark.parametrize("levels", [None, (0, 1)])
def test_that_the_kappa_of_two_raters_is_scikit_learns_over_what_both_rated(
    levels: tuple[int, ...] | None,
) -> None:
    rng = np.random.default_rng(9)
    scale = levels or (1, 2, 3, 4, 5)
    one = rng.choice(scale, 50).tolist()
    other = np.where(rng.random(50) < 0.6, one, rng.choice(scale, 50)).tolist()
    alone = [*one, scale[0]], [*other, None]
    rated = frame_of({"a": alone[0], "b": alone[1], "who": [i // 2 for i in range(51)]})
    options = {"cluster": "who"} | ({"levels": levels} if levels else {})
    found = estimate("quadratic kappa", rated, ("a", "b"), None, options)
    value, low, high, method = found
    theirs = cohen_kappa_score(one, other, weights="quadratic", labels=scale)
    assert value == pytest.approx(theirs, abs=1e-12)
    assert low < value < high
    assert method
    both = rated.complete("b")
    assert estimate("quadratic kappa", both, ("a", "b"), None, options) == found
