"""PNG files written by hand, chunk by chunk, without a library that reads them."""

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

GREY, RGB, PALETTE, GREY_ALPHA, RGB_ALPHA = 0, 2, 3, 4, 6
Chunk = tuple[bytes, bytes]


def write_png(
    path: Path,
    samples: npt.NDArray[Any],
    kind: int,
    bits: int = 8,
    before: Sequence[Chunk] = (),
    behind: Sequence[Chunk] = (),
) -> Path:
    """Write (rows, columns) or (rows, columns, n) samples; return the path.

    ``kind`` is the colour type; further chunks stand before and behind the pixels.
    """
    rows, columns = samples.shape[:2]
    head = struct.pack(">IIBBBBB", columns, rows, bits, kind, 0, 0, 0)
    chunks = [
        (b"IHDR", head),
        *before,
        (b"IDAT", zlib.compress(_rows(samples, bits))),
        *behind,
        (b"IEND", b""),
    ]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks))
    return path


def orientation_chunk(orientation: int) -> Chunk:
    """Return the chunk eXIf with an Orientation (EXIF 2.3, 4.6.4 A)."""
    entry = struct.pack(">HHIHH", 0x0112, 3, 1, orientation, 0)
    return b"eXIf", b"MM\0*\0\0\0\x08\0\x01" + entry + bytes(4)


def _rows(samples: npt.NDArray[Any], bits: int) -> bytes:
    """Return each row behind the number of its filter, none."""
    flat = samples.reshape(samples.shape[0], -1)
    if bits >= 8:
        packed = flat.astype(f">u{bits // 8}").view(np.uint8)
    else:
        spread = (flat[..., None] >> np.arange(bits - 1, -1, -1)) & 1
        packed = np.packbits(spread.reshape(len(flat), -1).astype(np.uint8), axis=1)
    return b"".join(b"\0" + row.tobytes() for row in packed)


def _chunk(name: bytes, body: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + body))
    return struct.pack(">I", len(body)) + name + body + check
