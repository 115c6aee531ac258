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

    ``shortcut`` is its key in Qt's portable spelling, until a keymap has another; those
    of Review the displayed case handles itself, after a question's answers.
    ``checkable`` actions show a state; of those with the same ``group`` one is on at a
    time. ``section`` starts a new section of its menu. ``held`` ones last only while
    their key is down, so they are in no menu. ``destructive`` ones delete the user's
    work: the palette lists them last, and only once several letters are typed.
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


def tool(
    name: str, text: str, key: str, tip: str, icon_name: str, menu: str = "Image"
) -> ActionSpec:
    """Return a tool, of which one is chosen at a time."""
    return ActionSpec(
        f"tool.{name}", menu, text, key, tip, icon_name, Place.READ,
        checkable=True, group="tool",
    )  # fmt: skip


def read(
    name: str, menu: str, text: str, key: str, tip: str, icon_name: str = ""
) -> ActionSpec:
    """Return a command of the workspace Read."""
    return ActionSpec(name, menu, text, key, tip, icon_name, Place.READ)


def measure(
    name: str, menu: str, text: str, key: str, tip: str, icon_name: str = ""
) -> ActionSpec:
    """Return a command of the workspace Measure."""
    return ActionSpec(name, menu, text, key, tip, icon_name, Place.MEASURE)


def review(
    name: str, text: str, key: str, tip: str, icon_name: str, *, section: bool = False
) -> ActionSpec:
    """Return a command of the workspace Review."""
    return ActionSpec(
        f"review.{name}", "Review", text, key, tip, icon_name, Place.REVIEW,
        section=section,
    )  # fmt: skip


def models(
    name: str, text: str, key: str, tip: str, icon_name: str, *, section: bool = False
) -> ActionSpec:
    """Return a command of the workspace Models."""
    return ActionSpec(
        f"model.{name}", "Model", text, key, tip, icon_name, Place.MODELS,
        section=section,
    )  # fmt: skip
