"""Decodes JPEG 2000 and HTJ2K by OpenJPEG, after a look at the main header."""

import struct
from typing import Final

from viewer.readers.codestream import Decoded, check_frame
from viewer.readers.pixel_form import TRANSFORMED, PixelForm

_JP2: Final = b"\x00\x00\x00\x0cjP  "
_START_AND_SIZE: Final = b"\xff\x4f\xff\x51"
_MARKER, _CODING_STYLE, _TILE = 0xFF, 0x52, 0x90
_MAX_TILES: Final = 65_535
"""The most that a codestream can number (ISO/IEC 15444-1, A.4.2)."""
_SIGN: Final = 0x80


def decode_jpeg2000(data: bytes, form: PixelForm) -> Decoded:
    """Return the samples of one frame, colour by pixel.

    A multiple component transformation is undone, so that RGB is left of it whatever
    the tag says; without one the components are what the tag says (PS3.5 8.2.4).

    Raises
    ------
    ValueError
        If the codestream does not describe the image that the header describes.
    """
    from openjpeg.utils import decode

    data = _bare_codestream(data)
    precision, signed = _check_size(data, form)
    transformed, lossy = _coding(data)
    color = form.photometric
    if color in TRANSFORMED or transformed:
        color = "RGB"
    return Decoded(decode(data, 0), precision, color, form.signed or signed, lossy)


def _bare_codestream(data: bytes) -> bytes:
    if not data.startswith(_JP2):
        return data
    start = data.find(_START_AND_SIZE)
    if start < 0:
        raise ValueError("there is no codestream in the wrapper")
    return data[start:]


def _check_size(data: bytes, form: PixelForm) -> tuple[int, bool]:
    """Hold the SIZ segment (ISO/IEC 15444-1, A.5.1) against the header.

    Returns the precision of the first component, and whether it is signed.
    """
    if not data.startswith(_START_AND_SIZE):
        raise ValueError("the codestream does not begin with its size")
    x1, y1, x0, y0, tile_x, tile_y, _, _, components, depth = struct.unpack_from(
        ">8IHB", data, 8
    )
    check_frame(y1 - y0, x1 - x0, components, form)
    if not tile_x or not tile_y or -(-x1 // tile_x) * -(-y1 // tile_y) > _MAX_TILES:
        raise ValueError("the codestream has more tiles than it can number")
    return (depth & ~_SIGN) + 1, bool(depth & _SIGN)


def _coding(data: bytes) -> tuple[bool, bool]:
    """Return whether components and wavelets are transformed, these irreversibly.

    From the COD segment of the main header (A.6.1, tables A.17 and A.20).
    """
    at = 2
    while data[at] == _MARKER and data[at + 1] != _TILE:
        if data[at + 1] == _CODING_STYLE:
            return data[at + 8] == 1, data[at + 13] == 0
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    raise ValueError("the codestream does not say how it is coded")
