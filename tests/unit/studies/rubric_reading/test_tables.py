from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import wilcoxon
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.multitest import multipletests

from tests.helpers.rubric_agreement import (
    ac2_ends,
    ac2_of_all,
    alpha_ends,
    alpha_of_all,
)
from viewer.domain.rubric import Dimension, Grade, Grades, dimensions_of
from viewer.domain.task_selection import Answerable
from viewer.metrics.signed_rank import ZeroMethod
from viewer.results.evaluate import evaluate_all
from viewer.studies.rubric_reading.final import TESTED, Measure, main_and_second
from viewer.studies.rubric_reading.graded import Graded, grade_frames
from viewer.studies.rubric_reading.params import read_params
from viewer.studies.rubric_reading.tables import grade_specs

TOLERANCE = 1e-12
Row = Mapping[str, Any]


def tables_of(
    grades: Sequence[Grade],
    kinds: Mapping[str, Answerable] | None = None,
    seed: int = 1,
    **overrides: object,
) -> Mapping[str, list[Row]]:
    """Return the rows of every table of some grades by its name."""
    params = read_params("rexecution2025", overrides)
    models = tuple(dict.fromkeys(grade.model for grade in grades))
    given = Grades(tuple(grades))
    readers = main_and_second(given)
    graded = Graded(given, models, kinds or {}, {}, params, seed, *readers)
    tables = evaluate_all(grade_specs(graded), grade_frames(graded))
    return {
        table.name: [dict(zip(table.header, row, strict=True)) for row in table.rows]
        for table in tables
    }


def by(rows: Sequence[Row], key: str) -> Mapping[str, Row]:
    return {row[key]: row for row in rows}


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


@pytest.mark.statement("E001-14")
@pytest.mark.parametrize("zero", list(ZeroMethod))
def test_that_both_models_are_tested_on_common_tasks_and_adjusted_over_five(
    zero: ZeroMethod,
) -> None:
    grades = drawn(8)
    tables = tables_of(grades, zero_method=str(zero), p_method="normal")
    found = tables["tests"]
    assert [row["metric"] for row in found] == [one.words for one in TESTED]
    assert {(row["first"], row["second"]) for row in found} == {("o3", "med")}
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
    assert all(row["n"] == 24 for row in found)
    assert all(row["n_zero"] > 0 for row in found)
    gaps = [abs(a["p"] - b) for a, b in zip(found, expected, strict=True)]
    gaps += [abs(a["p_adjusted"] - b) for a, b in zip(found, adjusted, strict=True)]
    assert max(gaps) < TOLERANCE
    printed = [*tables["table_1"], *tables["table_2"]]
    assert {(row["metric"], row["p_adjusted"]) for row in printed} == {
        (row["metric"], row["p_adjusted"]) for row in found
    }


@pytest.mark.statement("E001-16")
def test_that_however_many_readers_there_are_agree_as_by_definition() -> None:
    rng = np.random.default_rng(4)
    given = [
        text("o3", f"s{i}", rng.integers(2, 6, 4).tolist(), reader)
        for reader, n in (("A", 12), ("B", 9), ("C", 5))
        for i in range(n)
    ]
    found = by(tables_of(given)["agreement_of_all"], "category")
    for dimension in dimensions_of(None):
        units = [
            [g.scores[dimension] for g in given if g.item == f"s{i}"] for i in range(12)
        ]
        row = found[dimension.words]
        assert (row["readers"], row["n"]) == (3, 9)
        assert abs(row["ac2"] - float(ac2_of_all(units))) < TOLERANCE
        assert abs(row["alpha"] - float(alpha_of_all(units))) < TOLERANCE
        items = [f"s{i}" for i in range(12)]  # each is its own patient
        for name, ends in (("ac2", ac2_ends), ("alpha", alpha_ends)):
            told = row[f"{name}_low"], row[f"{name}_high"]
            assert told == pytest.approx(ends(units, items), abs=1e-9)
    assert found["Image Style"]["readers"] == 0
    assert found["Image Style"]["alpha"] is None
    assert found["Image Style"]["alpha_method"].endswith("no unit was rated twice")


def test_that_models_without_a_common_task_are_not_compared() -> None:
    grades = [text("a", "s1", (1, 2, 3, 4)), text("b", "s2", (1, 2, 3, 4))]
    found = tables_of(grades)["tests"]
    assert [row["n"] for row in found] == [0] * 5
    assert all(row["p"] is None and row["p_adjusted"] is None for row in found)


@pytest.mark.statement("E001-13", "E001-15")
def test_that_rows_have_mean_deviation_and_shares_over_every_output() -> None:
    grades = [text("o3", "s1", (5, 5, 5, 4)), text("o3", "s2", (5, 2, 4, 5))]
    grades += [text("o3", "s1", (5, 4, 5, 5), reader="B"), image("o3", "s1", 1, 1, 5)]
    tables = tables_of(grades)
    content, language = tables["table_1"]
    assert (content["mean"], content["n"]) == ((4.5 + 2) / 2, 2)
    assert abs(content["sd"] - 2.5 / 2**0.5) < TOLERANCE
    assert (language["metric"], language["p_adjusted"]) == ("Language", None)
    found = by(tables["shares"], "metric")
    assert [row["metric"] for row in tables["shares"]] == [m.words for m in Measure]
    assert (found["Content"]["n_5"], found["Content"]["n_below_3"]) == (0, 1)
    assert (found["Language"]["n_5"], found["Process"]["n_5"]) == (1, 2)
    image_content, style = tables["images"]
    assert (image_content["tasks"], image_content["images"]) == (1, 1)
    assert style["share_5"] == 1


@pytest.mark.statement("E001-13")
def test_that_five_is_exactly_five_and_below_three_takes_halves() -> None:
    scores = ((5, 5), (5, 4), (3, 2), (3, 3), (5, 5))
    grades = [
        text("o3", f"s{i}", (4, 4, 4, score), reader)
        for i, pair in enumerate(scores)
        for reader, score in zip("AB", pair, strict=True)
    ]
    tables = tables_of(grades)
    row = by(tables["shares"], "metric")["Language"]
    assert (row["n_5"], row["n_below_3"], row["n"]) == (2, 1, 5)
    assert (row["share_5"], row["share_below_3"]) == (0.4, 0.2)
    assert by(tables["shares"], "metric")["Image Style"]["share_5"] is None
    counts = {
        row["score"]: row["count"]
        for row in tables["figure_3"]
        if row["metric"] == "Language"
    }
    halves = {2.5: 1, 3.0: 1, 4.5: 1, 5.0: 2}
    assert counts == {half / 2: halves.get(half / 2, 0) for half in range(2, 11)}


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
    tables = tables_of([*grades, *second])
    third, figure = by(tables["table_3"], "category"), tables["figure_5"]
    found = by(tables["agreement"], "category")
    assert list(found) == list(third) == [one.words for one in Dimension]
    for dimension in dimensions_of(None):
        row, name = third[dimension.words], dimension.words
        one = [g.scores[dimension] for g in grades[::2]]
        two = [g.scores[dimension] for g in second]
        theirs = cohen_kappa_score(
            one, two, labels=[1, 2, 3, 4, 5], weights="quadratic"
        )
        difference = float(np.mean(np.abs(np.subtract(one, two))))
        assert abs(row["qwk"] - theirs) < TOLERANCE
        assert abs(row["mad"] - difference) < TOLERANCE
        assert abs(row["main_sd"] - float(np.std(one, ddof=1))) < TOLERANCE
        assert abs(row["second_mean"] - float(np.mean(two))) < TOLERANCE
        counts = [cell["count"] for cell in figure if cell["category"] == name]
        assert row["n"] == sum(counts) == 27
        assert len(counts) == 25
        exact = found[name]
        assert exact["qwk_low"] <= exact["qwk"] == row["qwk"] <= exact["qwk_high"]
        assert -1 <= exact["alpha"] <= 1
        assert -1 <= exact["ac2"] <= 1
        assert 0 <= exact["agreement_on_5"] <= 1
    assert (third["Image Content"]["n"], third["Image Content"]["qwk"]) == (0, None)


@pytest.mark.statement("E001-17")
def test_that_points_are_shifted_the_same_every_time() -> None:
    one, two = text("o3", "s1", (5, 2, 4, 3)), text("o3", "s1", (4, 2, 4, 3), "B")
    points = tables_of([one, two], seed=3)["figure_5_points"]
    names = [dimension.words for dimension in dimensions_of(None)]
    assert [point["category"] for point in points] == names
    for grade, reader in ((one, "main"), (two, "second")):
        wholes = [grade.scores[dimension] for dimension in dimensions_of(None)]
        gaps = [abs(p[reader] - n) for p, n in zip(points, wholes, strict=True)]
        assert max(gaps) <= 0.3
    more = [text("o3", "s0", (1, 1, 1, 1)), one, two]
    assert tables_of(more, seed=3)["figure_5_points"] == points
    assert tables_of(more, seed=4)["figure_5_points"] != points


@pytest.mark.statement("E001-24")
def test_that_images_of_high_style_and_low_content_are_counted() -> None:
    cells = ((1, 5), (3, 4), (5, 5), (4, 2), (2, 3))
    grades = [image("o3", "s1", n, *cell) for n, cell in enumerate(cells, 1)]
    grades += [text("o3", "s1", (1, 1, 1, 1)), image("other", "s1", 1, 1, 5)]
    found = by(tables_of(grades)["style_by_content"], "model")["o3"]
    assert (found["high_style_low_content"], found["high_style_other"]) == (2, 1)
    assert (found["low_content_other"], found["neither"]) == (1, 1)
    assert (found["images"], found["share"]) == (5, 2 / 5)


@pytest.mark.statement("E001-19")
def test_that_abstaining_is_right_where_a_task_cannot_be_answered() -> None:
    scores = (3, 3, 3, 3)
    said = (("s1", True), ("s2", False), ("s3", True), ("s4", None), ("s5", False))
    grades = [text("o3", item, scores, abstained=word) for item, word in said]
    grades += [text("o3", "s3", scores, "B", abstained=False)]
    kinds = {"s1": Answerable.NO, "s2": Answerable.NO, "s3": Answerable.TRICK}
    found = by(tables_of(grades, kinds)["abstention"], "answerable")
    assert (found["no"]["appropriate"], found["no"]["n"]) == (1, 2)
    assert (found["trick"]["n"], found["trick"]["unsaid"]) == (0, 1)
    yes = found["yes"]
    assert (yes["abstained"], yes["appropriate"], yes["n"]) == (0, 1, 1)
    assert yes["unsaid"] == 1
