from collections.abc import Sequence
from math import isnan

import numpy as np
import pytest
from scipy.stats import wilcoxon
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

from tests.helpers.rubric_agreement import ac2_of_all, alpha_of_all
from viewer.domain.rubric import Dimension, Grade, Grades, dimensions_of
from viewer.domain.task_selection import Answerable
from viewer.metrics.cluster_bootstrap import Resampling
from viewer.metrics.signed_rank import ZeroMethod
from viewer.studies.rubric_reading.abstaining import abstentions
from viewer.studies.rubric_reading.agreeing import (
    agreements,
    jittered,
    of_all_readers,
)
from viewer.studies.rubric_reading.comparing import (
    MeasureTest,
    measure_rows,
    measure_tests,
)
from viewer.studies.rubric_reading.crosstab import style_by_content
from viewer.studies.rubric_reading.final import (
    OF_IMAGES,
    TESTED,
    Measure,
    final_scores,
)
from viewer.studies.rubric_reading.params import ContentOrder, read_params

PAPER = read_params("rexecution2025", {})
FEW = Resampling(50, 1)
TOLERANCE = 1e-12


def text(
    model: str,
    item: str,
    scores: Sequence[int],
    reader: str = "A",
    abstained: bool | None = None,
) -> Grade:
    of = dict(zip(dimensions_of(None), scores, strict=True))
    return Grade(reader, model, item, None, of, abstained=abstained)


def image(model: str, item: str, n: int, content: int, style: int) -> Grade:
    scores = {Dimension.IMAGE_CONTENT: content, Dimension.IMAGE_STYLE: style}
    return Grade("A", model, item, n, scores)


def drawn(seed: int, n: int = 30, missing: int = 6) -> list[Grade]:
    """Return grades of two models; the second delivered ``missing`` outputs fewer."""
    rng = np.random.default_rng(seed)
    return [
        text(model, f"s{i}", rng.integers(1, 6, 4).tolist())
        for model, first in (("o3", 0), ("med", missing))
        for i in range(first, n)
    ]


def compared(zero: ZeroMethod) -> tuple[list[Grade], tuple[MeasureTest, ...]]:
    grades = drawn(8)
    params = read_params("rexecution2025", {"zero_method": str(zero)})
    return grades, measure_tests(final_scores(grades), "o3", "med", params)


@pytest.mark.statement("E001-14")
@pytest.mark.parametrize("zero", list(ZeroMethod))
def test_that_both_models_are_tested_on_common_tasks_and_adjusted_over_five(
    zero: ZeroMethod,
) -> None:
    grades, found = compared(zero)
    assert [one.measure for one in found] == list(TESTED)
    by_item = {(g.model, g.item): g for g in grades}
    expected = []
    for measure in TESTED:
        pairs = [
            [
                g.content
                if measure is Measure.CONTENT
                else g.scores[Dimension(measure)]
                for g in (by_item["o3", f"s{i}"], by_item["med", f"s{i}"])
            ]
            for i in range(6, 30)
        ]
        one, two = zip(*pairs, strict=True)
        result = wilcoxon(one, two, zero, method="asymptotic", correction=False)
        expected.append(float(result.pvalue))
    adjusted = multipletests(expected, method="fdr_bh")[1]
    assert all(one.test.pairs == 24 for one in found)
    assert all(one.test.zeros > 0 for one in found)
    gaps = [abs(a.test.p_value - b) for a, b in zip(found, expected, strict=True)]
    gaps += [abs(a.adjusted - b) for a, b in zip(found, adjusted, strict=True)]
    assert max(gaps) < TOLERANCE


@pytest.mark.statement("E001-16")
def test_that_however_many_readers_there_are_agree_as_by_definition() -> None:
    rng = np.random.default_rng(4)
    given = [
        text("o3", f"s{i}", rng.integers(2, 6, 4).tolist(), reader)
        for reader, n in (("A", 12), ("B", 9), ("C", 5))
        for i in range(n)
    ]
    found = {row.dimension: row for row in of_all_readers(Grades(tuple(given)))}
    for dimension in dimensions_of(None):
        units = [
            [g.scores[dimension] for g in given if g.item == f"s{i}"] for i in range(12)
        ]
        row = found[dimension]
        assert (row.readers, row.n) == (3, 9)
        assert abs(row.ac2.value - float(ac2_of_all(units))) < TOLERANCE
        assert abs(row.alpha.value - float(alpha_of_all(units))) < TOLERANCE
    assert found[Dimension.IMAGE_STYLE].readers == 0
    assert isnan(found[Dimension.IMAGE_STYLE].alpha.value)


def test_that_models_without_a_common_task_are_not_compared() -> None:
    finals = final_scores(
        [text("a", "s1", (1, 2, 3, 4)), text("b", "s2", (1, 2, 3, 4))]
    )
    found = measure_tests(finals, "a", "b", PAPER)
    assert all(isnan(one.test.p_value) and isnan(one.adjusted) for one in found)


@pytest.mark.statement("E001-13", "E001-15")
def test_that_rows_have_mean_deviation_and_shares_over_every_output() -> None:
    grades = [text("o3", "s1", (5, 5, 5, 4)), text("o3", "s2", (5, 2, 4, 5))]
    grades += [text("o3", "s1", (5, 4, 5, 5), reader="B"), image("o3", "s1", 1, 1, 5)]
    order = ContentOrder.AVERAGE_FIRST
    rows = measure_rows(final_scores(grades), ("o3",), tuple(Measure), order)
    found = {row.measure: row for row in rows}
    content = found[Measure.CONTENT]
    assert (content.spread.mean, content.spread.n) == ((4.5 + 2) / 2, 2)
    assert abs(content.spread.deviation - 2.5 / 2**0.5) < TOLERANCE
    assert (content.fives.k, content.below_three.k) == (0, 1)
    assert (found[Measure.LANGUAGE].fives.k, found[Measure.PROCESS].fives.k) == (1, 2)
    assert found[Measure.IMAGE_CONTENT].spread.n == 1
    assert found[OF_IMAGES[1]].fives.rate == 1


@pytest.mark.statement("E001-16", "E001-17")
def test_that_agreement_is_over_what_both_readers_graded() -> None:
    grades = drawn(9)
    rng = np.random.default_rng(10)
    second = [
        text(
            g.model,
            g.item,
            [int(np.clip(s + rng.integers(-1, 2), 1, 5)) for s in g.scores.values()],
            reader="B",
        )
        for g in grades[::2]
    ]
    found = agreements(Grades((*grades, *second)), "A", "B", FEW)
    assert [row.dimension for row in found] == list(Dimension)
    for row in found[:4]:
        one = [g.scores[row.dimension] for g in grades[::2]]
        two = [g.scores[row.dimension] for g in second]
        theirs = cohen_kappa_score(
            one, two, labels=[1, 2, 3, 4, 5], weights="quadratic"
        )
        assert abs(row.kappa.value - theirs) < TOLERANCE
        assert (
            abs(row.mad.value - float(np.mean(np.abs(np.subtract(one, two))))) < 1e-12
        )
        assert abs(row.first.deviation - float(np.std(one, ddof=1))) < TOLERANCE
        assert row.n == sum(row.counts.values()) == 27
        assert -1 <= row.alpha.value <= 1
        assert -1 <= row.ac2.value <= 1
        assert len(row.by_level) == 5
    assert found[4].n == 0
    assert isnan(found[4].kappa.value)


@pytest.mark.statement("E001-17")
def test_that_points_are_shifted_the_same_every_time() -> None:
    one, two = text("o3", "s1", (5, 2, 4, 3)), text("o3", "s1", (4, 2, 4, 3), "B")
    points = jittered(Grades((one, two)), "A", "B", 3)
    assert len(points) == 4
    assert all(abs(p.x - one.scores[p.dimension]) <= 0.3 for p in points)
    assert all(abs(p.y - two.scores[p.dimension]) <= 0.3 for p in points)
    more = Grades((text("o3", "s0", (1, 1, 1, 1)), one, two))
    assert jittered(more, "A", "B", 3) == points
    assert jittered(more, "A", "B", 4) != points


@pytest.mark.statement("E001-24")
def test_that_images_of_high_style_and_low_content_are_counted() -> None:
    cells = ((1, 5), (3, 4), (5, 5), (4, 2), (2, 3))
    grades = [image("o3", "s1", n, *cell) for n, cell in enumerate(cells, 1)]
    grades += [text("o3", "s1", (1, 1, 1, 1)), image("other", "s1", 1, 1, 5)]
    found = style_by_content(final_scores(grades), "o3", PAPER)
    assert (found.high_low, found.high_other) == (2, 1)
    assert (found.other_low, found.other_other) == (1, 1)
    assert found.images == 5


@pytest.mark.statement("E001-19")
def test_that_abstaining_is_right_where_a_task_cannot_be_answered() -> None:
    scores = (3, 3, 3, 3)
    said = (("s1", True), ("s2", False), ("s3", True), ("s4", None), ("s5", False))
    grades = [text("o3", item, scores, abstained=word) for item, word in said]
    grades += [text("o3", "s3", scores, "B", abstained=False)]
    kinds = {"s1": Answerable.NO, "s2": Answerable.NO, "s3": Answerable.TRICK}
    found = {row.answerable: row for row in abstentions(grades, kinds, ("o3",))}
    assert (found[Answerable.NO].appropriate.k, found[Answerable.NO].abstained.n) == (
        1,
        2,
    )
    assert (found[Answerable.TRICK].abstained.n, found[Answerable.TRICK].unsaid) == (
        0,
        1,
    )
    yes = found[Answerable.YES]
    assert (yes.abstained.k, yes.appropriate.k, yes.appropriate.n) == (0, 1, 1)
    assert yes.unsaid == 1
