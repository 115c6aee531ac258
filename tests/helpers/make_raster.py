"""TIFF and PNG files written by hand, without a library that reads them.

What is written is what a test says, sensible or not: of a TIFF tag by tag (TIFF 6.0),
of a PNG chunk by chunk.
"""

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

_SAMPLE_FORMATS: Final = {"u": 1, "i": 2, "f": 3}
NONE, LZW, DEFLATE, PACKBITS = 1, 5, 8, 32773

Samples = npt.NDArray[Any]
Value = int | Fraction | Sequence[int]


@dataclass(frozen=True, eq=False)
class Page:
    """One page: samples as stored, and how.

    ``samples`` is (rows, columns) or (rows, columns, samples per pixel). ``bits`` is
    the Bits Per Sample, that of the dtype unless named; fewer than 8, and 12, are
    packed. ``tags`` are further tags, or other values of these.
    """

    samples: Samples
    photometric: int = 1
    bits: int | None = None
    planar: int = 1
    compression: int = NONE
    predictor: int = 1
    rows_per_strip: int | None = None
    tile: int | None = None
    tags: Mapping[int, Value] = field(default_factory=dict)

    @property
    def stored_bits(self) -> int:
        """Bits per sample."""
        return self.bits or 8 * self.samples.dtype.itemsize

    @property
    def planes(self) -> list[Samples]:
        """(rows, columns, samples) arrays that are stored one after the other."""
        whole = self.samples.reshape(*self.samples.shape[:2], -1)
        if self.planar == 1:
            return [whole]
        return [whole[..., n : n + 1] for n in range(whole.shape[2])]


@dataclass(frozen=True, slots=True)
class _Form:
    """How numbers are written: their byte order, and whether it is a BigTIFF."""

    order: Literal["<", ">"]
    big: bool

    @property
    def inline(self) -> int:
        """Bytes of a value that stands in its entry."""
        return 8 if self.big else 4

    def packed(self, code: str, *values: int) -> bytes:
        """Return numbers; an ``O`` is an offset."""
        code = code.replace("O", "Q" if self.big else "I")
        return struct.pack(self.order + code, *values)

    def value(self, tag: int, value: Value) -> tuple[int, int, bytes]:
        """Return the type, count and bytes of a tag's value."""
        if isinstance(value, Fraction):
            return 5, 1, self.packed("II", value.numerator, value.denominator)
        values = [value] if isinstance(value, int) else list(value)
        if tag in {273, 279, 324, 325} or max(values, default=0) > 0xFFFF:
            kind, code = (16, "Q") if self.big else (4, "I")
        else:
            kind, code = 3, "H"
        return kind, len(values), self.packed(f"{len(values)}{code}", *values)


def write_tiff(
    path: Path, *pages: Page, big_endian: bool = False, big_tiff: bool = False
) -> Path:
    """Write a TIFF or BigTIFF; return its path."""
    form = _Form(">" if big_endian else "<", big_tiff)
    data = bytearray(b"MM" if big_endian else b"II")
    data += form.packed("HHHO", 43, 8, 0, 16) if big_tiff else form.packed("HO", 42, 8)
    for number, page in enumerate(pages, start=1):
        data += _page(page, len(data), form, last=number == len(pages))
    path.write_bytes(data)
    return path


def _page(page: Page, at: int, form: _Form, *, last: bool) -> bytes:
    """Return a page's directory, its long values and its pixels, in this order."""
    segments = _segments(page, form.order)
    offsets, counts = (324, 325) if page.tile else (273, 279)
    tags: dict[int, Value] = {
        **_tags(page),
        offsets: [0] * len(segments),
        counts: [len(part) for part in segments],
        **page.tags,
    }
    head = len(form.packed("O" if form.big else "H", len(tags)))
    entry = len(form.packed("HHO", 0, 0, 0)) + form.inline
    values_at = _even(at + head + entry * len(tags) + form.inline)
    sizes = [len(form.value(tag, value)[2]) for tag, value in tags.items()]
    pixels_at = values_at + sum(_even(size) for size in sizes if size > form.inline)
    if offsets not in page.tags:
        places = np.cumsum([pixels_at, *(_even(len(part)) for part in segments)])
        tags[offsets] = places[:-1].tolist()
    body = b"".join(part.ljust(_even(len(part)), b"\0") for part in segments)
    directory = form.packed("O" if form.big else "H", len(tags))
    values = b""
    for tag in sorted(tags):
        kind, count, packed = form.value(tag, tags[tag])
        directory += form.packed("HHO", tag, kind, count)
        if len(packed) > form.inline:
            directory += form.packed("O", values_at + len(values))
            values += packed.ljust(_even(len(packed)), b"\0")
        else:
            directory += packed.ljust(form.inline, b"\0")
    directory += form.packed("O", 0 if last else pixels_at + len(body))
    return directory.ljust(values_at - at, b"\0") + values + body


def _even(number: int) -> int:
    return number + number % 2


def _tags(page: Page) -> dict[int, Value]:
    rows, columns = page.samples.shape[:2]
    count = page.planes[0].shape[2] * len(page.planes)
    tags: dict[int, Value] = {
        256: columns,
        257: rows,
        258: [page.stored_bits] * count,
        259: page.compression,
        262: page.photometric,
        277: count,
        284: page.planar,
        339: [_SAMPLE_FORMATS[page.samples.dtype.kind]] * count,
    }
    if page.predictor != 1:
        tags[317] = page.predictor
    if page.tile:
        tags |= {322: page.tile, 323: page.tile}
    else:
        tags[278] = page.rows_per_strip or rows
    return tags


def _segments(page: Page, order: Literal["<", ">"]) -> list[bytes]:
    parts = (part for plane in page.planes for part in _parts(plane, page))
    stored = (_predicted(part, page.predictor) for part in parts)
    return [_compressed(_bytes(p, page.stored_bits, order), page) for p in stored]


def _parts(plane: Samples, page: Page) -> list[Samples]:
    rows, columns = plane.shape[:2]
    if not page.tile:
        step = page.rows_per_strip or rows
        return [plane[row : row + step] for row in range(0, rows, step)]
    side = page.tile
    padded = np.pad(plane, ((0, -rows % side), (0, -columns % side), (0, 0)), "edge")
    return [
        padded[row : row + side, column : column + side]
        for row in range(0, padded.shape[0], side)
        for column in range(0, padded.shape[1], side)
    ]


def _predicted(part: Samples, predictor: int) -> Samples:
    """Return differences of neighbours where the predictor is 2 (TIFF 6.0, page 64)."""
    if predictor == 1:
        return part
    before = np.zeros_like(part)
    before[:, 1:] = part[:, :-1]
    return part - before


def _bytes(part: Samples, bits: int, order: Literal["<", ">"]) -> bytes:
    if bits == 8 * part.dtype.itemsize:
        return part.astype(part.dtype.newbyteorder(order)).tobytes()
    return _packed(part, bits).tobytes()  # each row begins with a byte, FillOrder 1


def _packed(part: Samples, bits: int) -> npt.NDArray[np.uint8]:
    """Return each row's samples bit by bit, the highest first."""
    rows = part.reshape(part.shape[0], -1)
    places = np.arange(bits - 1, -1, -1)
    spread = (rows[..., None].astype(np.int64) >> places) & 1
    return np.packbits(spread.reshape(len(rows), -1).astype(np.uint8), axis=1)


def _compressed(data: bytes, page: Page) -> bytes:
    if page.compression == DEFLATE:
        return zlib.compress(data)
    if page.compression == PACKBITS:
        pieces = (data[at : at + 128] for at in range(0, len(data), 128))
        return b"".join(bytes([len(piece) - 1]) + piece for piece in pieces)
    return data


Chunk = tuple[bytes, bytes]


class ColourType(IntEnum):
    """What a PNG's samples are (PNG, 11.2.2)."""

    GREY = 0
    RGB = 2
    PALETTE = 3
    GREY_ALPHA = 4
    RGB_ALPHA = 6


def write_png(
    path: Path,
    samples: Samples,
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
        (b"IDAT", zlib.compress(_png_rows(samples, bits))),
        *behind,
        (b"IEND", b""),
    ]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*each) for each in chunks))
    return path


def orientation_chunk(orientation: int) -> Chunk:
    """Return the chunk eXIf with an Orientation (EXIF 2.3, 4.6.4 A)."""
    entry = struct.pack(">HHIHH", 0x0112, 3, 1, orientation, 0)
    return b"eXIf", b"MM\0*\0\0\0\x08\0\x01" + entry + bytes(4)


def _png_rows(samples: Samples, bits: int) -> bytes:
    """Return each row behind the number of its filter, none."""
    if bits >= 8:
        flat = samples.reshape(samples.shape[0], -1)
        packed = flat.astype(f">u{bits // 8}").view(np.uint8)
    else:
        packed = _packed(samples, bits)
    return b"".join(b"\0" + row.tobytes() for row in packed)


def _chunk(name: bytes, body: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + body))
    return struct.pack(">I", len(body)) + name + body + check
