"""Which convention a reply is likely to be in, in words, for a person who sets it."""

from collections.abc import Mapping
from typing import Final

from viewer.domain.geometry import PointPx, SizePx
from viewer.models.coordinates.convention import NumberConvention
from viewer.models.coordinates.conventions import convention_named, detect
from viewer.models.coordinates.frame import Frame
from viewer.models.coordinates.marks import Kind

_SPANS: Final[Mapping[float | None, str]] = {None: "in pixels", 100: "in percent"}
"""The units of a convention's numbers, by the number at the far edge."""


def places_in_words(name: str) -> str:
    """Return what a convention's answers are: ``boxes in 0-1000 coordinates``."""
    convention = convention_named(name)
    if not isinstance(convention, NumberConvention):
        return "cells"
    kind = "boxes" if Kind.BOX in convention.kinds else "points"
    return f"{kind} {_span(convention)}"


def _span(convention: NumberConvention) -> str:
    far = convention.space.divisions
    return _SPANS.get(far) or f"in 0-{far:g} coordinates"


def other_convention(reply: str, named: str, size: SizePx) -> str:
    """Say which convention a reply seems to be in, "" if it is not another one.

    Parameters
    ----------
    reply : str
        A reply that could not be read.
    named : str
        The convention that its model is set to.
    size : SizePx
        The image's pixels, to tell numbers that cannot be meant as such.
    """
    found = detect(reply, Frame.of_sent(size))
    if not found or named in {candidate.name for candidate in found}:
        return ""
    likely = [c.name for c in found if c.confidence == found[0].confidence]
    convention = convention_named(likely[0])
    if not isinstance(convention, NumberConvention):
        return f"The reply names a cell; set Coordinates to {convention.name}."
    is_point = isinstance(found[0].reading.places[0].shape, PointPx)
    what = f"a {'point' if is_point else 'box'} {_span(convention)}"
    doubt = "; Calibrate finds out which" if len(likely) > 1 else ""
    return f"The reply gives {what}; set Coordinates to {' or '.join(likely)}{doubt}."
