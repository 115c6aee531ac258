"""Which overlay draws which kind of answer."""

from collections import Counter
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGraphicsItem

from viewer.domain.answer import (
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
)
from viewer.ui.canvas.overlays.answer_item import AnswerItem, AnswerShape
from viewer.ui.canvas.overlays.box_answer import BoxShape
from viewer.ui.canvas.overlays.cell_answer import CellShape, answer_rect
from viewer.ui.canvas.overlays.halo import Face
from viewer.ui.canvas.overlays.heat_map_answer import HeatMapShape
from viewer.ui.canvas.overlays.mask_answer import MaskShape
from viewer.ui.canvas.overlays.point_answer import PointShape
from viewer.ui.canvas.overlays.report_answer import ReportShape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.services.inspecting.answers import StoredAnswer


def answer_item(
    answer: "StoredAnswer",
    color: str,
    face: Face,
    parent: QGraphicsItem,
    depth: int = 0,
) -> AnswerItem:
    """Return the overlay of an answer; ``depth`` as in `shape_of`."""
    return AnswerItem(answer, shape_of(answer, depth), color, face, parent)


def shape_of(answer: "StoredAnswer", depth: int = 0) -> AnswerShape:
    """Return the shape of an answer: its cell, unless it is a place of another kind.

    ``depth`` counts the answers drawn above it that name the same cell.
    """
    if answer.written is not None:
        return ReportShape(answer.written.boxes)
    place = answer.answer
    point = answer.measures.point if answer.measures else None
    if isinstance(place, PointAnswer):
        return PointShape(place)
    if isinstance(place, BoxesAnswer):
        return BoxShape(place, point)
    if isinstance(place, MaskAnswer):
        return MaskShape(place, point)
    if isinstance(place, HeatMapAnswer):
        return HeatMapShape(place, point)
    return CellShape(answer_rect(answer), depth)


def depths(answers: "Sequence[StoredAnswer]") -> tuple[int, ...]:
    """Return for each answer how many before it name the same cell of the same grid."""
    seen = Counter[tuple[object, ...]]()
    found = []
    for answer in answers:
        place = (answer.grid, answer.field, answer.score.answer)
        located = answer.answer
        is_cell = not answer.written and (
            located is None or isinstance(located, CellAnswer)
        )
        found.append(seen[place] if is_cell else 0)
        seen[place] += is_cell
    return tuple(found)
