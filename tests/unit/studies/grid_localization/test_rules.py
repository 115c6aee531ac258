"""Every kind of answer under the same rules, as tables (X-03, M-08)."""

import pytest

from tests.helpers.tabled import Row, rows_of
from tests.unit.studies.grid_localization.cases import spec
from viewer.domain.answer import Status
from viewer.domain.geometry import PointPx
from viewer.domain.image_geometry import SpacingMeaning
from viewer.domain.report import ReportData, Table
from viewer.domain.result import Measures, Outcome, Score
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.placed import Placed, PlacedTrial


def result(
    n: int, measures: Measures | None, *, model: str = "m", status: Status | None = None
) -> PlacedTrial:
    hit = measures is not None and measures.cell_hit
    settled = Status.SCORED_CORRECT if hit else Status.SCORED_WRONG
    outcome = Outcome.FULL if hit else Outcome.MISS
    return PlacedTrial(
        item=f"i{n:02d}|Edema",
        patient=f"p{n:02d}",
        image=f"i{n:02d}",
        view="frontal",
        finding="Edema",
        condition="grid=8",
        repeat=0,
        model=model,
        score=Score(status or settled, answer="D4", outcome=outcome),
        request_sha256="0" * 64,
        placed=Placed(64, 27, (27,), measures=measures),
    )


def met(
    *, cell: bool, pointing: bool, iou: float | None = None, kind: str = "point"
) -> Measures:
    dice = None if iou is None else 2 * iou / (1 + iou)
    uncropped = None if iou is None else 0.75 * iou
    return Measures(
        *(kind, PointPx(1, 2), cell, pointing, iou, dice, 3.0, 0.6),
        *(SpacingMeaning.PATIENT, uncropped),
    )


def report(results: list[PlacedTrial]) -> ReportData:
    return study_named("grid_localization").report(
        results, spec(replicates=2, paper_replicates=2)
    )


def tables(results: list[PlacedTrial]) -> dict[str, Table]:
    """Return the tables of answers of every kind."""
    made = {table.name: table for table in report(results).tables}
    return {name: made[name] for name in ("geometry", "rules") if name in made}


def rule_rows(results: list[PlacedTrial]) -> list[Row]:
    return rows_of(tables(results)["rules"])


SEVEN_OF_TWENTY = [
    *(result(n, met(cell=True, pointing=False)) for n in range(4)),
    *(result(n, met(cell=False, pointing=True)) for n in range(4, 7)),
    *(result(n, met(cell=True, pointing=True)) for n in range(7, 12)),
    *(result(n, met(cell=False, pointing=False)) for n in range(12, 20)),
]


@pytest.mark.statement("X-03")
def test_that_seven_of_twenty_disagree_in_both_exported_columns() -> None:
    geometry, by_rule = tables(SEVEN_OF_TWENTY).values()
    cell, pointing = (geometry.header.index(n) for n in ("cell_hit", "pointing_hit"))
    assert sum(row[cell] != row[pointing] for row in geometry.rows) == 7
    edema = dict(zip(by_rule.header, by_rule.rows[0], strict=True))
    assert (edema["finding"], edema["n"]) == ("Edema", 20)
    assert (edema["k_cell"], edema["k_pointing"]) == (9, 8)
    assert (edema["n_iou"], edema["k_iou"]) == (0, 0)


def test_that_a_trial_without_an_answer_is_a_miss_under_every_rule() -> None:
    found = [
        result(0, met(cell=True, pointing=True, iou=0.5, kind="boxes")),
        result(1, met(cell=True, pointing=True, iou=0.49, kind="mask")),
        result(2, None, status=Status.REFUSED),
        result(3, None, status=Status.EXCLUDED),
        result(4, None, status=Status.PENDING),
    ]
    row, pooled = rule_rows(found)
    counts = ("n", "k_cell", "k_pointing", "n_iou", "k_iou")
    assert [row[name] for name in counts] == [3, 2, 2, 3, 1]
    assert row["median_iou"] == pytest.approx(0.495)
    assert row["kinds"] == "boxes;mask"
    assert (pooled["finding"], pooled["n"]) == ("(micro)", 3)


def test_that_the_page_prints_each_model_under_each_rule() -> None:
    other = result(0, met(cell=False, pointing=True, iou=0.8, kind="mask"), model="b")
    silent = result(1, None, model="c", status=Status.UNPARSED)
    data = report([*SEVEN_OF_TWENTY, other, silent])
    (section,) = (s for s in data.sections if s.title == "The same rules for all")
    rows = {(row[0], row[2]): row for row in section.table.rows}
    assert rows["Edema", "m"][3:8] == ("point", 20, "9 / 20", "8 / 20", "0 / 0")
    assert rows["Edema", "b"][3:] == (
        *("mask", 1, "0 / 1", "1 / 1", "1 / 1", "0.80", "0.89", "0.60", "3.0"),
    )
    assert rows["All trials pooled", "c"][3:8] == (
        "",
        1,
        "0 / 1",
        "0 / 1",
        "0 / 1",
    )
    rules = {"cell rule", "pointing rule", "IoU rule"}
    assert set(data.metric_definitions) >= rules


def test_that_a_run_of_named_cells_has_nothing_of_it() -> None:
    cells = [result(n, None) for n in range(3)]
    data = report(cells)
    assert tables(cells) == {}
    assert "The same rules for all" not in [section.title for section in data.sections]
    assert "cell rule" not in data.metric_definitions
