"""The reader's preferences, in one table, and the keys of commands.

The page of settings and its words come from it. Where the IHE profile Basic Image
Review (BIR) and common practice differ, there is a preference.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from viewer.ui.application.action_spec import ActionSpec

CHOICE: Final = "preferences"
KEYS: Final = "keymap"
LATELY: Final = "commands"
"""The names of both, and of the latest commands, among the choices that are kept."""


class Detail(StrEnum):
    """How much is written over an image (IHE BIR 5.8)."""

    FULL = "full"
    MINIMAL = "minimal"
    NONE = "none"

    @property
    def next(self) -> "Detail":
        """What follows it when a key goes through all of them."""
        order = tuple(Detail)
        return order[(order.index(self) + 1) % len(order)]


@dataclass(frozen=True, slots=True)
class Preferences:
    """What a reader may set once for every image."""

    scroll_first: bool = True
    wheel_zooms_single: bool = True
    up_darkens: bool = False
    reset_keeps_marks: bool = False
    nearest_pixel: bool = False
    window_of_stored: bool = False
    pictures_name_patient: bool = False
    basic_mode: bool = False
    minimap: bool = True
    colours_as_scanned: bool = False
    detail: Detail = Detail.FULL
    brush_steps: int = 0
    """How many steps the brush for masks was made wider, which its own keys set."""


@dataclass(frozen=True, slots=True)
class Keymap:
    """The keys that differ from those in the table of commands.

    ``keys`` are key sequences in Qt's portable spelling by the id of a command, "" for
    one without a key. ``name`` is that of the preset that was chosen, ``source`` the
    address where its keys are documented.
    """

    name: str = "Overread"
    source: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)

    def key_of(self, spec: ActionSpec) -> str:
        """Return the key of a command, "" for none."""
        return self.keys.get(spec.id, spec.shortcut)


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
    "wheel_zooms_single": Wording(
        "The wheel zooms an image that is not part of a series",
        "Otherwise it scrolls only, and with Ctrl it zooms (BIR: scrolls only)",
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
    "window_of_stored": Wording(
        "Windows of MR, PET and XA files are for stored values",
        "From the next image on. Otherwise they apply after rescaling, as DICOM has it "
        "(BIR: rescaling is ignored)",
    ),
    "pictures_name_patient": Wording(
        "Saved and copied pictures name the patient",
        "Otherwise corner text, overlay planes and texts of presentation states are "
        "left out; text in the pixels stays",
    ),
    "minimap": Wording(
        "A magnified slide shows where the view lies on it",
        "In a small picture at the top right; a click there moves the view",
    ),
    "colours_as_scanned": Wording(
        "Slides are shown in the scanner's colours",
        "Otherwise their ICC profile converts them to the screen's. Models are always "
        "sent converted colours",
    ),
    "detail": Wording(
        "Text in the corners of images",
        "Who the patient is, the study, the series and the window (BIR: three states)",
    ),
    "basic_mode": Wording(
        "Basic mode: only the basic tools and commands",
        "Tool bar and menus leave out what a first reading does not need; keys and the "
        "list of all commands keep everything",
    ),
}
"""Those on the page of settings, by the name of the field."""
DETAILS: Final = {
    Detail.FULL: "All of it",
    Detail.MINIMAL: "Only who it is",
    Detail.NONE: "None",
}
"""The words of each value of the detail."""


_IN_USE = {"preferences": Preferences()}


def current() -> Preferences:
    """Return the preferences in use."""
    return _IN_USE["preferences"]


def use(preferences: Preferences) -> None:
    """Use preferences from now on."""
    _IN_USE["preferences"] = preferences
