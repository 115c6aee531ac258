"""Text from an image's file, only for the person who opened it.

None of it may be logged, stored or sent, because it identifies the patient.
"""

from dataclasses import dataclass
from typing import Final

STATE_LINE: Final = "Presentation state"
"""The first words of the line that names a presentation state on the image."""
PROFILE_LINE: Final = "Colours by ICC profile"
"""The line that says that the colours of a slide are converted."""


@dataclass(frozen=True, slots=True)
class CornerLine:
    """A line of corner text and its source.

    ``source`` names DICOM elements, one per line: ``ContentTime (0008,0033)``.
    """

    text: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class CornerText:
    """The lines in the four corners of an image, from the top down.

    ``window_source`` is where the initial display window was read from.
    """

    top_left: tuple[CornerLine, ...] = ()
    top_right: tuple[CornerLine, ...] = ()
    bottom_left: tuple[CornerLine, ...] = ()
    bottom_right: tuple[CornerLine, ...] = ()
    window_source: str = ""


@dataclass(frozen=True, slots=True)
class StudyReport:
    """A report of a study: the name of its file, its title, and its text in lines."""

    name: str
    title: str
    lines: tuple[str, ...]


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
