"""Claims of a DICOM header checked against the bytes of its file."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

from pydicom import uid
from pydicom.dataset import Dataset
from pydicom.filereader import _read_file_meta_info, read_partial, read_preamble
from pydicom.tag import BaseTag

from viewer.domain.errors import UnreadableInputError
from viewer.readers.files.refusal import DAMAGED, ContradictionError
from viewer.readers.files.regular import regular_file

DEFLATED: Final = frozenset({uid.DeflatedExplicitVRLittleEndian})
"""Transfer syntaxes whose data set is compressed as a whole (PS3.5 A.5)."""
MOST_INFLATED: Final = 1 << 29
"""As many bytes as the largest frame that is read."""
_DEFLATED_UID: Final = uid.DeflatedExplicitVRLittleEndian.encode()
_START: Final = 1 << 16
"""Bytes among which the file meta group lies."""
_PIECE: Final = 1 << 20
_MOST_ELEMENTS: Final = 1 << 16
_PIXELS: Final = frozenset({0x7FE00008, 0x7FE00009, 0x7FE00010})
_LEAST_FRAGMENT: Final = 8
"""Bytes of an encapsulated frame: those of its item's tag and length (PS3.5 A.4)."""


def held_bytes(path: Path) -> int:
    """Return the maximum number of bytes of data elements in a file.

    Raises
    ------
    UnreadableInputError
        If its data set is deflated and would inflate to more than ``MOST_INFLATED``.
    """
    regular_file(path)
    with path.open("rb") as stream:
        # Searched as bytes: every file of a folder comes here, and few are deflated.
        if _DEFLATED_UID not in stream.read(_START):
            return path.stat().st_size
        stream.seek(0)
        read_preamble(stream, force=True)
        if _read_file_meta_info(stream).get("TransferSyntaxUID") not in DEFLATED:
            return path.stat().st_size
        size = _inflated(stream)
    if size > MOST_INFLATED:
        raise UnreadableInputError(
            f"{path.name} inflates to more than {MOST_INFLATED >> 20} MB.",
            "Export it again as Explicit VR Little Endian.",
        )
    return size


def may_be_dataset(stream: BinaryIO) -> bool:
    """Tell whether a file without the preamble of PS3.10 may be a data set.

    Group 0 is for commands only (PS3.7 E.1), and a file of zeros would parse as any
    number of them. The stream is at its beginning afterwards.
    """
    stream.seek(0)
    start = stream.read(2)
    stream.seek(0)
    return len(start) == 2 and start != b"\0\0"


def read_before_pixels(
    stream: BinaryIO, tags: Sequence[int], *, force: bool = False
) -> Dataset:
    """Read the requested elements that come before the pixels.

    ``force`` also accepts a file without the preamble of PS3.10, which may be anything:
    more elements than any real header has raise ValueError.
    """
    elements = 0

    def is_at_end(tag: BaseTag, _vr: str | None, _length: int) -> bool:
        nonlocal elements
        elements += 1
        if elements > _MOST_ELEMENTS:
            raise ValueError("there are too many elements")
        return tag in _PIXELS

    dataset: Dataset = read_partial(
        stream, stop_when=is_at_end, force=force, specific_tags=list(tags)
    )
    return dataset


def frame_count(dataset: Dataset) -> int:
    """Return Number of Frames, 1 if it is absent or empty."""
    try:
        return max(1, int(dataset.get("NumberOfFrames") or 1))
    except (TypeError, ValueError) as error:
        raise ContradictionError(
            "has a Number of Frames that is not a whole number"
        ) from error


def check_frames(dataset: Dataset, path: Path, held: int) -> None:
    """Refuse more frames than ``held`` bytes can contain."""
    frames, most = frame_count(dataset), max(1, held // _least_frame(dataset))
    if frames > most:
        raise UnreadableInputError(
            f"{path.name} claims to have {frames:,} frames, but has bytes for at most "
            f"{most:,}.",
            DAMAGED,
        )


def _least_frame(dataset: Dataset) -> int:
    """Return the minimum size of one frame in bytes."""
    syntax = dataset.file_meta.get("TransferSyntaxUID")
    if syntax and uid.UID(syntax).is_encapsulated:
        return _LEAST_FRAGMENT
    bits = int(dataset.get("BitsAllocated") or 1)
    samples = int(dataset.get("SamplesPerPixel") or 1)
    # Two pixels share their chrominances: four samples for two pixels.
    if dataset.get("PhotometricInterpretation") == "YBR_FULL_422":
        samples = 2
    pixels = int(dataset.get("Rows") or 1) * int(dataset.get("Columns") or 1)
    # Not rounded up: frames of 1-bit pixels may share a byte.
    return max(1, pixels * samples * bits // 8)


def _inflated(stream: BinaryIO) -> int:
    """Return the inflated length of the rest of a stream; stops beyond the limit."""
    # Negative: a bare RFC 1951 stream without zlib's header (PS3.5 A.5).
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    size = 0
    while not inflater.eof and size <= MOST_INFLATED:
        piece = inflater.unconsumed_tail or stream.read(_PIECE)
        if not piece:
            break
        # Inflated in pieces that are dropped: a small file may inflate to gigabytes.
        size += len(inflater.decompress(piece, _PIECE))
    return size
