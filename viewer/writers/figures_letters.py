"""Letters that no font has: named below the figure, never drawn as empty boxes."""

import re
from functools import lru_cache
from typing import Final, TypeVar

from viewer.domain.map_texts import with_texts
from viewer.writers.han_font import figure_families

T = TypeVar("T")
STAND_IN: Final = "[…]"
"""What stands in a figure for letters that cannot be drawn."""
NOTE: Final = (
    f"{STAND_IN}: letters that no font of this machine has; the tables have them. "
    "overread doctor says what to install."
)


def readable(figure: T) -> tuple[T, str]:
    """Return a figure without letters that no font has, and a note of that or ""."""
    letters: set[str] = set()

    def collect(text: str) -> str:
        letters.update(text)
        return text

    with_texts(figure, collect)
    missing = {letter for letter in letters - {"\n"} if not _has(letter)}
    if not missing:
        return figure, ""
    run = re.compile(f"[{re.escape(''.join(sorted(missing)))}]+")
    return with_texts(figure, lambda text: run.sub(STAND_IN, text)), NOTE


def _has(letter: str) -> bool:
    """Tell whether text and titles, which are bold, can be written with a letter."""
    first, *others = figure_families("DejaVu Sans")
    faces = [_letters_of(first, weight) for weight in ("normal", "bold")]
    if all(ord(letter) in face for face in faces):
        return True
    return any(ord(letter) in _letters_of(family, "normal") for family in others)


@lru_cache(maxsize=8)
def _letters_of(family: str, weight: str) -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    path = findfont(FontProperties(family=[family], weight=weight))
    return frozenset(get_font(path).get_charmap())
