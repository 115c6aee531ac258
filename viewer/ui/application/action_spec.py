"""What a command of the window is, and where it belongs."""

from dataclasses import dataclass
from enum import StrEnum


class Place(StrEnum):
    """The workspace that an action belongs to."""

    EVERYWHERE = ""
    HERE = "here"
    """In each workspace that handles it, and by that workspace alone."""
    READ = "read"
    MEASURE = "measure"
    REVIEW = "review"
    MODELS = "models"


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """A command.

    ``shortcut`` is a key sequence in Qt's portable spelling. ``checkable`` actions show
    a state; of those with the same ``group`` one is on at a time. ``section`` starts a
    new section of its menu. ``held`` ones last only while their key is down, so they
    are in no menu. ``destructive`` ones delete the user's work: the palette lists them
    last, and only once several letters are typed.
    """

    id: str
    menu: str
    text: str
    shortcut: str = ""
    tip: str = ""
    icon: str = ""
    place: Place = Place.EVERYWHERE
    checkable: bool = False
    group: str = ""
    section: bool = False
    held: bool = False
    destructive: bool = False
