"""Paired comparisons of rows or columns."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from math import isnan, lcm, nan
from typing import Final

from viewer.metrics.judging import judge_agreement, prediction_powered
from viewer.metrics.location_prior import Gain
from viewer.metrics.pairing import bounded_mean, grouped_difference
from viewer.metrics.permutation import sign_flip
from viewer.metrics.rubric import weighted_kappa
from viewer.metrics.word_prior import Worded, gain_over_words
from viewer.results.estimators.registry import Seen, estimator, mean_of, or_none, ratio


@estimator("paired difference")
def paired_difference(seen: Seen) -> Sequence[object]:
    """Return the mean of a column minus another over rows with both.

    The values are the number of rows, both means, their difference with its interval by
    ``cluster``, the p-value of a sign-flip test by cluster, and the interval's name.
    Differences lie between -1 and 1, or between the option ``ends``.
    """
    both = seen.rows.complete(*seen.of)
    ones, others = (both[name] for name in seen.of)
    by_cluster: dict[str, list[float]] = defaultdict(list)
    for cluster, one, other in both.each(seen.options["cluster"], *seen.of):
        by_cluster[cluster].append(one - other)
    # The test may draw signs by a seed: its p value depends on the patients' order.
    groups = [by_cluster[name] for name in sorted(by_cluster)]
    totals, ends = [*map(sum, groups)], seen.options.get("ends")
    found = bounded_mean(groups, ends) if ends else grouped_difference(groups)
    return (
        *(len(both), ratio(sum(ones), len(ones)), ratio(sum(others), len(others))),
        *(found.value, found.interval.low, found.interval.high),
        sign_flip(totals).p_value if totals else nan,
        found.method,
    )


@estimator("paired change")
def paired_change(seen: Seen) -> Sequence[object]:
    """Return a share's change in points, its interval, gains, losses, p and pairs.

    Rows and those they are compared with are paired by the column ``pair``. Interval,
    its name, and test are by ``cluster``: the test flips the sign of each cluster's
    mean change, exactly; if every cluster has one pair that is McNemar's exact test.
    Rows compared with themselves have none.
    """
    (column,), others = seen.of, seen.others
    if others is None or seen.rows.has_rows_of(others):
        return (nan,) * 8
    pair, cluster = seen.options["pair"], seen.options["cluster"]
    before = dict(others.each(pair, column))
    changes: dict[str, list[int]] = defaultdict(list)
    for key, of, after in seen.rows.each(pair, cluster, column):
        if key in before:
            changes[of].append(int(after) - int(before[key]))
    every = [one for of in changes.values() for one in of]
    change = _in_points(changes.values())
    if not every:
        return (*change, *(nan,) * 3, 0)
    gained, lost = every.count(1), every.count(-1)
    p_value = sign_flip(_whole(changes.values())).p_value
    return *change, gained, lost, p_value, len(every)


@estimator("gap of rates")
def gap_of_rates(seen: Seen) -> Sequence[object]:
    """Return a column's mean minus another's in points, with its interval and name.

    Each mean is over the rows that have a value. The interval is by ``cluster``; it
    needs as many values of one as of the other in every cluster.
    """
    both: dict[str, tuple[list[float], list[float]]] = defaultdict(lambda: ([], []))
    for place, column in enumerate(seen.of):
        complete = seen.rows.complete(column)
        for cluster, value in complete.each(seen.options["cluster"], column):
            both[cluster][place].append(value)
    if all(len(one) == len(other) for one, other in both.values()):
        pairs = (zip(one, other, strict=True) for one, other in both.values())
        return _in_points([[a - b for a, b in own] for own in pairs])
    one, other = (mean_of(seen.values(place)) for place in range(2))
    return 100 * (one - other), nan, nan, NOT_SAME


NOT_SAME: Final = "not estimable: not the same cases in both, 95 %"
"""Why two rates have a gap without an interval."""


def _in_points(groups: Collection[Sequence[float]]) -> tuple[object, ...]:
    """Return a mean of differences in percentage points, its interval and name."""
    estimate = grouped_difference(groups)
    low, high = estimate.interval.low, estimate.interval.high
    return 100 * estimate.value, 100 * low, 100 * high, estimate.method


@estimator("interval of scores")
def interval_of_scores(seen: Seen) -> Sequence[object]:
    """Return the interval of a column's mean by ``cluster``, and its name.

    The scores lie between the option ``ends``; rows without one are left out.
    """
    by_cluster: dict[str, list[float]] = defaultdict(list)
    (column,) = seen.of
    rows = seen.rows.complete(column)
    for cluster, score in rows.each(seen.options["cluster"], column):
        by_cluster[cluster].append(score)
    estimate = bounded_mean(by_cluster.values(), seen.options["ends"])
    return estimate.interval.low, estimate.interval.high, estimate.method


def _whole(groups: Collection[Sequence[int]]) -> list[int]:
    """Return the groups' means as integers on a common scale."""
    # Whole numbers let the test follow every pattern, not only random ones.
    scale = lcm(*map(len, groups))
    return [sum(of) * (scale // len(of)) for of in groups]


@estimator("gain over words")
def over_words(seen: Seen) -> Sequence[object]:
    """Return the gain of denials of swapped questions over those of the same words.

    The values are the number comparable, the share denied, the word prior, the gain,
    its interval and the interval's name. The columns are the words, the patient,
    whether the question is swapped, and the answer.
    """
    kinds: dict[bool, list[Worded]] = {True: [], False: []}
    for words, patient, swapped, answer in seen.rows.each(*seen.of):
        denied = {"No": True, "Yes": False}.get(answer)
        kinds[swapped].append(Worded(words, patient, denied))
    gain = gain_over_words(kinds[True], kinds[False])
    return (
        *(gain.trials, ratio(gain.hits, gain.trials), gain.prior, gain.gain),
        *(gain.interval.low, gain.interval.high),
        f"{_of_words(gain, len(kinds[True]))}, 95 %",
    )


def _of_words(gain: Gain, swapped: int) -> str:
    """Return the method of an interval, or why there is none."""
    if not isnan(gain.interval.low):
        return "jackknife by patient"
    if not swapped:
        return "no trial"
    if gain.trials:
        return "not estimable: without one of the patients nothing is left to compare"
    return "not estimable: the same words were asked of no other patient who has it"


QUADRATIC_KAPPA: Final = "quadratic kappa"
LEVELS: Final = (1, 2, 3, 4, 5)
"""The scale of grades (ReXecution 3.4)."""


@estimator(QUADRATIC_KAPPA)
def quadratic_kappa(seen: Seen) -> Sequence[object]:
    """Return the kappa of two raters with fixed labels, its interval and method.

    The labels are the option ``levels``, by default 1 to 5; of two labels it is Cohen's
    kappa without weights. Rows that only one of them rated are left out.
    """
    both = seen.rows.complete(*seen.of)
    one, other = (both[name] for name in seen.of)
    levels = seen.options.get("levels", LEVELS)
    agreement = weighted_kappa(one, other, levels, both[seen.options["cluster"]])
    interval = agreement.interval
    return agreement.value, interval.low, interval.high, agreement.method


@estimator("prediction-powered mean")
def prediction_powered_mean(seen: Seen) -> Sequence[object]:
    """Return a judge's mean score, and the mean corrected by human scores.

    The columns are the judge's scores and people's, within the range given by the
    option ``ends``; the corrected mean has an interval by ``cluster`` (Angelopoulos
    2023), whose name comes last.
    """
    judge, human = (or_none(seen.rows, column) for column in seen.of)
    clusters, ends = seen.rows[seen.options["cluster"]], seen.options["ends"]
    estimate = prediction_powered(judge, human, clusters, ends)
    bounds = estimate.interval.low, estimate.interval.high
    return ratio(sum(judge), len(judge)), estimate.value, *bounds, estimate.method


@estimator("judge agreement")
def agreement_with_judge(seen: Seen) -> Sequence[object]:
    """Return the agreement of a judge's scores with people's, for rows with both.

    The values are the share of equal scores, kappa, quadratic-weighted kappa, and kappa
    of each of the ``levels`` against all others.
    """
    judge, human = (or_none(seen.rows, column) for column in seen.of)
    agreement = judge_agreement(judge, human, seen.options["levels"])
    all_ = (agreement.same, agreement.kappa, agreement.weighted, *agreement.levels)
    return tuple(one.value for one in all_)
