"""From a reply with coordinates or a heat map to an answer in native pixels."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Final

import numpy as np

from viewer.domain.answer import (
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
    PlacedAnswer,
    PointAnswer,
    Status,
    Unparsed,
)
from viewer.domain.answer_json import answer_of_json
from viewer.domain.exchange import ModelProfile, ModelReply
from viewer.domain.geometry import Affine, BoxPx, PointPx, PolygonPx, SizePx
from viewer.domain.grid import Grid
from viewer.domain.places import Flag, Place, PlacesReading, PlaceWords, ReplyStatus
from viewer.domain.reference import Mask
from viewer.metrics.regions import mask_of_polygon
from viewer.models.coordinates.forms import FORMED, form_of, not_formed

if TYPE_CHECKING:
    from viewer.models.coordinates.frame import Frame

GRID: Final = "grid"
"""The convention of replies that name a cell, which the study itself reads."""
NATIVE: Final = "native"
"""That of answers kept as they are, in the JSON of :mod:`viewer.domain.answer_json`."""


ONE_IMAGE: Final = frozenset({"florence2", "kosmos2", "maira2", "molmo", "paligemma"})
"""Conventions of families that are trained on a single image with a question."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a model was shown of an image, and the finding asked for.

    ``field`` is the native rectangle that the raster of size ``sent`` covers.
    """

    finding: str
    native: SizePx
    field: BoxPx
    sent: SizePx
    grid: Grid

    @property
    def to_sent(self) -> Affine:
        """The map from native pixel coordinates to sent ones."""
        field = self.field
        scale_x = self.sent.columns / (field.x1 - field.x0)
        scale_y = self.sent.rows / (field.y1 - field.y0)
        corner = PointPx(field.x0, field.y0)
        return Affine.scale_after_shift(corner, scale_x, scale_y)


def convention_of(profile: ModelProfile) -> str:
    """Return a model's coordinate convention, from its profile."""
    return str(profile.settings.get("convention") or GRID)


def asking_of(profile: ModelProfile) -> str:
    """Return the convention whose wording asks a model for a location, "" for a cell.

    An unknown convention raises WrongUseError.
    """
    convention = convention_of(profile)
    if convention in {GRID, NATIVE}:
        return ""
    from viewer.models.coordinates.asking import ASKING
    from viewer.models.coordinates.conventions import convention_named

    return ASKING[convention_named(convention).name]


def place_words_of(profile: ModelProfile) -> PlaceWords | None:
    """Return how a model is told to write places; None without a convention of its own.

    An unknown convention raises WrongUseError.
    """
    convention = convention_of(profile)
    if convention in {GRID, NATIVE}:
        return None
    from viewer.models.coordinates.asking import place_words
    from viewer.models.coordinates.conventions import convention_named

    return place_words(convention_named(convention).name)


def form_of_answer(profile: ModelProfile, finding: str) -> dict[str, object] | None:
    """Return the JSON Schema of a model's answer.

    None if it is free, or for a cell, whose schema its adapter knows. A convention
    without a schema raises WrongUseError.
    """
    if not profile.settings.get("structured"):
        return None
    convention = convention_of(profile)
    if convention not in FORMED:
        raise not_formed(profile.name, convention)
    return form_of(convention, finding)


def is_placed(profile: ModelProfile, reply: ModelReply) -> bool:
    """Tell whether a reply answers with coordinates or a map instead of a cell."""
    drawn = reply.heat_map is not None or reply.mask is not None
    convention = convention_of(profile)
    if convention == NATIVE:
        return drawn or reply.text.startswith("{")  # else it names a cell
    return drawn or convention != GRID


def placed_answer(
    profile: ModelProfile, reply: ModelReply, shown: Shown
) -> PlacedAnswer | Unparsed:
    """Return the location in a reply in native pixels, or why there is none.

    The profile's ``convention`` and ``provider_view`` determine its units; an unknown
    name raises WrongUseError.
    """
    if reply.heat_map is not None:
        # The same everywhere points at nothing; its maximum would be the first pixel.
        if np.ptp(reply.heat_map.values) == 0:
            return Unparsed(Status.UNPARSED, "flat_heat_map")
        return HeatMapAnswer(reply.heat_map, shown.field)
    if reply.mask is not None:
        empty = Unparsed(Status.UNPARSED, "empty_mask")
        return empty if reply.mask.is_empty else MaskAnswer(reply.mask)
    if convention_of(profile) == NATIVE:
        return _native(reply.text)
    return answer_of_reading(_read(profile, reply.text, shown), shown)


def _native(text: str) -> PlacedAnswer | Unparsed:
    answer = answer_of_json(text)
    if answer is None or isinstance(answer, CellAnswer):
        return Unparsed(Status.UNPARSED, "no_place")
    if isinstance(answer, BoxesAnswer) and not _all_sure(answer):
        return Unparsed(Status.UNPARSED, "not_a_confidence_each")
    return answer


def _all_sure(answer: BoxesAnswer) -> bool:
    """Tell whether all boxes have a finite confidence, or none has."""
    sure = answer.confidences
    return not sure or (len(sure) == len(answer.boxes) and all(map(isfinite, sure)))


def written_place(profile: ModelProfile, box: BoxPx, shown: Shown) -> str:
    """Return a native box as a model would answer with it in its convention.

    A convention without boxes gets the box's centre.
    """
    from viewer.models.coordinates.convention import centre_of
    from viewer.models.coordinates.conventions import convention_named
    from viewer.models.coordinates.marks import Kind

    convention = convention_named(convention_of(profile))
    shape = box if Kind.BOX in convention.kinds else centre_of(box)
    return convention.write([Place(shape, shown.finding)], _frame(profile, shown))


def _read(profile: ModelProfile, text: str, shown: Shown) -> PlacesReading:
    # Imported here: most runs name cells, and a window is to start without them.
    from viewer.models.coordinates.conventions import convention_named

    return convention_named(convention_of(profile)).read(text, _frame(profile, shown))


def _frame(profile: ModelProfile, shown: Shown) -> "Frame":
    from viewer.models.coordinates.frame import Frame
    from viewer.models.provider_view import provider_view_named

    view = provider_view_named(str(profile.settings.get("provider_view") or "none"))
    seen = view.seen(shown.sent)
    return Frame(shown.native, shown.to_sent, shown.sent, seen, shown.grid)


def answer_of_reading(reading: PlacesReading, shown: Shown) -> PlacedAnswer | Unparsed:
    """Return the single answer in a reply's locations.

    Locations in separate lists, several points, locations of several kinds, and several
    labels without the finding are ambiguous; nothing is guessed.
    """
    if reading.status is ReplyStatus.EMPTY:
        return Unparsed(Status.DENIED_FINDING, reading.reason)
    unread = reading.unparsed()
    if unread is not None:
        return unread
    if Flag.SEVERAL_BLOCKS in reading.flags:
        return Unparsed(Status.AMBIGUOUS, Flag.SEVERAL_BLOCKS.value)
    places = _about(shown.finding, reading.scored)
    if not places:
        return Unparsed(Status.AMBIGUOUS, Flag.SEVERAL_LABELS.value)
    return _answer(places, shown.native)


def _about(finding: str, places: Sequence[Place]) -> Sequence[Place]:
    """Return the locations labelled with the finding, or all if they share one label.

    The result is empty if the labels differ and none names the finding.
    """
    named = [p for p in places if finding.casefold() in p.label.casefold()]
    one_label = len({place.label.casefold() for place in places}) == 1
    return named or (places if one_label else ())


def _answer(places: Sequence[Place], size: SizePx) -> PlacedAnswer | Unparsed:
    points = [p.shape for p in places if isinstance(p.shape, PointPx)]
    if points and len(points) < len(places):
        return Unparsed(Status.AMBIGUOUS, "several_kinds")
    if points:
        if len(set(points)) > 1:
            return Unparsed(Status.AMBIGUOUS, "several_points")
        return PointAnswer(points[0])
    boxes = [p.shape for p in places if isinstance(p.shape, BoxPx)]
    with_mask = [p for p in places if p.mask or isinstance(p.shape, PolygonPx)]
    if not with_mask:
        return BoxesAnswer(tuple(boxes))
    if len(with_mask) < len(places):
        return Unparsed(Status.AMBIGUOUS, "several_kinds")
    return _mask_answer(with_mask, size)


def _mask_answer(places: Sequence[Place], size: SizePx) -> PlacedAnswer | Unparsed:
    """Return the union of masks and outlines."""
    whole = np.zeros((size.rows, size.columns), dtype=np.bool_)
    for place in places:
        if place.mask is not None:
            whole |= place.mask.mask(size).array()
        elif isinstance(place.shape, PolygonPx):
            whole |= mask_of_polygon(place.shape, size)
    if not whole.any():
        return Unparsed(Status.UNPARSED, "empty_mask")
    return MaskAnswer(Mask.of_array(whole))
