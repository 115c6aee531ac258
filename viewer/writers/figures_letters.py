"""Characters that no font has: noted below the figure, not drawn as empty boxes."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Generic, TypeVar

from viewer.domain.map_texts import with_texts
from viewer.writers.han_font import figure_families

T = TypeVar("T")
FAMILY: Final = "DejaVu Sans"
STAND_IN: Final = "[…]"
"""What stands in a figure for letters that cannot be drawn."""
NOTE: Final = (
    f"{STAND_IN}: characters that no font on this machine has; the tables have them. "
    "overread doctor says what to install."
)


@dataclass(frozen=True)
class Readable(Generic[T]):
    """A figure whose characters can all be drawn in some font families.

    ``note`` says that letters were left out, "" if none was.
    """

    figure: T
    families: tuple[str, ...] = (FAMILY,)
    note: str = ""


def readable(figure: T) -> Readable[T]:
    """Return a figure without the characters that no font has.

    Other fonts are looked for only where it has letters that the first one lacks.
    """
    letters: set[str] = set()

    def collect(text: str) -> str:
        letters.update(text)
        return text

    with_texts(figure, collect)
    first = _letters_of(FAMILY, "normal") & _letters_of(FAMILY, "bold")
    beyond = {letter for letter in letters - {"\n"} if ord(letter) not in first}
    if not beyond:
        return Readable(figure)
    families = tuple(figure_families(FAMILY))
    known = {code for name in families[1:] for code in _letters_of(name, "normal")}
    missing = {letter for letter in beyond if ord(letter) not in known}
    if not missing:
        return Readable(figure, families)
    run = re.compile(f"[{re.escape(''.join(sorted(missing)))}]+")
    told = with_texts(figure, lambda text: run.sub(STAND_IN, text))
    return Readable(told, families, NOTE)


@lru_cache(maxsize=8)
def _letters_of(family: str, weight: str) -> frozenset[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    path = findfont(FontProperties(family=[family], weight=weight))
    return frozenset(get_font(path).get_charmap())
