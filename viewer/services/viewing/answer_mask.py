"""The area of an answer, as a mask on a small picture of the field."""

from typing import Final

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import (
    Answer,
    BoxesAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PointAnswer,
)
from viewer.domain.geometry import BoxPx, SizePx
from viewer.metrics.regions import above_otsu, mask_of_boxes, stretched
from viewer.services.viewing.field_raster import field_mask

_ARM: Final = 1 / 40
_THICK: Final = 1 / 256
"""Of the picture's side: length and half the width of a cross's arm."""


def answer_mask(
    answer: Answer | None, field: BoxPx, side: int
) -> npt.NDArray[np.bool_] | None:
    """Return the pixels of an answer on the (side, side) square of a native field.

    None for a cell or no answer. A point becomes a cross, so that it is visible.
    """
    square = SizePx(side, side)
    if isinstance(answer, MaskAnswer):
        return field_mask(answer.mask.array(), field, side)
    if isinstance(answer, HeatMapAnswer):
        whole = BoxPx(0, 0, side, side)
        return stretched(above_otsu(answer.heat_map.values), whole, square)
    if isinstance(answer, PointAnswer):
        x, y = answer.point.x, answer.point.y
        at = _on_square(BoxPx(x, y, x, y), field, side)
        return mask_of_boxes(_cross(at, side), square)
    if isinstance(answer, BoxesAnswer):
        boxes = tuple(_on_square(box, field, side) for box in answer.boxes)
        return mask_of_boxes(boxes, square)
    return None


def _on_square(box: BoxPx, field: BoxPx, side: int) -> BoxPx:
    """Convert a native box to pixels of the field's square."""
    across, down = side / (field.x1 - field.x0), side / (field.y1 - field.y0)
    return BoxPx(
        (box.x0 - field.x0) * across,
        (box.y0 - field.y0) * down,
        (box.x1 - field.x0) * across,
        (box.y1 - field.y0) * down,
    )


def _cross(at: BoxPx, side: int) -> tuple[BoxPx, BoxPx]:
    """Return the two bars of a cross at a point."""
    arm, thick = side * _ARM, max(1.0, side * _THICK)
    return (
        BoxPx(at.x0 - arm, at.y0 - thick, at.x0 + arm, at.y0 + thick),
        BoxPx(at.x0 - thick, at.y0 - arm, at.x0 + thick, at.y0 + arm),
    )
