"""The installed font with Chinese characters, if there is one.

Found without a screen: the fonts that matplotlib finds are asked for some characters.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

ASKED_FOR: Final = "诊断肺部影像"
"""Characters that a font for simplified Chinese has."""


@dataclass(frozen=True, slots=True)
class HanFont:
    """A font file, and the name of its family."""

    path: Path
    family: str


@lru_cache(maxsize=1)
def han_font() -> HanFont | None:
    """Return the first installed font, by path, with Chinese characters; else None."""
    from matplotlib.font_manager import findSystemFonts

    return first_with_han(sorted(findSystemFonts()))


def first_with_han(paths: Iterable[str]) -> HanFont | None:
    """Return the first of several fonts that has Chinese characters.

    A file that is not a font is passed over.
    """
    return next((font for path in paths if (font := _with_han(path))), None)


def _with_han(path: str) -> HanFont | None:
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(path)
    except (OSError, RuntimeError):
        return None
    if not all(font.get_char_index(ord(letter)) for letter in ASKED_FOR):
        return None
    return HanFont(Path(path), font.family_name)


def figure_families(first: str) -> list[str]:
    """Return the font families of figures: ``first``, then the Chinese one.

    What the first has is drawn in it, to the byte as if it stood alone.
    """
    font = han_font()
    if font is None:
        return [first]
    _make_known(font.path)
    return [first, font.family]


@lru_cache(maxsize=1)
def _make_known(path: Path) -> None:
    from matplotlib.font_manager import fontManager

    fontManager.addfont(path)
