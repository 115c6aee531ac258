"""Estimators of grades: their spread, paired tests, and the agreement of readers."""

from collections.abc import Sequence
from math import nan
from typing import Any, Final

from viewer.domain.rubric import LEVELS
from viewer.metrics.agreement import (
    Agreement,
    Clusters,
    Ratings,
    Weighting,
    gwet_ac,
)
from viewer.metrics.estimate import Estimate
from viewer.metrics.krippendorff import Scale, krippendorff_alpha
from viewer.metrics.multiplicity import benjamini_hochberg
from viewer.metrics.rubric import (
    category_agreement,
    mean_absolute_difference,
    spread,
)
from viewer.metrics.signed_rank import (
    PMethod,
    SignedRank,
    ZeroMethod,
    signed_rank,
)
from viewer.results.estimators import Seen, estimator
from viewer.results.frame import Frame

SPREAD: Final = "spread"
SIGNED_RANK: Final = "signed rank"
ADJUSTED_P: Final = "adjusted p"
ABSOLUTE_DIFFERENCE: Final = "mean absolute difference"
OF_TWO: Final = "agreement of two"
OF_READERS: Final = "agreement of readers"


@estimator(SPREAD)
def mean_and_deviation(seen: Seen) -> Sequence[object]:
    """Return mean and standard deviation with n - 1 of a column."""
    found = spread(seen.values())
    return found.mean, found.deviation


@estimator(SIGNED_RANK)
def signed_rank_test(seen: Seen) -> Sequence[object]:
    """Return Wilcoxon's test of two columns over the rows that have both.

    The values are the pairs, those without a difference, the rank sums of positive and
    negative ones, the p-value, and the one adjusted by Benjamini and Hochberg over the
    values of ``family`` among the rows it is compared with; then the matched-pairs
    rank-biserial correlation, the difference of means, and the method. Pairs of one
    ``cluster`` are not assumed independent.
    """
    found = _tested(seen, seen.rows)
    one, other = _both(seen, seen.rows)
    return (
        *(found.pairs, found.zeros, found.plus, found.minus, found.p_value),
        *(*adjusted_p(seen), found.effect, spread(one).mean - spread(other).mean),
        f"{found.method}; Benjamini-Hochberg over the declared five",
    )


@estimator(ADJUSTED_P)
def adjusted_p(seen: Seen) -> Sequence[object]:
    """Return the p-value of "signed rank" adjusted over its family."""
    own, every, family = seen.rows, seen.others, seen.options["family"]
    if every is None or not own:
        return (nan,)
    groups = every.groups(family)
    tests = [_tested(seen, rows) for rows in groups.values()]
    adjusted = benjamini_hochberg([test.p_value for test in tests]).adjusted
    return (adjusted[[*groups].index((own[family][0],))],)


@estimator(ABSOLUTE_DIFFERENCE)
def absolute_difference(seen: Seen) -> Sequence[object]:
    """Return the mean absolute difference of two readers, its interval and method."""
    clusters = seen.rows[seen.options["cluster"]]
    one, two, most = seen.values(0), seen.values(1), LEVELS[-1] - LEVELS[0]
    return _estimate(mean_absolute_difference(one, two, clusters, most))


@estimator(OF_TWO)
def agreement_of_two(seen: Seen) -> Sequence[object]:
    """Return AC2, ordinal alpha and the agreement on each level of two readers.

    Each coefficient is followed by its interval and method.
    """
    both = seen.values(0), seen.values(1)
    clusters = seen.rows[seen.options["cluster"]]
    return *_coefficients(both, clusters), *category_agreement(*both, LEVELS)


@estimator(OF_READERS)
def agreement_of_readers(seen: Seen) -> Sequence[object]:
    """Return how many readers, outputs graded twice or more, AC2 and ordinal alpha.

    Each coefficient is followed by its interval and method. The columns are reader,
    output and score. Outputs with one grade count only for the frequency of scores in
    AC2.
    """
    whose = dict(seen.rows.each(seen.of[1], seen.options["cluster"]))
    scores = {(who, unit): score for who, unit, score in seen.rows.each(*seen.of)}
    readers = tuple(dict.fromkeys(reader for reader, _ in scores))
    units = tuple(dict.fromkeys(unit for _, unit in scores))
    raters = [[scores.get((who, unit)) for unit in units] for who in readers]
    twice = sum(
        sum(score is not None for score in given) > 1
        for given in zip(*raters, strict=True)
    )
    clusters = [whose[unit] for unit in units]
    return len(readers), twice, *_coefficients(raters, clusters)


def _tested(seen: Seen, rows: Frame) -> SignedRank:
    zeros = ZeroMethod(seen.options["zero_method"])
    p = PMethod(seen.options["p_method"])
    clusters = rows.complete(*seen.of)[seen.options["cluster"]]
    return signed_rank(*_both(seen, rows), zeros, p, clusters)


def _both(seen: Seen, rows: Frame) -> tuple[Sequence[Any], Sequence[Any]]:
    both, (one, other) = rows.complete(*seen.of), seen.of
    return both[one], both[other]


def _coefficients(raters: Sequence[Ratings], clusters: Clusters) -> tuple[object, ...]:
    ac2 = gwet_ac(raters, LEVELS, Weighting.QUADRATIC, clusters)
    alpha = krippendorff_alpha(raters, LEVELS, Scale.ORDINAL, clusters)
    return *_agreed(ac2), *_agreed(alpha)


def _agreed(found: Agreement) -> tuple[object, ...]:
    why = f", {found.reason}" if found.reason else ""
    return (
        *(found.value, found.interval.low, found.interval.high),
        f"{found.method}{why}",
    )


def _estimate(found: Estimate) -> tuple[object, ...]:
    return found.value, found.interval.low, found.interval.high, found.method
