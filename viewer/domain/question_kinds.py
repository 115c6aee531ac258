"""The kinds of answers that a benchmark's questions ask for, and what each needs."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class AnswerKind(StrEnum):
    """What kind of answer a question asks for."""

    CHOICE = "choice"
    """One of its options."""
    YES_NO = "yes_no"
    NUMBER = "number"
    """A number within a tolerance."""
    TEXT = "text"
    """Words, compared or judged."""
    CELL = "cell"
    """A cell of a grid drawn over the image."""
    POINT = "point"
    BOX = "box"
    BOXES = "boxes"


class TextMatch(StrEnum):
    """When a free-text answer counts as right."""

    EXACT = "exact"
    """They are the same but for blanks around them."""
    NORMALISED = "normalised"
    """So they are without case, punctuation, articles and further blanks."""
    JUDGED = "judged"
    """A judge says that they mean the same."""


class Units(StrEnum):
    """The unit of a table's coordinates."""

    PIXELS = "pixels"
    """The image's own pixels, from its upper left corner."""
    FRACTION = "fraction"
    """Parts of its width and height, from 0 to 1."""


COORDINATES: Final = frozenset({AnswerKind.POINT, AnswerKind.BOX, AnswerKind.BOXES})
"""Kinds whose answer is written in coordinates of the first image."""
PLACED: Final = COORDINATES | {AnswerKind.CELL}
"""Kinds whose answer is a place on the first image."""
REQUIRED: Final[Mapping[AnswerKind, tuple[str, ...]]] = {
    **dict.fromkeys(AnswerKind, ("question",)),
    AnswerKind.CHOICE: ("question", "options"),
}
"""The placeholders that a kind's prompt must have."""
OPTIONAL: Final[Mapping[AnswerKind, tuple[str, ...]]] = {
    **dict.fromkeys(AnswerKind, ()),
    AnswerKind.CELL: ("rows", "columns", "first cell", "last cell"),
}
"""The placeholders that a kind's prompt may have."""
ABSOLUTE_ERROR, DISTANCE, IOU = "absolute_error", "distance_px", "iou"
FOUND, EXTRA, MISSED = "boxes_found", "boxes_extra", "boxes_missed"
MEASURED: Final[Mapping[AnswerKind, tuple[str, ...]]] = {
    **dict.fromkeys(AnswerKind, ()),
    AnswerKind.NUMBER: (ABSOLUTE_ERROR,),
    AnswerKind.POINT: (DISTANCE,),
    AnswerKind.BOX: (IOU,),
    AnswerKind.BOXES: (FOUND, EXTRA, MISSED),
}
"""The numbers that are measured of a kind's answers besides whether they are right."""
SCORED: Final[Mapping[str, str]] = {
    AnswerKind.TEXT: "Words: share judged right",
    AnswerKind.BOX: "Box: intersection over union",
    AnswerKind.BOXES: "Boxes: F1 of boxes found",
}
"""The score from 0 to 1 of each kind of answer that has one, in words."""
