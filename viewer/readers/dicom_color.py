"""Colour in DICOM: palettes (PS3.3 C.7.6.3.1.5, C.7.9.2) and more than 8 bits.

Colour is shown as stored; ICC profiles are not applied.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset

from viewer.readers.dicom_values import lut_entries

_CHANNELS = ("Red", "Green", "Blue")
_DISCRETE, _LINEAR, _INDIRECT = 0, 1, 2


def to_8_bit(rgb: npt.NDArray[Any], bits: int) -> npt.NDArray[np.uint8]:
    """Return (rows, columns, 3) colour of ``bits`` per sample as 8 bits."""
    if rgb.dtype == np.uint8:
        return np.ascontiguousarray(rgb)
    return (rgb >> max(0, bits - 8)).clip(0, 255).astype(np.uint8)


def apply_palette(dataset: Dataset, indices: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return (rows, columns, 3) colour for (rows, columns) stored indices."""
    return np.stack([_channel(dataset, indices, name) for name in _CHANNELS], axis=-1)


def _channel(
    dataset: Dataset, indices: npt.NDArray[Any], name: str
) -> npt.NDArray[np.uint8]:
    descriptor = dataset[f"{name}PaletteColorLookupTableDescriptor"].value
    count, first, bits = (int(v) for v in descriptor)
    count = count or 1 << 16
    if indices.dtype.kind == "i" and first > 0x7FFF:
        first -= 1 << 16
    entries = _entries(dataset, name, count, bits)
    # Some writers declare 16 bits and store 8 in the low byte.
    shift = 8 if bits > 8 and entries.max() > 0xFF else 0
    position = np.clip(indices.astype(np.int64) - first, 0, entries.size - 1)
    return (entries >> shift).astype(np.uint8)[position]


def _entries(
    dataset: Dataset, name: str, count: int, bits: int
) -> npt.NDArray[np.uint16]:
    big_endian = not dataset.original_encoding[1]
    plain = dataset.get(f"{name}PaletteColorLookupTableData")
    if plain is not None:
        return lut_entries(plain, count, big_endian=big_endian)
    data: bytes = dataset[f"Segmented{name}PaletteColorLookupTableData"].value
    dtype = np.dtype("u1" if bits == 8 else f"{'>' if big_endian else '<'}u2")
    words = [int(v) for v in np.frombuffer(data, dtype)]
    expanded = expand_segments(words, dtype.itemsize)
    return np.array(expanded, dtype=np.uint16)[:count]


def expand_segments(words: Sequence[int], word_bytes: int) -> list[int]:
    """Return the entries that discrete, linear and indirect segments describe.

    Each segment is an opcode, a length and its data (PS3.3 C.7.9.2). A linear segment
    runs from the entry before it to its end value; an indirect one repeats ``length``
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
    """Append what the segment at ``at`` describes; return how many words it takes."""
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
    """Append segments once more, from the offset named at ``at``; return its words."""
    offset_words = 4 // word_bytes
    offset = sum(
        word << (8 * word_bytes * i)
        for i, word in enumerate(words[at + 2 : at + 2 + offset_words])
    )
    source = offset // word_bytes
    for _ in range(words[at + 1]):
        source += _expand_one(words, source, entries)
    return 2 + offset_words
