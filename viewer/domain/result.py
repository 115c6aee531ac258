"""Results of trials."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from viewer.domain.answer import AnyAnswer, Status, Unparsed
from viewer.domain.geometry import PointPx
from viewer.domain.image_geometry import SpacingMeaning

IOU_THRESHOLD: Final = 0.5
"""From which intersection over union on an answer is a hit by that rule."""


class Outcome(StrEnum):
    """How an answered cell compares with the reference (Gosai 2025, 3.3, Fig. 3).

    A hit is ``FULL`` if the reference covers enough of the cell, or ``FULL_FALLBACK``
    if it touches the cell and covers no cell enough. A ``PARTIAL`` cell touches the
    reference and is not a hit, a ``MISS`` does not touch it.
    """

    FULL = "full"
    FULL_FALLBACK = "full_fallback"
    PARTIAL = "partial"
    MISS = "miss"


@dataclass(frozen=True, slots=True)
class Score:
    """A verdict: its status, and for an answered trial how it met the reference.

    ``reason`` qualifies the status (``no_gt``, ``transposed``); ``answer`` is the
    answer as written in tables (``D4``); ``coverage`` the fraction of the answered cell
    that the reference covers, 0-1; ``numbers`` other finite measurements by name, such
    as a judge's score.
    """

    status: Status
    reason: str = ""
    answer: str = ""
    coverage: float | None = None
    outcome: Outcome | None = None
    numbers: tuple[tuple[str, float], ...] = ()

    def number(self, name: str) -> float | None:
        """Return one of the named numbers, None if it is missing."""
        return dict(self.numbers).get(name)


@dataclass(frozen=True, slots=True)
class Measures:
    """How an answer of any type compares with its reference under each rule (X-03).

    ``point`` stands for the answer: a cell's centre, the point itself, the centre of
    the largest box, a mask's deepest interior point, a heat map's maximum, each within
    the part that was sent. ``cell_hit``: its cell qualifies; ``pointing_hit``: it lies
    on the reference. ``iou`` and ``dice`` compare the answer's pixels with the
    reference's, both cropped to what was sent, ``iou_uncropped`` and ``dice_uncropped``
    without cropping; None for a point. ``distance_px`` is the distance from the point
    to the reference in native pixels, 0 inside; ``distance_mm`` the same in
    millimetres, in the plane that ``mm_meaning`` names, None without a pixel spacing.
    """

    kind: str
    point: PointPx
    cell_hit: bool
    pointing_hit: bool
    iou: float | None
    dice: float | None
    distance_px: float
    distance_mm: float | None
    mm_meaning: SpacingMeaning | None
    iou_uncropped: float | None = None
    dice_uncropped: float | None = None

    @property
    def iou_hit(self) -> bool | None:
        """Whether ``iou`` reaches ``IOU_THRESHOLD``; None for a point."""
        return None if self.iou is None else self.iou >= IOU_THRESHOLD


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial with its verdict, as counted in tables.

    ``said`` is what was read from the replies, None without replies and for a cell,
    which the score names; ``gold`` is the right answer as JSON, "" if no program can
    tell.
    """

    item: str
    patient: str
    image: str
    view: str
    finding: str
    condition: str
    repeat: int
    model: str
    score: Score
    request_sha256: str = ""
    said: AnyAnswer | Unparsed | None = None
    gold: str = ""
