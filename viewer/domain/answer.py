"""Parsed answers of readers and models."""

from dataclasses import dataclass
from enum import StrEnum

from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx
from viewer.domain.grid import Cell
from viewer.domain.reference import Mask


class Status(StrEnum):
    """How a trial ended (X-01); exactly one of these."""

    PENDING = "pending"
    SCORED_CORRECT = "scored_correct"
    SCORED_WRONG = "scored_wrong"
    UNPARSED = "unparsed"
    AMBIGUOUS = "ambiguous"
    OUT_OF_RANGE = "out_of_range"
    REFUSED = "refused"
    DENIED_FINDING = "denied_finding"
    TRUNCATED = "truncated"
    PROVIDER_ERROR = "provider_error"
    EXCLUDED = "excluded"


UNREADABLE = frozenset(
    {
        Status.UNPARSED,
        Status.AMBIGUOUS,
        Status.OUT_OF_RANGE,
        Status.DENIED_FINDING,
        Status.TRUNCATED,
    }
)
"""The statuses counted together as n_unparsed."""


@dataclass(frozen=True, slots=True)
class CellAnswer:
    """One grid cell; ``tier`` names the parse rule that read it."""

    cell: Cell
    tier: str = ""


@dataclass(frozen=True, slots=True)
class PointAnswer:
    """One point in native pixels."""

    point: PointPx


@dataclass(frozen=True, slots=True)
class BoxesAnswer:
    """One or more boxes in native pixels, in the order they were named.

    ``confidences`` has one number per box, higher for more certain, comparable only
    within the answer; empty if the answer gives none.
    """

    boxes: tuple[BoxPx, ...]
    confidences: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class MaskAnswer:
    """A non-empty mask in native pixels, of the same size as its image."""

    mask: Mask


@dataclass(frozen=True, slots=True)
class HeatMapAnswer:
    """The saliency of each part of an image, comparable only within the map.

    ``heat_map`` (rows, columns) is stretched over ``field``, a rectangle in native
    pixels that extends beyond the image if a letterbox was sent.
    """

    heat_map: SentHeatMap
    field: BoxPx


@dataclass(frozen=True, slots=True)
class ChoiceAnswer:
    """An option of a question, from 0; ``tier`` names the parse rule that read it."""

    option: int
    tier: str = ""


@dataclass(frozen=True, slots=True)
class YesNoAnswer:
    """Yes or no; ``tier`` names the parse rule that read it."""

    yes: bool
    tier: str = ""


@dataclass(frozen=True, slots=True)
class LabelsAnswer:
    """Findings named, each once and in the order named; empty if none is.

    If a model extracted them, ``tier`` is "extractor", or "dictionary" if its output
    could not be read; ``dictionary`` is then what the dictionary reads, None if it
    reads nothing.
    """

    labels: tuple[str, ...]
    tier: str = ""
    dictionary: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class RankedAnswer:
    """Free texts in the order given, most likely first, such as a differential."""

    entries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LabelledBox:
    """A box in native pixels on the image of index ``image``, 0 for the first sent."""

    box: BoxPx
    label: str
    image: int = 0


@dataclass(frozen=True, slots=True)
class ReportAnswer:
    """Free text, with any number of boxes that belong to it.

    ``pictures`` is how many pictures came beside the text.
    """

    text: str
    boxes: tuple[LabelledBox, ...] = ()
    pictures: int = 0


@dataclass(frozen=True, slots=True)
class Unparsed:
    """A reply without a readable answer; the status is UNREADABLE or REFUSED."""

    status: Status
    reason: str


PlacedAnswer = PointAnswer | BoxesAnswer | MaskAnswer | HeatMapAnswer
"""An answer in native pixels, which needs no grid."""

Answer = CellAnswer | PlacedAnswer

WordedAnswer = ChoiceAnswer | YesNoAnswer | LabelsAnswer | RankedAnswer | ReportAnswer
"""An answer to a question about a case, which no place on an image is."""

AnyAnswer = Answer | WordedAnswer
"""What any study may read from a reply."""
