"""Which overlay draws which kind of answer."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QGraphicsItem

from viewer.domain.answer import BoxesAnswer, HeatMapAnswer, MaskAnswer, PointAnswer
from viewer.ui.canvas.overlays.answer_item import AnswerItem, AnswerShape
from viewer.ui.canvas.overlays.box_answer import BoxShape
from viewer.ui.canvas.overlays.cell_answer import CellShape, answer_rect
from viewer.ui.canvas.overlays.halo import Face
from viewer.ui.canvas.overlays.heat_map_answer import HeatMapShape
from viewer.ui.canvas.overlays.mask_answer import MaskShape
from viewer.ui.canvas.overlays.point_answer import PointShape

if TYPE_CHECKING:
    from viewer.services.answers import StoredAnswer


def answer_item(
    answer: "StoredAnswer", color: str, face: Face, parent: QGraphicsItem
) -> AnswerItem:
    """Return the overlay of an answer."""
    return AnswerItem(answer, shape_of(answer), color, face, parent)


def shape_of(answer: "StoredAnswer") -> AnswerShape:
    """Return what an answer looks like: its cell where it is nothing else."""
    said = answer.answer
    point = answer.measures.point if answer.measures else None
    if isinstance(said, PointAnswer):
        return PointShape(said)
    if isinstance(said, BoxesAnswer):
        return BoxShape(said, point)
    if isinstance(said, MaskAnswer):
        return MaskShape(said, point)
    if isinstance(said, HeatMapAnswer):
        return HeatMapShape(said, point)
    return CellShape(answer_rect(answer))
