"""A model's place as readers place it, or moved to where it is wrong."""

from typing import Final

import numpy as np

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
    Status,
    Unparsed,
)
from viewer.domain.answer_json import type_of
from viewer.domain.exchange import SentHeatMap
from viewer.domain.form import PlaceKind
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell
from viewer.domain.reference import Mask
from viewer.domain.result import Outcome
from viewer.domain.run import Trial
from viewer.metrics.pointing import cell_box, centre, containing_cell, pointing_point
from viewer.metrics.regions import box_around, region
from viewer.metrics.seeding import generator
from viewer.services.readings.replies import SAID_ABSENT
from viewer.services.trials.run_context import RunContext

_HITS: Final = frozenset({Outcome.FULL, Outcome.FULL_FALLBACK})
_MOST: Final = 96
"""Elements of a side of a kept heat map; every case of a session has one."""


class Places:
    """The places of a trial's image, in native pixels, and which of them are right."""

    def __init__(self, context: RunContext, trial: Trial) -> None:
        self._context, self._trial = context, trial
        self._geometry = context.images[trial.image].geometry
        self._grid = context.places.grid(trial.condition)
        self._field = context.places.field(self._geometry)

    def as_kind(self, answer: Answer, kind: PlaceKind) -> Answer | None:
        """Return the place of a kind that an answer stands for (X-03).

        A cell or a point lies where it points, boxes are the one around the region it
        covers, and a mask is that region. None for boxes or a mask of a point, or of
        an answer that covers no pixel.
        """
        if isinstance(answer, CellAnswer):
            answer = CellAnswer(answer.cell)  # without the words that told how it is
        if type_of(answer) == kind:
            return answer
        if kind in {PlaceKind.CELL, PlaceKind.POINT}:
            return self._pointed_at(answer, kind)
        covered = region(answer, self._grid, self._field, self._geometry.size)
        if covered is None or not covered.any():
            return None
        if kind is PlaceKind.MASK:
            return MaskAnswer(Mask.of_array(covered))
        return BoxesAnswer((box_around(covered),))

    def cell_of(self, answer: Answer) -> Cell | None:
        """Return the cell that an answer points at, None outside the grid."""
        return containing_cell(self._point_of(answer), self._grid, self._field)

    def _point_of(self, answer: Answer) -> PointPx:
        return pointing_point(
            answer, self._grid, self._field, self._geometry.pixel_aspect
        )

    def _pointed_at(self, answer: Answer, kind: PlaceKind) -> Answer | None:
        if kind is PlaceKind.POINT:
            return PointAnswer(self._point_of(answer))
        cell = self.cell_of(answer)
        return None if cell is None else CellAnswer(cell)

    def misplaced(self, answer: Answer, kind: PlaceKind, seed: int) -> Answer | None:
        """Return an answer moved to where it is wrong, drawn by the seed.

        It keeps its form: only where it lies is wrong, also as the place of ``kind``
        that it stands for. None if it would be right in every cell of the grid.
        """
        order = generator(seed, "wrong advice", self._trial.item).permutation(
            self._grid.rows * self._grid.columns
        )
        for number in order.tolist():
            cell = Cell(*divmod(number, self._grid.columns))
            moved = self._moved(answer, cell)
            placed = self.as_kind(moved, kind)
            if placed and is_right(self._context, self._trial, placed) is False:
                return moved
        return None

    def _moved(self, answer: Answer, cell: Cell) -> Answer:
        """Return an answer moved to a cell; no part of it leaves the image."""
        if isinstance(answer, CellAnswer):
            return CellAnswer(cell)
        was = self._point_of(answer)
        to = centre(cell_box(cell, self._grid, self._field))
        x, y = to.x - was.x, to.y - was.y
        if isinstance(answer, PointAnswer):
            return PointAnswer(to)
        if isinstance(answer, BoxesAnswer):
            return self._moved_boxes(answer, x, y)
        if isinstance(answer, HeatMapAnswer):
            return _rolled(answer, x, y)
        return self._moved_mask(answer, x, y)

    def _moved_boxes(self, answer: BoxesAnswer, x: float, y: float) -> Answer:
        """Return boxes moved together, as far as the image reaches."""
        size, boxes = self._geometry.size, answer.boxes
        left, right = min(b.x0 for b in boxes), max(b.x1 for b in boxes)
        top, low = min(b.y0 for b in boxes), max(b.y1 for b in boxes)
        x, y = _held(x, left, right, size.columns), _held(y, top, low, size.rows)
        moved = (BoxPx(b.x0 + x, b.y0 + y, b.x1 + x, b.y1 + y) for b in boxes)
        return BoxesAnswer(tuple(moved), answer.confidences)

    def _moved_mask(self, answer: MaskAnswer, x: float, y: float) -> Answer:
        """Return a mask moved by whole pixels, as far as the image reaches."""
        was = answer.mask.array()
        rows, columns = np.nonzero(was)
        down = _held(round(y), int(rows.min()), int(rows.max()) + 1, was.shape[0])
        across = _held(
            round(x), int(columns.min()), int(columns.max()) + 1, was.shape[1]
        )
        moved = np.zeros_like(was)
        moved[rows + int(down), columns + int(across)] = True
        return MaskAnswer(Mask.of_array(moved))


def _held(shift: float, first: float, last: float, most: float) -> float:
    """Return a shift that keeps what reaches from first to last between 0 and most."""
    return min(max(shift, -first), most - last)


def _rolled(answer: HeatMapAnswer, x: float, y: float) -> HeatMapAnswer:
    """Return a heat map moved by native pixels; what leaves comes in opposite."""
    heat, field = answer.heat_map, answer.field
    down = round(y * heat.rows / (field.y1 - field.y0))
    across = round(x * heat.columns / (field.x1 - field.x0))
    values = np.roll(heat.values, (down, across), axis=(0, 1))
    return HeatMapAnswer(SentHeatMap.of(values), field)


def kept_map(answer: Answer) -> Answer:
    """Return an answer to be kept with a case: a large heat map is made coarser.

    Its elements become means of squares of them; what is left over at the right and
    below is cut off, with its part of the field.
    """
    if not isinstance(answer, HeatMapAnswer):
        return answer
    heat, field = answer.heat_map, answer.field
    by = -(-max(heat.rows, heat.columns) // _MOST)
    if by == 1:
        return answer
    rows, columns = heat.rows // by, heat.columns // by
    squares = heat.values[: rows * by, : columns * by].reshape(rows, by, columns, by)
    kept = BoxPx(
        field.x0,
        field.y0,
        field.x0 + (field.x1 - field.x0) * columns * by / heat.columns,
        field.y0 + (field.y1 - field.y0) * rows * by / heat.rows,
    )
    return HeatMapAnswer(SentHeatMap.of(squares.mean(axis=(1, 3))), kept)


def is_right(context: RunContext, trial: Trial, place: Answer | None) -> bool | None:
    """Tell whether a place is a hit; None if it cannot be scored."""
    denied = Unparsed(Status.DENIED_FINDING, SAID_ABSENT)
    outcome = context.score(context.turn(trial), place or denied).outcome
    return None if outcome is None else outcome in _HITS
