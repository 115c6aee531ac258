"""Keymaps: the presets, what may be a key, conflicts, and files of keys."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Final

from PySide6.QtGui import QKeySequence

from viewer.domain.documents import read_toml
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.plain import made
from viewer.ui.application.action_set import as_displayed
from viewer.ui.application.action_spec import ActionSpec, Place
from viewer.ui.application.actions import ACTIONS, SPECS
from viewer.ui.application.preferences import Keymap

RESERVED: Final = {
    "Tab": "Next control",
    "Shift+Tab": "Previous control",
    "Return": "Press the button, or ask",
    "Space": "Press the button, or tick",
    "Esc": "End or leave what is under way",
    "Left": "Previous image or cell",
    "Right": "Next image or cell",
    "Up": "Previous image or row",
    "Down": "Next image or row",
    "Home": "First image or row",
    "End": "Last image or row",
    "Menu": "Menu of the selection",
    "Shift+F10": "Menu of the selection",
    "Alt+Down": "Open the list of choices",
    "Ctrl++": "Enlarge a figure",
    "Ctrl+=": "Enlarge a figure",
    "Ctrl+-": "Shrink a figure",
    "Ctrl+0": "Fit a figure to the width",
}
"""Keys that no keymap changes, and what they do wherever they do anything."""
_SAME: Final = {"Enter": "Return", "Backtab": "Tab", "Shift+Backtab": "Shift+Tab"}
"""Qt's second name of a key."""
_DELETES: Final = {"Del", "Backspace"}
_PRESETS: Final = ("radiology", "bir", "ohif", "weasis", "pathology")
_HOW: Final = "Correct the file and import it again; no key was changed."


@cache
def presets() -> tuple[Keymap, ...]:
    """Return the keymaps that the program comes with, its own first."""
    folder = files("viewer.resources").joinpath("keymaps")
    texts = (folder.joinpath(f"{one}.toml").read_text("utf-8") for one in _PRESETS)
    return (Keymap(), *(read_keymap(read_toml(text), "a preset") for text in texts))


def preset_of(keymap: Keymap) -> Keymap:
    """Return the preset that a keymap began with; the program's own if it is none."""
    return next((one for one in presets() if one.name == keymap.name), Keymap())


def spelled(key: str) -> str:
    """Return a key in Qt's portable spelling, "" for what is not one single key."""
    sequence = QKeySequence(key)
    text = sequence.toString(QKeySequence.SequenceFormat.PortableText)
    return _SAME.get(text, text) if sequence.count() == 1 else ""


def overlap(one: Place, other: Place) -> bool:
    """Tell whether commands of two places can be available at the same time.

    Those of `Place.HERE` are in Read, Measure and Models; Review handles none.
    """
    places = {one, other}
    if len(places) == 1 or Place.EVERYWHERE in places:
        return True
    return Place.HERE in places and Place.REVIEW not in places


def conflicts(keymap: Keymap) -> Iterator[tuple[str, ActionSpec, ActionSpec]]:
    """Yield each key that two commands have where both are available."""
    by_key: dict[str, list[ActionSpec]] = defaultdict(list)
    for spec in ACTIONS:
        by_key[keymap.key_of(spec)].append(spec)
    del by_key[""]
    for key, specs in by_key.items():
        for one, other in combinations(specs, 2):
            if overlap(one.place, other.place):
                yield key, one, other


def holders(keymap: Keymap, spec: ActionSpec, key: str) -> tuple[ActionSpec, ...]:
    """Return the commands that have a key already where ``spec`` is available."""
    return tuple(
        other
        for other in ACTIONS
        if other is not spec
        and key == keymap.key_of(other)
        and overlap(spec.place, other.place)
    )


def objection(spec: ActionSpec, key: str) -> str:
    """Return why a key can never be a command's, "" if it can.

    ``key`` is spelled as `spelled` does, "" to take the command's key away.
    """
    shown = as_displayed(key)
    if key == spec.shortcut:
        return ""
    if spec.place is Place.REVIEW:
        return f"{spec.text} keeps its key: answers of questions have most letters"
    if key in RESERVED:
        return f"{shown} is always '{RESERVED[key]}'"
    plain = key.removeprefix("Shift+")
    if spec.place is Place.EVERYWHERE and (len(plain) == 1 or plain in _DELETES):
        return (
            f"{shown} belongs to the questions of Review, where {spec.text} is "
            "available too"
        )
    return ""


def with_key(keymap: Keymap, spec: ActionSpec, key: str) -> Keymap:
    """Return a keymap that has a key for a command, and takes it from any other."""
    taken = dict.fromkeys((one.id for one in holders(keymap, spec, key)), "")
    keys = {**keymap.keys, **(taken if key else {}), spec.id: key}
    return Keymap(keymap.name, keymap.source, _differing(keys))


def check_keymap(keymap: Keymap) -> Keymap:
    """Return a keymap with each key spelled as Qt does, and none that is the default.

    Raises
    ------
    WrongUseError
        For commands that do not exist, what is no key, keys that a command cannot have,
        and conflicts, all of them named in one sentence.
    """
    problems = [
        f"there is no command '{name}'" for name in keymap.keys.keys() - SPECS.keys()
    ]
    keys = {name: spelled(key) for name, key in keymap.keys.items() if name in SPECS}
    for name, key in keys.items():
        spec, given = SPECS[name], keymap.keys[name]
        said = "" if key or not given else f"'{given}' of {spec.text} is no key"
        problems += filter(None, [said or objection(spec, key)])
    checked = Keymap(keymap.name, keymap.source, _differing(keys))
    problems += (
        f"{as_displayed(key)} is both {one.text} and {other.text}"
        for key, one, other in conflicts(checked)
    )
    if problems:
        raise WrongUseError(
            f"These keys cannot be used: {'; '.join(sorted(problems))}.", _HOW
        )
    return checked


def _differing(keys: Mapping[str, str]) -> dict[str, str]:
    return {name: key for name, key in keys.items() if key != SPECS[name].shortcut}


def read_keymap(table: object, where: str) -> Keymap:
    """Return the keymap in a file, which has a name and a table of keys.

    Raises
    ------
    WrongUseError
        If the file has something else, or keys that cannot be used; the sentence names
        them.
    """
    try:
        return check_keymap(made(Keymap, table, where=where))
    except OverreadError as error:
        raise WrongUseError(error.what, _HOW) from None


def keymap_table(keymap: Keymap) -> dict[str, object]:
    """Return a keymap as a file has it; every command has a line."""
    keys = {spec.id: keymap.key_of(spec) for spec in ACTIONS}
    return {"name": keymap.name, "source": keymap.source, "keys": keys}
