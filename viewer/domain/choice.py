"""The letters of a multiple-choice question's options, counted from 0."""

import re
from dataclasses import dataclass
from typing import Final

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_OPTIONS: Final = len(LETTERS)
"""Options that letters can tell apart."""

_GREEK: Final = "αβγδε"
"""Greek letters that stand in both alphabets' first five places; later ones do not."""
_LABEL = re.compile(r"\s*(?:\(\s*([^\W\d_])\s*\)|([^\W\d_])\s*[).:])\s*(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LabelledOption:
    """An option's position among its question's options, and its text."""

    option: int
    text: str


def letter_of(option: int) -> str:
    """Return the letter of an option, ``A`` for 0; raises IndexError from 26 on."""
    return LETTERS[option]


def option_of(letter: str) -> int | None:
    """Return the option for a Latin letter of either case or α to ε, else None."""
    if len(letter) != 1:
        return None
    alphabet = LETTERS if letter.isascii() else _GREEK.upper()
    place = alphabet.find(letter.upper())
    return place if place >= 0 else None


def labelled(option: str) -> LabelledOption | None:
    """Split an option written as ``B) text`` into letter and text; None without either.

    ``(B) text``, ``B. text`` and ``B: text`` are read as well. Only the first bracket
    belongs to the letter: the text may contain others.
    """
    match = _LABEL.fullmatch(option)
    place = option_of(match[1] or match[2]) if match else None
    if match is None or place is None:
        return None
    return LabelledOption(place, match[3].strip())


@dataclass(frozen=True, slots=True)
class ExpertChoice:
    """The option of an item that one reader of a group chose."""

    group: str
    reader: str
    item: str
    option: int
