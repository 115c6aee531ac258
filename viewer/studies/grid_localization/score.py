"""The verdict on one answer (Gosai 2025, 3.3 and Fig. 3; E000-16, -22, -24)."""

from viewer.domain.answer import CellAnswer, PlacedAnswer, Status, Unparsed
from viewer.domain.answer_json import type_of
from viewer.domain.geometry import BoxPx
from viewer.domain.grid import Cell, Grid
from viewer.domain.result import Outcome, Score
from viewer.metrics.pointing import containing_cell, pointing_point
from viewer.studies.places import GridReference


def in_cell(
    answer: PlacedAnswer, grid: Grid, field: BoxPx, pixel_aspect: float
) -> CellAnswer | Unparsed:
    """Return the cell that an answer's point lies in (X-03).

    ``field`` is the native rectangle of the grid, ``pixel_aspect`` the height of a
    native pixel over its width. A point outside it, on a part of the image that was not
    sent, is out of range.
    """
    cell = containing_cell(
        pointing_point(answer, grid, field, pixel_aspect), grid, field
    )
    if cell is None:
        return Unparsed(Status.OUT_OF_RANGE, "not_on_what_was_sent")
    return CellAnswer(cell, type_of(answer))


def score(answer: CellAnswer | Unparsed, reference: GridReference) -> Score:
    """Return the verdict; an unreadable answer keeps its status and reason."""
    if isinstance(answer, Unparsed):
        return Score(answer.status, answer.reason)
    outcome = _outcome(answer.cell, reference)
    hit = outcome in {Outcome.FULL, Outcome.FULL_FALLBACK}
    return Score(
        Status.SCORED_CORRECT if hit else Status.SCORED_WRONG,
        answer=reference.grid.label(answer.cell),
        coverage=coverage(answer.cell, reference),
        outcome=outcome,
    )


def coverage(cell: Cell, reference: GridReference) -> float:
    """Return the fraction of a cell that the mask covers, 0-1."""
    index = cell.row * reference.grid.columns + cell.column
    return reference.covered[index] / reference.area[index]


def _outcome(cell: Cell, reference: GridReference) -> Outcome:
    if cell.row * reference.grid.columns + cell.column in reference.hits:
        return Outcome.FULL_FALLBACK if reference.fallback else Outcome.FULL
    return Outcome.PARTIAL if coverage(cell, reference) > 0 else Outcome.MISS
