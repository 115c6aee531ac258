"""Conversion of DICOM colour to 8-bit RGB: palettes, luminance and chrominance."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset

from viewer.readers.dicom.luts import little_endian, lut_entries
from viewer.readers.files.refusal import ContradictionError

_Bytes = npt.NDArray[np.uint8]
_CHANNELS: Final = ("Red", "Green", "Blue")
_DISCRETE, _LINEAR, _INDIRECT = 0, 1, 2
_CHROMA: Final = np.array([[0, 1.402], [-0.344136, -0.714136], [1.772, 0]], np.float32)
"""What (Cb, Cr) add to each of R, G and B (PS3.3 C.7.6.3.1.2, inverted)."""


def to_rgb(samples: npt.NDArray[Any], color: str, bits: int) -> _Bytes:
    """Return (rows, columns, 3) 8-bit RGB for samples of ``bits`` bits."""
    if color == "RGB":
        return to_8_bit(samples, bits)
    most, middle = (1 << bits) - 1, 1 << (bits - 1)
    luma, chroma = samples[..., :1].astype(np.float32), samples[..., 1:]
    chroma = chroma.astype(np.float32) - middle
    if color == "YBR_PARTIAL_422":
        # Studio range: luma takes 16 to 235, chroma 16 to 240 (PS3.3 C.7.6.3.1.2).
        luma, chroma = (luma - 16) * (most / 219), chroma * (most / 224)
    rgb = (luma + chroma @ _CHROMA.T) * (255 / most)
    return np.asarray(np.rint(rgb).clip(0, 255), np.uint8)


def to_8_bit(rgb: npt.NDArray[Any], bits: int) -> _Bytes:
    """Scale samples of ``bits`` bits to 8 bits, the maximum becoming 255."""
    if bits < 8:
        rgb = np.rint(rgb * (255 / ((1 << bits) - 1)))
    elif bits > 8:
        rgb = rgb >> (bits - 8)
    return np.ascontiguousarray(rgb.astype(np.uint8, copy=False))


def apply_palette(dataset: Dataset, indices: npt.NDArray[Any]) -> _Bytes:
    """Return (rows, columns, 3) colour for (rows, columns) palette indices.

    Entries count as 8 bits if no value of the three channels is greater: some writers
    declare 16 bits and keep 8 in the low byte (PS3.3 C.7.6.3.1.5, note).
    """
    tables = [_entries(dataset, name) for name in _CHANNELS]
    shift = 8 if max(table.max() for table in tables) > 0xFF else 0
    channels = []
    for name, table in zip(_CHANNELS, tables, strict=True):
        first = int(dataset[f"{name}PaletteColorLookupTableDescriptor"].value[1])
        # Its VR depends on the pixels: a negative value read as US looks huge.
        if indices.dtype.kind == "i" and first > 0x7FFF:
            first -= 1 << 16
        # Indices outside the table take its first or last entry (PS3.3 C.7.6.3.1.5).
        position = np.clip(indices.astype(np.int64) - first, 0, table.size - 1)
        channels.append((table >> shift).astype(np.uint8)[position])
    return np.stack(channels, axis=-1)


def _entries(dataset: Dataset, name: str) -> npt.NDArray[np.uint16]:
    descriptor = dataset.get(f"{name}PaletteColorLookupTableDescriptor")
    plain = dataset.get(f"{name}PaletteColorLookupTableData")
    segmented = dataset.get(f"Segmented{name}PaletteColorLookupTableData")
    if not descriptor or not (plain or segmented):
        raise ContradictionError(
            "says Photometric Interpretation PALETTE COLOR, but has no table of "
            f"{name.lower()}"
        )
    count, _, bits = (int(v) for v in descriptor)
    # 65,536 entries do not fit the 16 bits of the descriptor and are written as 0.
    count = count or 1 << 16
    if plain:
        return lut_entries(plain, count, dataset)
    words = np.frombuffer(
        little_endian(segmented, dataset), "u1" if bits == 8 else "<u2"
    )
    expanded = expand_segments([int(v) for v in words], words.itemsize)
    return np.array(expanded, dtype=np.uint16)[:count]


def expand_segments(words: Sequence[int], word_bytes: int) -> list[int]:
    """Return the palette entries encoded by discrete, linear and indirect segments.

    Each segment is an opcode, a length and its data (PS3.3 C.7.9.2). A linear segment
    runs from the previous entry to its end value; an indirect one repeats ``length``
    segments from a byte offset of 32 bits, least significant word first.
    """
    entries: list[int] = []
    position = 0
    while position + 1 < len(words):
        if words[position] == _INDIRECT:
            position += _repeat(words, position, word_bytes, entries)
        else:
            position += _expand_one(words, position, entries)
    return entries


def _expand_one(words: Sequence[int], at: int, entries: list[int]) -> int:
    """Append the entries of the segment at ``at``; return its length in words."""
    opcode, length = words[at], words[at + 1]
    if opcode == _DISCRETE:
        entries.extend(words[at + 2 : at + 2 + length])
        return 2 + length
    if opcode == _LINEAR:
        ramp = np.linspace(entries[-1], words[at + 2], length + 1)[1:]
        entries.extend(int(v) for v in np.rint(ramp))
        return 3
    raise ValueError("a palette segment has an unknown opcode")


def _repeat(words: Sequence[int], at: int, word_bytes: int, entries: list[int]) -> int:
    """Append earlier segments again, from the offset at ``at``; return its words."""
    offset_words = 4 // word_bytes
    offset = sum(
        word << (8 * word_bytes * i)
        for i, word in enumerate(words[at + 2 : at + 2 + offset_words])
    )
    source = offset // word_bytes
    for _ in range(words[at + 1]):
        source += _expand_one(words, source, entries)
    return 2 + offset_words
