"""Predictions made elsewhere, as written in their file."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.domain.answer import HeatMapAnswer, Unparsed
from viewer.domain.geometry import BoxPx, PointPx, PolygonPx
from viewer.domain.reference import Mask

NO_PREDICTION: Final = "no_prediction"
"""The reason of an item that a file of predictions has nothing for."""


class Coordinates(StrEnum):
    """The unit of points, boxes and outlines, stated by the user."""

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

    ``image`` is the image's name in the file, "" if it names a ``patient`` only.
    ``condition`` and ``repeat`` are "" if the location applies to any. ``place`` is
    None if the file lists the item without a location. ``score`` is higher for more
    certain, None if missing. ``coordinates`` is None if the file does not state their
    unit.
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
