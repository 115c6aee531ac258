"""Hanging protocols: which image hangs in which viewport (after PS3.17 Annex V)."""

from dataclasses import dataclass
from typing import Final

from viewer.domain.errors import WrongUseError

MOST_VIEWPORTS: Final = 3
"""In a row, and in a column."""
PROJECTIONS: Final = frozenset({"frontal", "lateral", "CC", "MLO"})
SERIES, NEXT, TILE = "series", "next", "tile"
_SHOWN: Final = {
    name.lower(): name for name in (*sorted(PROJECTIONS), SERIES, NEXT, TILE)
}
_SIDES: Final = {"right": "R", "left": "L"}


@dataclass(frozen=True, slots=True)
class Place:
    """What a viewport shows.

    ``shown`` is a projection, ``series``, ``next`` or ``tile``; ``prior`` 0 the current
    study, 1 the one before; ``side`` R, L or "" for either.
    """

    shown: str
    prior: int = 0
    side: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """The viewports of one step, row by row, each row with as many."""

    words: str
    rows: tuple[tuple[Place, ...], ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """All of them, row by row."""
        return tuple(place for row in self.rows for place in row)


@dataclass(frozen=True, slots=True)
class Protocol:
    """Stages for the images of some modalities; ``*`` stands for any."""

    name: str
    modalities: tuple[str, ...]
    stages: tuple[Stage, ...]

    def is_for(self, modality: str) -> bool:
        """Tell whether it is about images of a modality."""
        return "*" in self.modalities or modality in self.modalities


def read_stage(words: str) -> Stage:
    """Return a stage from text such as ``frontal | prior frontal``.

    Raises
    ------
    WrongUseError
        If a word is unknown, or there are too many viewports.
    """
    cells = [row.split("|") for row in words.split("/")]
    widths = {len(row) for row in cells}
    if len(widths) > 1 or max(len(cells), *widths) > MOST_VIEWPORTS:
        raise WrongUseError(
            f"'{words}' is not a layout of at most {MOST_VIEWPORTS} × "
            f"{MOST_VIEWPORTS} viewports.",
            "Give each row as many viewports, such as 'frontal | prior frontal'.",
        )
    rows = tuple(tuple(_place(cell, words) for cell in row) for row in cells)
    return Stage(" / ".join(" | ".join(map(str.strip, row)) for row in cells), rows)


def _place(text: str, stage: str) -> Place:
    words = text.lower().split()
    prior, side = 0, ""
    if words[:1] == ["prior"]:
        numbered = words[1:2] and words[1].isdecimal()
        prior = int(words[1]) if numbered else 1
        words = words[2:] if numbered else words[1:]
    if words[:1] and words[0] in _SIDES:
        side = _SIDES[words.pop(0)]
    if len(words) != 1 or words[0] not in _SHOWN:
        raise WrongUseError(
            f"'{text.strip()}' in '{stage}' names no image.",
            f"Use one of {', '.join(_SHOWN.values())}, after 'prior', 'right' or "
            "'left' where needed.",
        )
    return Place(_SHOWN[words[0]], prior, side)
