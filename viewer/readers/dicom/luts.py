"""Look-up tables of DICOM: modality and VOI LUTs, and palette entries."""

from typing import Final

import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset

from viewer.domain.image import LookupTable

_MOST_BITS: Final = 16


def lookup_tables(
    dataset: Dataset, group: Dataset, keyword: str, *, signed: bool
) -> tuple[LookupTable, ...]:
    """Return the tables of a sequence of ``group``, without items that have no entries.

    ``dataset`` is the file, for its byte order; ``signed`` is True if the input can be
    negative, because the first mapped value is then signed too.
    """
    return tuple(
        _lookup_table(item, dataset, signed=signed)
        for item in group.get(keyword) or ()
        if item.get("LUTDescriptor") and item.get("LUTData")
    )


def _lookup_table(item: Dataset, dataset: Dataset, *, signed: bool) -> LookupTable:
    """Parse LUT Descriptor and LUT Data (PS3.3 C.11.1.1 and C.11.2.1.1).

    If the bits are not 1-16, they follow from the greatest entry. The output range is
    that of the bits, so a greater entry is clipped to its end.
    """
    count, first, bits = (int(v) for v in item.LUTDescriptor)
    # Its VR depends on the pixels (US or SS), so it may have been read unsigned.
    if first > 0x7FFF and signed:
        first -= 1 << 16
    # 65,536 entries do not fit 16 bits and are written as 0 (PS3.3 C.11.1.1).
    entries = lut_entries(item.LUTData, count or 1 << 16, dataset)
    if not 1 <= bits <= _MOST_BITS:
        bits = max(1, int(entries.max()).bit_length())
    explanation = str(item.get("LUTExplanation") or "")
    return LookupTable(entries.clip(max=(1 << bits) - 1), first, bits, explanation)


def lut_entries(data: object, count: int, dataset: Dataset) -> npt.NDArray[np.uint16]:
    """Return ``count`` entries of LUT data, given as words (US) or as bytes (OW).

    8-bit entries may be packed two to a word, the first in the low byte.
    """
    if isinstance(data, bytes):
        raw = little_endian(data, dataset)
    else:
        words = np.atleast_1d(np.asarray(data)).astype(np.int64)
        raw = words.astype("<u2").tobytes()
    # OW data are whole words, so an odd number of bytes has one more.
    packed = len(raw) <= count + count % 2
    size = 1 if packed else 2
    entries = np.frombuffer(raw[: len(raw) // size * size], f"<u{size}")
    return entries[:count].astype(np.uint16)


def little_endian(data: bytes, dataset: Dataset) -> bytes:
    """Return OW data with its words in little-endian order (PS3.5 7.3)."""
    # None for a data set that was built in memory, which is little endian here.
    if dataset.original_encoding[1] is not False:
        return data
    return np.frombuffer(data, "u2").byteswap().tobytes()
