"""JPEG 2000 files and codestreams (ISO/IEC 15444-1), by imagecodecs."""

import struct
from pathlib import Path
from typing import Final

from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.raster_page import Samples
from viewer.readers.refusal import DAMAGED

STARTS: Final = (b"\x00\x00\x00\x0cjP  \r\n\x87\n", b"\xff\x4f\xff\x51")
"""A JP2 file (I.5.1) and a codestream alone (A.4.1, A.5.1)."""
_SIZE: Final = struct.Struct(">4xHHIIIIIIIIH")
"""The markers SOC and SIZ, and what SIZ says before its components (A.5.1)."""
_SIGNED: Final = 0x80


def decoded_jpeg2000(path: Path, size: SizePx) -> tuple[Samples, int]:
    """Return the samples, (rows, columns) or (rows, columns, n), and their bits.

    Raises
    ------
    UnreadableInputError
        If the codestream has another size than its file says, or components that
        differ in depth.
    """
    from imagecodecs import jpeg2k_decode

    data = path.read_bytes()
    bits = _bits(data[max(0, data.find(STARTS[1])) :], path, size)
    samples: Samples = jpeg2k_decode(data)
    return samples, bits


def _bits(stream: bytes, path: Path, size: SizePx) -> int:
    """Return the bits of every component (Ssiz); a wrong size is refused."""
    _, _, right, bottom, left, top, _, _, _, _, components = _SIZE.unpack_from(stream)
    own = SizePx(bottom - top, right - left)
    if own != size:
        raise UnreadableInputError(
            f"{path.name} says that it is {size.columns} × {size.rows} pixels; its "
            f"codestream is {own.columns} × {own.rows}.",
            DAMAGED,
        )
    depths = set(stream[_SIZE.size : _SIZE.size + 3 * components : 3])
    depth = depths.pop()
    if depths or (components > 1 and depth & _SIGNED):
        raise UnreadableInputError(
            f"The colours of {path.name} are signed or differ in depth.",
            "Save it as RGB of 8 or 16 bits.",
        )
    return (depth & ~_SIGNED) + 1
