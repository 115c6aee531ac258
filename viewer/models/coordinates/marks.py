"""What a parser finds in a reply, before its numbers are interpreted."""

from dataclasses import dataclass
from enum import StrEnum

from viewer.domain.places import Flag


class Kind(StrEnum):
    """The kind of a location."""

    POINT = "point"
    BOX = "box"
    POLYGON = "polygon"


@dataclass(frozen=True, slots=True)
class Mark:
    """A location in a convention's own units.

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
    """Everything of a convention found in a text.

    ``malformed`` are locations with the wrong number of numbers, ``foreign`` are keys
    of a convention with the other axis first. ``empty`` is True if the text says in its
    format that there is nothing; ``complete`` is False if it ends inside a location.
    """

    marks: tuple[Mark, ...] = ()
    malformed: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    empty: bool = False
    complete: bool = True
