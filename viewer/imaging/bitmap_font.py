"""A bitmap font of our own, capitals and digits, so that labels never vary.

Three faces of the same letters: 5 × 7 is the usual one, monospaced; 4 × 7 keeps the
height where three characters must fit a cell of 16 pixels, with a narrower 1 and a
wider M; 3 × 5 is the last resort. The zero has no stroke: a label's letter always comes
first, so O and 0 cannot be confused.
"""

from enum import Enum
from functools import cache

import numpy as np
import numpy.typing as npt

from viewer.domain.errors import WrongUseError

CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
SPACING = 1
"""Empty columns between two characters, before scaling."""

_REGULAR = """
.###. ####. .###. ####. ##### ##### .###. #...# .###. ..### #...# #....
#...# #...# #...# #...# #.... #.... #...# #...# ..#.. ...#. #..#. #....
#...# #...# #.... #...# #.... #.... #.... #...# ..#.. ...#. #.#.. #....
##### ####. #.... #...# ####. ####. #.### ##### ..#.. ...#. ##... #....
#...# #...# #.... #...# #.... #.... #...# #...# ..#.. ...#. #.#.. #....
#...# #...# #...# #...# #.... #.... #...# #...# ..#.. #..#. #..#. #....
#...# ####. .###. ####. ##### #.... .###. #...# .###. .##.. #...# #####

#...# #...# .###. ####. .###. ####. .#### ##### #...# #...# #...# #...#
##.## ##..# #...# #...# #...# #...# #.... ..#.. #...# #...# #...# #...#
#.#.# ##..# #...# #...# #...# #...# #.... ..#.. #...# #...# #...# .#.#.
#.#.# #.#.# #...# ####. #...# ####. .###. ..#.. #...# #...# #.#.# ..#..
#...# #..## #...# #.... #.#.# #.#.. ....# ..#.. #...# #...# #.#.# .#.#.
#...# #..## #...# #.... #..#. #..#. ....# ..#.. #...# .#.#. ##.## #...#
#...# #...# .###. #.... .##.# #...# ####. ..#.. .###. ..#.. #...# #...#

#...# ##### .###. ..#.. .###. ##### ...#. ##### ..##. ##### .###. .###.
#...# ....# #...# .##.. #...# ...#. ..##. #.... .#... ....# #...# #...#
#...# ...#. #...# ..#.. ....# ..#.. .#.#. ####. #.... ...#. #...# #...#
.#.#. ..#.. #...# ..#.. ...#. ...#. #..#. ....# ####. ...#. .###. .####
..#.. .#... #...# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
..#.. #.... #...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ...#.
..#.. ##### .###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .##..
"""

_NARROW = """
.##. ###. .##. ###. #### #### .##. #..# ###. ..## #..# #...
#..# #..# #..# #..# #... #... #..# #..# .#.. ...# #..# #...
#..# #..# #... #..# #... #... #... #..# .#.. ...# #.#. #...
#### ###. #... #..# ###. ###. #.## #### .#.. ...# ##.. #...
#..# #..# #... #..# #... #... #..# #..# .#.. ...# #.#. #...
#..# #..# #..# #..# #... #... #..# #..# .#.. #..# #..# #...
#..# ###. .##. ###. #### #... .##. #..# ###. .##. #..# ####

#...# #..# .##. ###. .##. ###. .### ###. #..# #..# #...# #..#
##.## ##.# #..# #..# #..# #..# #... .#.. #..# #..# #...# #..#
#.#.# ##.# #..# #..# #..# #..# #... .#.. #..# #..# #...# #..#
#.#.# #.## #..# ###. #..# ###. .##. .#.. #..# #..# #...# .##.
#...# #.## #..# #... #..# #.#. ...# .#.. #..# #..# #.#.# #..#
#...# #..# #..# #... #.## #..# ...# .#.. #..# .##. ##.## #..#
#...# #..# .##. #... .### #..# ###. .#.. .##. .##. #...# #..#

#..# #### .##. .#.. .##. ###. ..#. #### .##. #### .##. .##.
#..# ...# #..# ##.. #..# ...# .##. #... #... ...# #..# #..#
#..# ..#. #..# .#.. ...# ...# #.#. ###. #... ..#. #..# #..#
.##. .##. #..# .#.. ..#. .##. #.#. ...# ###. ..#. .##. .###
.#.. .#.. #..# .#.. .#.. ...# #### ...# #..# .#.. #..# ...#
.#.. #... #..# .#.. #... ...# ..#. #..# #..# .#.. #..# ...#
.#.. #### .##. ###. #### ###. ..#. .##. .##. .#.. .##. .##.
"""

_SMALL = """
.#. ##. .## ##. ### ### .## #.# ### ..# #.# #..
#.# #.# #.. #.# #.. #.. #.. #.# .#. ..# #.# #..
### ##. #.. #.# ##. ##. #.# ### .#. ..# ##. #..
#.# #.# #.. #.# #.. #.. #.# #.# .#. #.# #.# #..
#.# ##. .## ##. ### #.. .## #.# ### .#. #.# ###

#.# ##. .#. ##. .#. ##. .## ### #.# #.# #.# #.#
### #.# #.# #.# #.# #.# #.. .#. #.# #.# #.# #.#
### #.# #.# ##. #.# ##. .#. .#. #.# #.# ### .#.
#.# #.# #.# #.. ### #.# ..# .#. #.# #.# ### #.#
#.# #.# .#. #.. .## #.# ##. .#. ### .#. #.# #.#

#.# ### ### .#. ##. ##. #.# ### .## ### ### ###
#.# ..# #.# ##. ..# ..# #.# #.. #.. ..# #.# #.#
.#. .#. #.# .#. .#. .#. ### ##. ### .#. ### ###
.#. #.. #.# .#. #.. ..# ..# ..# #.# .#. #.# ..#
.#. ### ### ### ### ##. ..# ##. ### .#. ### ##.
"""


class Face(Enum):
    """A face of the font; its value is the usual size of a character in pixels."""

    REGULAR = "5 × 7"
    NARROW = "4 × 7"
    SMALL = "3 × 5"

    @property
    def height(self) -> int:
        """The height of a character in rows."""
        return int(self.value[-1])


_DRAWINGS = {Face.REGULAR: _REGULAR, Face.NARROW: _NARROW, Face.SMALL: _SMALL}


def text_width(text: str, scale: int = 1, face: Face = Face.REGULAR) -> int:
    """Return the width in columns that :func:`text_mask` needs for ``text``."""
    widths = (int(_glyphs(face)[c].shape[1]) + SPACING for c in text)
    return scale * (sum(widths) - SPACING)


def text_mask(
    text: str, scale: int = 1, face: Face = Face.REGULAR
) -> npt.NDArray[np.bool_]:
    """Return ``text`` as a (height·scale, width) mask, True for ink.

    Raises
    ------
    WrongUseError
        If ``text`` is empty or holds anything but A-Z and 0-9.
    """
    if not text or any(character not in CHARACTERS for character in text):
        raise WrongUseError(
            f"'{text}' cannot be written in capitals and digits.", "Use A-Z and 0-9."
        )
    gap = np.zeros((face.height, SPACING), dtype=bool)
    columns = [part for c in text for part in (_glyphs(face)[c], gap)][:-1]
    return np.kron(np.hstack(columns), np.ones((scale, scale), dtype=bool))


@cache
def _glyphs(face: Face) -> dict[str, npt.NDArray[np.bool_]]:
    """Parse a drawing: blocks of lines, each with its characters side by side."""
    lines = [line.split() for line in _DRAWINGS[face].split("\n") if line]
    blocks = [lines[i : i + face.height] for i in range(0, len(lines), face.height)]
    glyphs = [
        np.array([[dot == "#" for dot in line] for line in character])
        for block in blocks
        for character in zip(*block, strict=True)
    ]
    if face is Face.NARROW:
        glyphs = [glyph[:, glyph.any(axis=0)] for glyph in glyphs]
    return dict(zip(CHARACTERS, glyphs, strict=True))
