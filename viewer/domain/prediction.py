"""Predictions made elsewhere, as in their file."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.domain.answer import HeatMapAnswer, Unparsed
from viewer.domain.geometry import BoxPx, PointPx, PolygonPx
from viewer.domain.reference import Mask

NO_PREDICTION: Final = "no_prediction"
"""The reason of an item that a file of predictions has nothing for."""


class Coordinates(StrEnum):
    """The units of points, boxes and outlines; stated by a person."""

    NATIVE = "native"
    """Pixels of the image's file."""
    NORMALISED = "normalised"
    """Parts of the image's width and height, 0 to 1."""
    SENT = "sent"
    """Pixels of the square that a run sends."""


Outlines = tuple[PolygonPx, ...]
Written = str | PointPx | BoxPx | Outlines | Mask | HeatMapAnswer | Unparsed
"""A place as a file has it; a text is the name of a cell."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One prediction of a file.

    ``image`` is what the file calls the image, "" where it names a ``patient`` only.
    ``condition`` and ``repeat`` are "" where a place holds under any. ``place`` is
    None where the file has the item without a place. ``score`` compares with others,
    higher for surer, None without one. ``coordinates`` is None where the file does not
    say what its numbers count.
    """

    image: str
    finding: str
    place: Written | None
    patient: str = ""
    condition: str = ""
    repeat: str = ""
    score: float | None = None
    coordinates: Coordinates | None = None
    model: str = ""
