"""What a reply holds before its numbers are given a meaning."""

from dataclasses import dataclass
from enum import StrEnum

from viewer.domain.places import Flag


class Kind(StrEnum):
    """The kind of a place."""

    POINT = "point"
    BOX = "box"
    POLYGON = "polygon"


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a convention's own numbers.

    ``values`` alternate x and y, whatever order the reply wrote them in: two for a
    point, four for a box, six or more for an outline. ``mask`` is a mask as written.
    """

    kind: Kind
    values: tuple[float, ...]
    label: str = ""
    written: str = ""
    mask: str | None = None
    seg_codes: tuple[int, ...] = ()
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """Everything of a convention that a text holds.

    ``malformed`` are places with the wrong number of numbers, ``foreign`` keys that
    belong to a convention with the other axis first. ``empty`` tells that the text says
    in its format that there is nothing; ``complete`` is False if it breaks off inside a
    place.
    """

    marks: tuple[Mark, ...] = ()
    malformed: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    empty: bool = False
    complete: bool = True
