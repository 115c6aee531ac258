"""Locations that a reply names: points, boxes, outlines, masks in boxes."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from viewer.domain.answer import Status, Unparsed
from viewer.domain.geometry import BoxPx, PointPx, PolygonPx, SizePx
from viewer.domain.reference import Mask

_HALF = 128


class ReplyStatus(StrEnum):
    """The result of parsing a reply; all but the first two are statuses of a trial."""

    OK = "ok"
    """At least one place was read."""
    EMPTY = "empty"
    """The reply says in its own format that there is no place: a real answer."""
    UNPARSED = "unparsed"
    AMBIGUOUS = "ambiguous"
    OUT_OF_RANGE = "out_of_range"
    REFUSED = "refused"
    DENIED_FINDING = "denied_finding"
    TRUNCATED = "truncated"


class Flag(StrEnum):
    """A correction made to a location, or a doubt about it."""

    TRANSPOSED = "transposed"
    """A first corner lay right of or below its second; they were swapped."""
    CLIPPED = "clipped"
    """It reached beyond the image and was cut at its edge."""
    SUSPECT_SCALE = "suspect_scale"
    """Every number lies between 0 and 1, where the convention counts higher."""
    MAY_BE_POLYGON = "may_be_polygon"
    """Read as boxes of four numbers each; the same numbers could be an outline."""
    MASK_UNREADABLE = "mask_unreadable"
    """A mask came with it that cannot be decoded."""
    MASK_NOT_DECODED = "mask_not_decoded"
    """Its mask is kept as codes that only the model's own decoder can draw."""
    SEVERAL_BLOCKS = "several_blocks"
    """The reply names different places in separate lists or sentences."""
    SEVERAL_LABELS = "several_labels"
    """The reply's places carry different labels."""
    SOME_REJECTED = "some_rejected"
    """Other places of the same reply could not be read."""


@dataclass(frozen=True, slots=True)
class PlaceWords:
    """How a model is told to write a point, one box, or any number of boxes.

    "" each for a model with a syntax of its own, which takes no words.
    """

    point: str = ""
    box: str = ""
    boxes: str = ""


@dataclass(frozen=True, eq=False)
class BoxMask:
    """A probability map stretched over a box.

    ``probability`` is (rows, columns) uint8, 0 to 255; ``box`` is in native pixels and
    may extend beyond the image.
    """

    box: BoxPx
    probability: npt.NDArray[np.uint8]

    def mask(self, size: SizePx) -> Mask:
        """Return the mask of pixels whose centre has a value of 128 or more."""
        inside = np.zeros((size.rows, size.columns), dtype=np.bool_)
        rows, columns = self.probability.shape
        ys, vs = _samples(self.box.y0, self.box.y1, size.rows, rows)
        xs, us = _samples(self.box.x0, self.box.x1, size.columns, columns)
        inside[np.ix_(ys, xs)] = self.probability[np.ix_(vs, us)] >= _HALF
        return Mask.of_array(inside)


def _samples(
    start: float, stop: float, length: int, samples: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the pixels with centres in [start, stop), and the map index of each."""
    centres = np.arange(length) + 0.5
    pixels = np.flatnonzero((centres >= start) & (centres < stop))
    at = (centres[pixels] - start) / (stop - start) * samples
    # Just below `stop` rounding may give `samples`.
    return pixels, np.minimum(at.astype(np.int64), samples - 1)


@dataclass(frozen=True, eq=False)
class Place:
    """One location in native pixels, and the reply's label for it.

    ``seg_codes`` are PaliGemma's 16 indices into its VQ-VAE's codebook, kept as
    received: drawing them needs that network's weights.
    """

    shape: PointPx | BoxPx | PolygonPx
    label: str = ""
    flags: tuple[Flag, ...] = ()
    mask: BoxMask | None = None
    seg_codes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """An invalid location as written, and why it is invalid."""

    written: str
    reason: str


@dataclass(frozen=True, eq=False)
class PlacesReading:
    """A reply parsed under one coordinate convention.

    ``raw`` is the verbatim reply. If ``status`` is TRUNCATED, ``places`` is the prefix
    that could be recovered: it is shown but never scored.
    """

    raw: str
    convention: str
    status: ReplyStatus
    reason: str = ""
    places: tuple[Place, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def scored(self) -> tuple[Place, ...]:
        """The locations that count: none unless the reply was read to its end."""
        return self.places if self.status is ReplyStatus.OK else ()

    def unparsed(self) -> Unparsed | None:
        """Return the status and reason if the reply has no answer, else None."""
        if self.status in {ReplyStatus.OK, ReplyStatus.EMPTY}:
            return None
        return Unparsed(Status(self.status.value), self.reason)
