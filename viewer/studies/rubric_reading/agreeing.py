"""How far two readers agree on each dimension (E001-16, table 3, figure 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from viewer.domain.rubric import LEVELS, Dimension, Grade, Grades
from viewer.metrics.agreement import Agreement, Weighting, gwet_ac
from viewer.metrics.cluster_bootstrap import ClusterEstimate, Resampling
from viewer.metrics.krippendorff import Scale, krippendorff_alpha
from viewer.metrics.rubric import (
    Spread,
    category_agreement,
    mean_absolute_difference,
    pair_counts,
    spread,
    weighted_kappa,
)
from viewer.metrics.seeding import generator
from viewer.studies.rubric_reading.final import pairs

_JITTER = 0.3
"""Greatest shift of a point from its whole score, either way."""


@dataclass(frozen=True)
class DimensionAgreement:
    """Both readers on one dimension, over what both graded.

    ``kappa`` has fixed labels 1 to 5 and quadratic weights, NaN where both gave one
    score only; ``mad`` is the mean absolute difference; both with intervals over tasks.
    ``by_level`` is the agreement on each score, 1 to 5.
    """

    dimension: Dimension
    n: int
    kappa: ClusterEstimate
    mad: ClusterEstimate
    ac2: Agreement
    alpha: Agreement
    by_level: tuple[float, ...]
    first: Spread
    second: Spread
    counts: Mapping[tuple[int, int], int]


def agreements(
    grades: Grades, first: str, second: str, resampling: Resampling
) -> tuple[DimensionAgreement, ...]:
    """Return a row for each dimension; outputs of one task are drawn together."""
    both = pairs(grades, first, second)
    return tuple(_of(dimension, both, resampling) for dimension in Dimension)


@dataclass(frozen=True, slots=True)
class AllReaders:
    """However many readers on one dimension; ``n`` outputs have two grades or more.

    Outputs of one grade count for how often a score is used in ``ac2``, and nowhere
    else.
    """

    dimension: Dimension
    readers: int
    n: int
    ac2: Agreement
    alpha: Agreement


def of_all_readers(grades: Grades) -> tuple[AllReaders, ...]:
    """Return a row for each dimension over every reader there is."""
    return tuple(_of_all(dimension, grades) for dimension in Dimension)


@dataclass(frozen=True, slots=True)
class JitteredPoint:
    """An output at both readers' scores, shifted so that none hides another."""

    dimension: Dimension
    x: float
    y: float


def jittered(
    grades: Grades, first: str, second: str, seed: int
) -> tuple[JitteredPoint, ...]:
    """Return the points of figure 5; the same seed gives the same shifts.

    A shift hangs on the output and the dimension, so that grades that are added move
    no other point.
    """
    return tuple(
        _point(dimension, a, b, seed)
        for dimension in Dimension
        for a, b in pairs(grades, first, second)
        if dimension in a.scores
    )


def _of_all(dimension: Dimension, grades: Grades) -> AllReaders:
    scores = {
        (grade.reader, (grade.output, grade.image)): grade.scores[dimension]
        for grade in grades.grades
        if dimension in grade.scores
    }
    readers = tuple(dict.fromkeys(reader for reader, _ in scores))
    outputs = tuple(dict.fromkeys(output for _, output in scores))
    raters = [[scores.get((r, output)) for output in outputs] for r in readers]
    twice = sum(
        sum(score is not None for score in given) > 1
        for given in zip(*raters, strict=True)
    )
    ac2 = gwet_ac(raters, LEVELS, Weighting.QUADRATIC)
    alpha = krippendorff_alpha(raters, LEVELS, Scale.ORDINAL)
    return AllReaders(dimension, len(readers), twice, ac2, alpha)


def _of(
    dimension: Dimension,
    both: Sequence[tuple[Grade, Grade]],
    resampling: Resampling,
) -> DimensionAgreement:
    graded = [(a, b) for a, b in both if dimension in a.scores]
    one = [a.scores[dimension] for a, _ in graded]
    two = [b.scores[dimension] for _, b in graded]
    tasks = [a.item for a, _ in graded]
    counts = pair_counts(one, two)
    return DimensionAgreement(
        dimension,
        len(graded),
        weighted_kappa(one, two, LEVELS, tasks, resampling),
        mean_absolute_difference(one, two, tasks, resampling),
        gwet_ac((one, two), LEVELS, Weighting.QUADRATIC),
        krippendorff_alpha((one, two), LEVELS, Scale.ORDINAL),
        category_agreement(one, two, LEVELS),
        spread(one),
        spread(two),
        {(a, b): counts.get((a, b), 0) for a in LEVELS for b in LEVELS},
    )


def _point(dimension: Dimension, a: Grade, b: Grade, seed: int) -> JitteredPoint:
    which = (a.model, a.item, str(a.image), *([str(a.repeat)] if a.repeat else ()))
    rng = generator(seed, "figure 5", dimension, *which)
    dx, dy = rng.uniform(-_JITTER, _JITTER, 2)
    x, y = a.scores[dimension], b.scores[dimension]
    return JitteredPoint(dimension, x + float(dx), y + float(dy))
