"""Paired comparisons of rows or columns."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from math import isnan, lcm, nan

from viewer.metrics.judging import judge_agreement, prediction_powered
from viewer.metrics.location_prior import Gain
from viewer.metrics.pairing import bounded_mean, mean_difference
from viewer.metrics.permutation import sign_flip
from viewer.metrics.word_prior import Worded, gain_over_words
from viewer.results.estimators.registry import Seen, estimator, or_none, ratio


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
    totals = [sum(by_cluster[name]) for name in sorted(by_cluster)]
    sizes = [len(by_cluster[name]) for name in sorted(by_cluster)]
    ends = seen.options.get("ends")
    found = (
        bounded_mean(totals, sizes, ends) if ends else mean_difference(totals, sizes)
    )
    return (
        *(len(both), ratio(sum(ones), len(ones)), ratio(sum(others), len(others))),
        *(found.value, found.interval.low, found.interval.high),
        sign_flip(totals).p_value if totals else nan,
        found.method,
    )


@estimator("paired change")
def paired_change(seen: Seen) -> Sequence[object]:
    """Return a share's change in points, gains, losses, p and the number of pairs.

    Rows and those they are compared with are paired by the column ``pair``. The test
    flips the sign of each ``cluster``'s mean change, exactly; if every cluster has one
    pair that is McNemar's exact test. Rows compared with themselves have none.
    """
    (column,), others = seen.of, seen.others
    if others is None or seen.rows.has_rows_of(others):
        return (nan,) * 5
    pair, cluster = seen.options["pair"], seen.options["cluster"]
    before = dict(others.each(pair, column))
    changes: dict[str, list[int]] = defaultdict(list)
    for key, of, after in seen.rows.each(pair, cluster, column):
        if key in before:
            changes[of].append(int(after) - int(before[key]))
    every = [one for of in changes.values() for one in of]
    if not every:
        return (*(nan,) * 4, 0)
    gained, lost = every.count(1), every.count(-1)
    change = 100 * (gained - lost) / len(every)
    p_value = sign_flip(_whole(changes.values())).p_value
    return change, gained, lost, p_value, len(every)


def _whole(groups: Collection[Sequence[int]]) -> list[int]:
    """Return the groups' means as integers on a common scale."""
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
    for words, patient, swapped, said in seen.rows.each(*seen.of):
        denied = {"No": True, "Yes": False}.get(said)
        kinds[swapped].append(Worded(words, patient, denied))
    found = gain_over_words(kinds[True], kinds[False])
    return (
        *(found.trials, ratio(found.hits, found.trials), found.prior, found.gain),
        *(found.interval.low, found.interval.high),
        f"{_of_words(found, len(kinds[True]))}, 95 %",
    )


def _of_words(found: Gain, swapped: int) -> str:
    """Return the method of an interval, or why there is none."""
    if not isnan(found.interval.low):
        return "jackknife by patient"
    if not swapped:
        return "no trial"
    if found.trials:
        return "not estimable: without one of the patients nothing is left to compare"
    return "not estimable: the same words were asked of no other patient who has it"


@estimator("prediction-powered mean")
def prediction_powered_mean(seen: Seen) -> Sequence[object]:
    """Return a judge's mean score, and the mean corrected by human scores.

    The columns are the judge's scores and people's, within the range given by the
    option ``ends``; the corrected mean has an interval by ``cluster`` (Angelopoulos
    2023), whose name comes last.
    """
    judge, human = (or_none(seen.rows, column) for column in seen.of)
    clusters, ends = seen.rows[seen.options["cluster"]], seen.options["ends"]
    found = prediction_powered(judge, human, clusters, ends)
    bounds = found.interval.low, found.interval.high
    return ratio(sum(judge), len(judge)), found.value, *bounds, found.method


@estimator("judge agreement")
def agreement_with_judge(seen: Seen) -> Sequence[object]:
    """Return the agreement of a judge's scores with people's, for rows with both.

    The values are the share of equal scores, kappa, quadratic-weighted kappa, and kappa
    of each of the ``levels`` against all others.
    """
    judge, human = (or_none(seen.rows, column) for column in seen.of)
    found = judge_agreement(judge, human, seen.options["levels"])
    all_ = (found.same, found.kappa, found.weighted, *found.levels)
    return tuple(one.value for one in all_)
