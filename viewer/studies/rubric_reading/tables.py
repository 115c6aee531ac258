"""The tables that grades fill: 1, 2 and 3 of the paper, and what stands beside them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from viewer.domain.report import Table
from viewer.domain.rubric import CODE_WORDS, LEVELS, FailureCode, Grades
from viewer.domain.task_selection import Answerable
from viewer.metrics.cluster_bootstrap import Resampling
from viewer.studies.rubric_reading.abstaining import abstentions
from viewer.studies.rubric_reading.agreeing import (
    DimensionAgreement,
    agreements,
    jittered,
    of_all_readers,
)
from viewer.studies.rubric_reading.comparing import (
    MeasureRow,
    MeasureTest,
    measure_rows,
    measure_tests,
    values_of,
)
from viewer.studies.rubric_reading.crosstab import style_by_content
from viewer.studies.rubric_reading.final import (
    OF_IMAGES,
    FinalScores,
    Measure,
    final_scores,
    main_and_second,
)
from viewer.studies.rubric_reading.params import ContentOrder, Params

TABLE_1: Final = (Measure.CONTENT, Measure.LANGUAGE)
TABLE_2: Final = (Measure.PROCESS, Measure.EXECUTION, Measure.SYNTHESIS)


@dataclass(frozen=True)
class Graded:
    """Everything that tables of grades are made of.

    ``models`` are those of the run, in its order; ``kinds`` says which tasks cannot be
    answered; ``second`` is None where one reader graded alone.
    """

    grades: Grades
    models: tuple[str, ...]
    kinds: Mapping[str, Answerable]
    params: Params
    seed: int
    finals: tuple[FinalScores, ...]
    main: str
    second: str | None

    @property
    def resampling(self) -> Resampling:
        """How agreement is bootstrapped."""
        return Resampling(self.params.replicates, self.seed)


def graded(
    grades: Grades,
    models: Sequence[str],
    kinds: Mapping[str, Answerable],
    params: Params,
    seed: int,
) -> Graded:
    """Return the grades of the models of a run; none at all raises WrongUseError."""
    own = Grades(
        tuple(grade for grade in grades.grades if grade.model in models),
        grades.withdrawn,
    )
    main, second = main_and_second(own, params.main_reader)
    finals = final_scores(own.grades)
    return Graded(own, tuple(models), kinds, params, seed, finals, main, second)


def grade_tables(given: Graded) -> tuple[Table, ...]:
    """Return every table; those of two readers are empty where one graded alone."""
    both = given.second is not None
    rows = agreements(given.grades, given.main, given.second or "", given.resampling)
    return (
        _means("table_1", TABLE_1, given),
        _means("table_2", TABLE_2, given),
        _tests(given),
        _shares(given),
        _images(given),
        _content_orders(given),
        _table_3(rows if both else ()),
        _agreement(rows if both else ()),
        _all_readers(given),
        _figure_3(given),
        _figure_5(rows if both else ()),
        _points(given),
        _style_by_content(given),
        _abstention(given),
        _codes(given),
    )


def rows_of(
    given: Graded, measures: Sequence[Measure], order: ContentOrder | None = None
) -> tuple[MeasureRow, ...]:
    """Return the means of a run's models, in the order chosen if not named."""
    chosen = order or given.params.content_order
    return measure_rows(given.finals, given.models, measures, chosen)


def tests_of(given: Graded) -> tuple[MeasureTest, ...]:
    """Return the five tests of every two models that were graded."""
    there = [m for m in given.models if any(f.model == m for f in given.finals)]
    return tuple(
        test
        for first, second in combinations(there, 2)
        for test in measure_tests(given.finals, first, second, given.params)
    )


def _means(name: str, measures: Sequence[Measure], given: Graded) -> Table:
    header = ("metric", "model", "n", "mean", "sd", "p_adjusted")
    adjusted = {test.measure: test.adjusted for test in tests_of(given)}
    known = adjusted if len(given.models) == 2 else {}
    rows = (
        (*_key(row), row.spread.n, row.spread.mean, row.spread.deviation)
        for row in rows_of(given, measures)
    )
    keys = [row.measure for row in rows_of(given, measures)]
    lines = ((*r, known.get(m)) for r, m in zip(rows, keys, strict=True))
    return Table(name, header, tuple(lines))


def _key(row: MeasureRow) -> tuple[str, str]:
    return row.measure.words, row.model


def _tests(given: Graded) -> Table:
    header = (
        *("metric", "first", "second", "n", "n_zero", "rank_sum_plus"),
        *("rank_sum_minus", "p", "p_adjusted", "effect", "mean_difference", "method"),
    )
    rows = (
        (
            *(one.measure.words, one.first, one.second, one.test.pairs),
            *(one.test.zeros, one.test.plus, one.test.minus, one.test.p_value),
            *(one.adjusted, one.test.effect, one.mean_difference),
            f"{one.test.method}; Benjamini-Hochberg over the declared five",
        )
        for one in tests_of(given)
    )
    return Table("tests", header, tuple(rows))


def _shares(given: Graded) -> Table:
    header = ("metric", "model", "n", "n_5", "share_5", "n_below_3", "share_below_3")
    rows = (
        (
            *(*_key(row), row.spread.n, row.fives.k, row.fives.rate),
            *(row.below_three.k, row.below_three.rate),
        )
        for row in rows_of(given, tuple(Measure))
    )
    return Table("shares", header, tuple(rows))


def _images(given: Graded) -> Table:
    header = ("metric", "model", "tasks", "images", "mean", "sd", "n_5", "share_5")
    rows = (
        (
            *(*_key(row), _tasks_with_images(given, row.model), row.spread.n),
            *(row.spread.mean, row.spread.deviation, row.fives.k, row.fives.rate),
        )
        for row in rows_of(given, OF_IMAGES)
    )
    return Table("images", header, tuple(rows))


def _tasks_with_images(given: Graded, model: str) -> int:
    return len({f.item for f in given.finals if f.model == model and f.image})


def _content_orders(given: Graded) -> Table:
    rows = (
        (row.model, str(order), row.spread.n, row.spread.mean, row.spread.deviation)
        for order in ContentOrder
        for row in rows_of(given, (Measure.CONTENT,), order)
    )
    return Table("content_orders", ("model", "order", "n", "mean", "sd"), tuple(rows))


def _table_3(rows: Sequence[DimensionAgreement]) -> Table:
    header = (
        *("category", "n", "qwk", "mad"),
        *("main_mean", "main_sd", "second_mean", "second_sd"),
    )
    lines = (
        (
            *(row.dimension.words, row.n, row.kappa.value, row.mad.value),
            *(row.first.mean, row.first.deviation),
            *(row.second.mean, row.second.deviation),
        )
        for row in rows
    )
    return Table("table_3", header, tuple(lines))


def _agreement(rows: Sequence[DimensionAgreement]) -> Table:
    header = (
        *("category", "n", "qwk", "qwk_low", "qwk_high", "mad", "mad_low", "mad_high"),
        *("ac2", "alpha", *(f"agreement_on_{level}" for level in LEVELS), "intervals"),
    )
    lines = (
        (
            *(row.dimension.words, row.n, row.kappa.value),
            *(row.kappa.bca.interval.low, row.kappa.bca.interval.high),
            *(row.mad.value, row.mad.bca.interval.low, row.mad.bca.interval.high),
            *(row.ac2.value, row.alpha.value, *row.by_level, row.kappa.bca.method),
        )
        for row in rows
    )
    return Table("agreement", header, tuple(lines))


def _all_readers(given: Graded) -> Table:
    lines = (
        (
            *(row.dimension.words, row.readers, row.n),
            *(row.ac2.value, row.alpha.value),
        )
        for row in of_all_readers(given.grades)
    )
    header = ("category", "readers", "n", "ac2", "alpha")
    return Table("agreement_of_all", header, tuple(lines))


def _figure_3(given: Graded) -> Table:
    rows = (
        (model, measure.words, score, count)
        for model in given.models
        for measure in Measure
        for score, count in distribution(given, model, measure).items()
    )
    return Table("figure_3", ("model", "metric", "score", "count"), tuple(rows))


def distribution(given: Graded, model: str, measure: Measure) -> Mapping[float, int]:
    """Return how many outputs have each final score, 1 to 5 in halves.

    A mean of three readers counts at the half that is next to it.
    """
    order = given.params.content_order
    found = [
        round(2 * value) / 2 for value in values_of(given.finals, model, measure, order)
    ]
    return {half / 2: found.count(half / 2) for half in range(2, 11)}


def _figure_5(rows: Sequence[DimensionAgreement]) -> Table:
    lines = (
        (row.dimension.words, main, second, count)
        for row in rows
        for (main, second), count in row.counts.items()
    )
    return Table("figure_5", ("category", "main", "second", "count"), tuple(lines))


def _points(given: Graded) -> Table:
    points = jittered(given.grades, given.main, given.second or "", given.seed)
    rows = ((point.dimension.words, point.x, point.y) for point in points)
    return Table("figure_5_points", ("category", "main", "second"), tuple(rows))


def _style_by_content(given: Graded) -> Table:
    header = (
        *("model", "images", "high_style_low_content", "share"),
        *("high_style_other", "low_content_other", "neither"),
    )
    found = (style_by_content(given.finals, m, given.params) for m in given.models)
    rows = (
        (
            *(one.model, one.images, one.high_low),
            one.high_low / one.images if one.images else None,
            *(one.high_other, one.other_low, one.other_other),
        )
        for one in found
    )
    return Table("style_by_content", header, tuple(rows))


def _abstention(given: Graded) -> Table:
    header = (
        *("model", "answerable", "n", "abstained", "appropriate"),
        *("share_appropriate", "unsaid"),
    )
    found = abstentions(given.grades.grades, given.kinds, given.models)
    rows = (
        (
            *(one.model, str(one.answerable), one.appropriate.n, one.abstained.k),
            *(one.appropriate.k, one.appropriate.rate, one.unsaid),
        )
        for one in found
    )
    return Table("abstention", header, tuple(rows))


def _codes(given: Graded) -> Table:
    rows = tuple(_coded(given))
    return Table("failure_codes", ("model", "code", "meaning", "outputs"), rows)


def _coded(given: Graded) -> Iterator[tuple[object, ...]]:
    """Yield how many outputs of each model some reader gave each code (E001-23)."""
    for model in given.models:
        for code in FailureCode:
            outputs = {
                grade.output
                for grade in given.grades.grades
                if grade.model == model and code in grade.codes
            }
            yield model, str(code), CODE_WORDS[code], len(outputs)
