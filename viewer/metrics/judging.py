"""How good an automatic judge is: agreement with people, and its mean corrected.

Prediction-powered inference (Angelopoulos et al., Science 2023): the judge's mean over
all items plus the mean error found in the items that people scored.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import hypot, nan

from viewer.metrics.agreement import (
    Agreement,
    Weighting,
    cohen_kappa,
    percent_agreement,
)
from viewer.metrics.estimate import Estimate, percent
from viewer.metrics.intervals import Interval
from viewer.metrics.pairing import bounded_mean


@dataclass(frozen=True)
class JudgeAgreement:
    """Agreement of a judge's levels with people's, over the items that both scored.

    ``levels`` holds κ of each level against all others, in the levels' order.
    """

    same: Agreement
    kappa: Agreement
    weighted: Agreement
    levels: tuple[Agreement, ...]


def judge_agreement(
    judge: Sequence[Hashable | None],
    human: Sequence[Hashable | None],
    levels: Sequence[Hashable],
) -> JudgeAgreement:
    """Return the agreement of two lists of levels; None means not scored."""
    return JudgeAgreement(
        percent_agreement(judge, human, levels),
        cohen_kappa(judge, human, levels),
        cohen_kappa(judge, human, levels, Weighting.QUADRATIC),
        tuple(_of_level(judge, human, level) for level in levels),
    )


def prediction_powered(
    judge: Sequence[float],
    human: Sequence[float | None],
    clusters: Sequence[Hashable],
    ends: tuple[float, float],
    confidence: float = 0.95,
) -> Estimate:
    """Return an estimate of the mean that people would give, with its interval.

    mean(judge) + mean(human − judge over the labelled). With f the labelled share, that
    is the mean of human − (1 − f)·judge over the labelled plus (1 − f)·mean(judge) over
    the others: two independent means of bounded scores, each with the interval of
    :func:`bounded_mean`, whose half widths are added in squares (Zou and Donner 2008),
    or plainly if a cluster is in both. Student's interval covered 39 % where judge and
    people agreed on all of five labels.

    Parameters
    ----------
    judge : sequence of float
        The judge's score of every item.
    human : sequence of float or None
        People's score of the same items, None if not scored. The scored items are
        assumed to be a random sample.
    clusters : sequence
        Each item's case.
    ends : float, float
        The least and the greatest score.

    Raises
    ------
    ValueError
        If the two lengths differ.
    """
    if len(judge) != len(human):
        raise ValueError("the judge and people did not see the same items")
    rows = [*zip(clusters, judge, human, strict=True)]
    labelled = [(c, j, h) for c, j, h in rows if h is not None]
    method = f"prediction-powered, {len(labelled)} labelled, {percent(confidence)}"
    if not labelled:
        return Estimate(nan, Interval(nan, nan), method)
    errors = [h - j for _, j, h in labelled]
    value = sum(judge) / len(judge) + sum(errors) / len(errors)
    rest = 1 - len(labelled) / len(rows)
    reach = ends[0] - rest * ends[1], ends[1] - rest * ends[0]
    corrected = [(c, h - rest * j) for c, j, h in labelled]
    others = [(c, j) for c, j, h in rows if h is None]
    known, unknown = {c for c, _ in corrected}, {c for c, _ in others}
    if len(known) < 2:
        why = "not estimable from one labelled case"
        return Estimate(value, Interval(nan, nan), f"{why}, {method}")
    reached = _reaches(corrected, reach, confidence)
    added = (rest * one for one in _reaches(others, ends, confidence))
    down, up = (
        a + b if known & unknown else hypot(a, b)
        for a, b in zip(reached, added, strict=True)
    )
    interval = Interval(max(value - down, ends[0]), min(value + up, ends[1]))
    return Estimate(value, interval, method)


def _reaches(
    scores: Sequence[tuple[Hashable, float]],
    ends: tuple[float, float],
    confidence: float,
) -> tuple[float, float]:
    """Return a mean's lower and upper half widths, limited to the range of a score."""
    if not scores:
        return 0.0, 0.0
    by: dict[Hashable, list[float]] = defaultdict(list)
    for cluster, score in scores:
        by[cluster].append(score)
    found = bounded_mean(by.values(), ends, confidence)
    low, high = found.interval.low, found.interval.high
    low, high = ends if len(by) < 2 else (low, high)
    return found.value - low, high - found.value


def _of_level(
    judge: Sequence[Hashable | None], human: Sequence[Hashable | None], level: Hashable
) -> Agreement:
    def is_level(scores: Sequence[Hashable | None]) -> list[bool | None]:
        return [None if score is None else score == level for score in scores]

    return cohen_kappa(is_level(judge), is_level(human), (False, True))
