"""Two models on the tasks that both delivered (E001-13 to -15, tables 1 and 2)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from viewer.metrics.multiplicity import benjamini_hochberg
from viewer.metrics.rubric import Share, Spread, below, perfect, spread
from viewer.metrics.signed_rank import SignedRank, signed_rank
from viewer.studies.rubric_reading.final import TESTED, FinalScores, Measure
from viewer.studies.rubric_reading.params import ContentOrder, Params

_FIVE, _THREE = 5, 3


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """A model's scores on one measure: their spread and two shares."""

    model: str
    measure: Measure
    order: ContentOrder
    spread: Spread
    fives: Share
    below_three: Share


@dataclass(frozen=True, slots=True)
class MeasureTest:
    """Two models on one measure; ``adjusted`` within the declared family of five.

    ``mean_difference`` is that of the first less the second on the common tasks.
    """

    first: str
    second: str
    measure: Measure
    test: SignedRank
    adjusted: float
    mean_difference: float


def measure_rows(
    finals: Sequence[FinalScores],
    models: Sequence[str],
    measures: Sequence[Measure],
    order: ContentOrder,
) -> tuple[MeasureRow, ...]:
    """Return a row for each model and measure, over every output that has it."""
    return tuple(
        _row(model, measure, order, finals) for model in models for measure in measures
    )


def measure_tests(
    finals: Sequence[FinalScores], first: str, second: str, params: Params
) -> tuple[MeasureTest, ...]:
    """Test the five measures on the tasks that both models' outputs were graded on.

    A task is one pair: where several repeats of it were graded, their mean is what is
    compared. Dimensions are never tested against one another (Banerjee 2025, 3.4).
    """
    one, two = _texts(finals, first), _texts(finals, second)
    common = [item for item in one if item in two]
    found = [
        _tested(measure, [one[i] for i in common], [two[i] for i in common], params)
        for measure in TESTED
    ]
    family = benjamini_hochberg([test.p_value for test, _ in found])
    return tuple(
        MeasureTest(first, second, measure, test, adjusted, gap)
        for measure, (test, gap), adjusted in zip(
            TESTED, found, family.adjusted, strict=True
        )
    )


def values_of(
    finals: Iterable[FinalScores], model: str, measure: Measure, order: ContentOrder
) -> list[float]:
    """Return a model's final scores on a measure, in the order graded."""
    values = (f.value(measure, order) for f in finals if f.model == model)
    return [value for value in values if value is not None]


def _row(
    model: str, measure: Measure, order: ContentOrder, finals: Sequence[FinalScores]
) -> MeasureRow:
    values = values_of(finals, model, measure, order)
    shares = perfect(values, _FIVE), below(values, _THREE)
    return MeasureRow(model, measure, order, spread(values), *shares)


def _texts(
    finals: Sequence[FinalScores], model: str
) -> Mapping[str, list[FinalScores]]:
    """Return the final scores of a model's texts by task, a repeat each."""
    found: dict[str, list[FinalScores]] = defaultdict(list)
    for final in finals:
        if final.model == model and final.image is None:
            found[final.item].append(final)
    return found


def _tested(
    measure: Measure,
    one: Sequence[Sequence[FinalScores]],
    two: Sequence[Sequence[FinalScores]],
    params: Params,
) -> tuple[SignedRank, float]:
    order = params.content_order
    first, second = ([_of_task(f, measure, order) for f in side] for side in (one, two))
    gap = spread(first).mean - spread(second).mean
    return signed_rank(first, second, params.zero_method), gap


def _of_task(
    repeats: Sequence[FinalScores], measure: Measure, order: ContentOrder
) -> float:
    values = (final.value(measure, order) or 0.0 for final in repeats)
    return sum(values) / len(repeats)
