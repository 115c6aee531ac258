"""The main header of a JPEG 2000 codestream (ISO/IEC 15444-1, annex A)."""

import struct
from dataclasses import dataclass
from typing import Final

_JP2_START: Final = b"\x00\x00\x00\x0cjP  "
"""A JP2 file, which is a codestream in a wrapper (I.5.1)."""
_START: Final = b"\xff\x4f\xff\x51"
"""The markers SOC and SIZ (A.4.1, A.5.1)."""
_SIZE: Final = struct.Struct(">4xHHIIIIIIIIH")
"""These, and what SIZ says before its components."""
_MARKER, _CODING_STYLE, _TILE = 0xFF, 0x52, 0x90
_SIGN: Final = 0x80
_MAX_TILES: Final = 65_535
"""The most that a codestream can number (A.4.2)."""


@dataclass(frozen=True, slots=True)
class MainHeader:
    """The image properties in a codestream; ``precision`` is in bits per component.

    ``alike`` is True if all components have the first one's precision and sign,
    ``transformed`` if RGB was converted to luminance and chrominance, ``reversible`` if
    the wavelets are lossless (tables A.17 and A.20).
    """

    rows: int
    columns: int
    components: int
    precision: int
    signed: bool
    alike: bool
    transformed: bool
    reversible: bool


def codestream_of(data: bytes) -> bytes:
    """Return a codestream without its JP2 wrapper, if it has one."""
    start = data.find(_START) if data.startswith(_JP2_START) else 0
    if start < 0:
        raise ValueError("there is no codestream in the wrapper")
    return data[start:]


def main_header(stream: bytes) -> MainHeader:
    """Return the image properties in a codestream's main header.

    Raises
    ------
    ValueError
        If it does not begin like a codestream, or has more tiles than the format
        allows.
    """
    if not stream.startswith(_START):
        raise ValueError("the codestream does not begin with its size")
    _, _, x1, y1, x0, y0, tile_x, tile_y, _, _, count = _SIZE.unpack_from(stream)
    if not tile_x or not tile_y or -(-x1 // tile_x) * -(-y1 // tile_y) > _MAX_TILES:
        raise ValueError("the codestream has more tiles than it can number")
    depths = stream[_SIZE.size : _SIZE.size + 3 * count : 3]
    return MainHeader(
        y1 - y0,
        x1 - x0,
        count,
        # Ssiz is the depth minus one, with the sign in its top bit (table A.11).
        (depths[0] & ~_SIGN) + 1,
        bool(depths[0] & _SIGN),
        len(set(depths)) == 1,
        *_coding(stream),
    )


def _coding(stream: bytes) -> tuple[bool, bool]:
    """Return whether components are transformed and wavelets reversible (A.6.1)."""
    at = 2
    while stream[at] == _MARKER and stream[at + 1] != _TILE:
        if stream[at + 1] == _CODING_STYLE:
            # Behind marker, length, style, progression and layers; then behind levels,
            # two sizes of a code block and its style (tables A.14 and A.15).
            return stream[at + 8] == 1, stream[at + 13] == 1
        at += 2 + int.from_bytes(stream[at + 2 : at + 4], "big")
    raise ValueError("the codestream does not say how it is coded")
