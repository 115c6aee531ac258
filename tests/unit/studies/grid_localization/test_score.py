import pytest

from viewer.domain.answer import (
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    PointAnswer,
    Status,
    Unparsed,
)
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell, Grid
from viewer.domain.result import Outcome
from viewer.studies.grid_localization.score import coverage, in_cell, score
from viewer.studies.places import GridReference

GRID = Grid(2, 3)
FIELD = BoxPx(10, 20, 40, 40)
"""Cells of 10 × 10 pixels, from (10, 20)."""
REFERENCE = GridReference(
    GRID, (0.0, 10.0, 20.0, 30.0, 60.0, 100.0), (100.0,) * 6, (4, 5), False, 0.0
)


def test_that_every_answer_stands_in_the_cell_of_its_point() -> None:
    middle = Cell(1, 2)
    boxes = BoxesAnswer((BoxPx(31, 31, 39, 39), BoxPx(0, 0, 1, 1)))
    values = [[0, 0, 0], [0, 0, 1]]
    heat = HeatMapAnswer(SentHeatMap.of(values), FIELD)
    assert in_cell(heat, GRID, FIELD, 1.0) == CellAnswer(middle, "heat_map")
    assert in_cell(boxes, GRID, FIELD, 1.0) == CellAnswer(middle, "boxes")
    point = PointAnswer(PointPx(5, 5))
    beside = Unparsed(Status.OUT_OF_RANGE, "not_on_what_was_sent")
    assert in_cell(point, GRID, FIELD, 1.0) == beside


@pytest.mark.statement("E000-24")
@pytest.mark.parametrize(
    ("cell", "covered", "outcome"),
    [
        (Cell(0, 0), 0.0, Outcome.MISS),
        (Cell(0, 2), 0.2, Outcome.PARTIAL),
        (Cell(1, 0), 0.3, Outcome.PARTIAL),
        (Cell(1, 1), 0.6, Outcome.FULL),
        (Cell(1, 2), 1.0, Outcome.FULL),
    ],
)
def test_that_a_cell_is_judged_by_its_own_coverage(
    cell: Cell, covered: float, outcome: Outcome
) -> None:
    assert coverage(cell, REFERENCE) == covered
    verdict = score(CellAnswer(cell), REFERENCE)
    assert (verdict.coverage, verdict.outcome) == (covered, outcome)
    hit = Status.SCORED_CORRECT if outcome is Outcome.FULL else Status.SCORED_WRONG
    assert (verdict.status, verdict.answer) == (hit, GRID.label(cell))


def test_that_what_could_not_be_read_keeps_its_reason() -> None:
    unread = Unparsed(Status.AMBIGUOUS, "list")
    verdict = score(unread, REFERENCE)
    assert (verdict.status, verdict.reason) == (Status.AMBIGUOUS, "list")
    assert (verdict.answer, verdict.coverage, verdict.outcome) == ("", None, None)


@pytest.mark.statement("E000-16")
def test_that_a_hit_is_by_fallback_where_no_cell_is_covered_enough() -> None:
    small = GridReference(GRID, (0.0,) * 5 + (10.0,), (100.0,) * 6, (5,), True, 0.0)
    verdict = score(CellAnswer(Cell(1, 2)), small)
    assert verdict.outcome is Outcome.FULL_FALLBACK
    assert (verdict.status, verdict.coverage) == (Status.SCORED_CORRECT, 0.1)
