"""Whether a JPEG holds luminance and chrominance, also where its file says RGB.

Some writers of slides compress the smaller levels anew as YCbCr and keep the tag of the
scan, which was RGB. The codestream itself tells the truth.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pydicom
from pydicom.uid import JPEGBaseline8Bit

_START: Final = b"\xff\xd8"
_LOOKED_AT: Final = 4096
_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2, 0xC3, 0xF7})
"""Markers of baseline, extended, progressive and lossless frames (T.81, table B.1) and
of JPEG-LS (T.87, C.1.1)."""
_JFIF, _ADOBE = 0xE0, 0xEE


@dataclass(frozen=True, slots=True)
class FrameHeader:
    """What a JPEG says of its frame (ITU-T T.81, B.2.2), in samples."""

    rows: int
    columns: int
    components: int


def frame_header(start: bytes) -> FrameHeader | None:
    """Return the first frame header of a JPEG, given its start; None without one."""
    for marker, body in _segments(start):
        if marker in _FRAMES and len(body) >= 6:
            _, rows, columns, components = struct.unpack_from(">BHHB", body)
            return FrameHeader(rows, columns, components)
    return None


def is_tagged_rgb_in_error(path: Path) -> bool:
    """Tell whether a DICOM file of JPEG frames says RGB and holds YCbCr."""
    with path.open("rb") as stream:
        tags = pydicom.dcmread(
            stream,
            stop_before_pixels=True,
            specific_tags=["PhotometricInterpretation"],
        )
        jpeg = tags.file_meta.get("TransferSyntaxUID") == JPEGBaseline8Bit
        if not jpeg or tags.get("PhotometricInterpretation") != "RGB":
            return False
        stream.seek(12, 1)  # the element's tag, OB and its undefined length
        _, length = struct.unpack("<II", stream.read(8))  # the offset table's item
        stream.seek(length + 8, 1)  # and the first frame's tag and length
        return holds_ycbcr(stream.read(_LOOKED_AT))


def holds_ycbcr(start: bytes) -> bool:
    """Tell whether a JPEG of three components, given its start, holds YCbCr.

    It does if it says so: by JFIF, which allows nothing else (T.871), or by Adobe's
    transform flag (T.872, 6.5.3); or if its first component has more samples than the
    others, as only luminance has.
    """
    for marker, body in _segments(start):
        if marker == _JFIF and body.startswith(b"JFIF\0"):
            return True
        if marker == _ADOBE and body.startswith(b"Adobe") and len(body) >= 12:
            return body[11] == 1
        if marker in _FRAMES and len(body) >= 15:
            return _has_fewer_chroma(body)
    return False


def _segments(start: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield marker and body of each segment; the last body may be cut short."""
    at = len(_START)
    if not start.startswith(_START):
        return
    while at + 4 <= len(start) and start[at] == 0xFF:
        marker, (length,) = start[at + 1], struct.unpack_from(">H", start, at + 2)
        yield marker, start[at + 4 : at + 2 + length]
        at += 2 + length


def _has_fewer_chroma(frame: bytes) -> bool:
    """Compare the sampling factors of three components (T.81, B.2.2)."""
    first, *others = (frame[7 + 3 * n] for n in range(3))
    return frame[5] == 3 and all(first > other for other in others)
