"""The reader's preferences for tools and images, in one table.

The dialog and its words come from it. Where the IHE profile Basic Image Review (BIR)
and common practice differ, there is a preference.
"""

from dataclasses import dataclass
from typing import Final

CHOICE: Final = "preferences"
"""Their name among the choices that the window remembers."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a reader may set once for every image."""

    scroll_first: bool = True
    up_darkens: bool = False
    reset_keeps_marks: bool = False
    nearest_pixel: bool = False


@dataclass(frozen=True, slots=True)
class Wording:
    """A preference's line in the dialog, and what it means."""

    line: str
    tip: str


WORDS: Final = {
    "scroll_first": Wording(
        "Scroll with the left button when a series opens",
        "Otherwise the left button sets window and level (BIR: scroll)",
    ),
    "up_darkens": Wording(
        "Dragging up darkens the image",
        "Raises the level; otherwise dragging up brightens (BIR: brightens)",
    ),
    "reset_keeps_marks": Wording(
        "Reset keeps the marks of the image",
        "Otherwise Reset removes them, and Undo brings them back (BIR: removes)",
    ),
    "nearest_pixel": Wording(
        "Show magnified pixels as squares",
        "Otherwise a magnified image is interpolated; measurements never are",
    ),
}
"""By the name of the field, in the order of the dialog."""


_IN_USE = {"preferences": Preferences()}


def current() -> Preferences:
    """Return the preferences in use."""
    return _IN_USE["preferences"]


def use(preferences: Preferences) -> None:
    """Use preferences from now on."""
    _IN_USE["preferences"] = preferences
