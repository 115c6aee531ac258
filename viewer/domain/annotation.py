"""What a file says about its image in words, for the eyes of who opened it.

Nothing of it may be logged, stored or sent, because it names the patient.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CornerText:
    """The lines in the four corners of an image, from the top down."""

    top_left: tuple[str, ...] = ()
    top_right: tuple[str, ...] = ()
    bottom_left: tuple[str, ...] = ()
    bottom_right: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tag:
    """A data element: ``(0010,0010)``, its keyword, VR, value and depth (0 at the top).

    A sequence's value counts its items; its items' elements follow, one level deeper.
    """

    tag: str
    keyword: str
    vr: str
    value: str
    depth: int
