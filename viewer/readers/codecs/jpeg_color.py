"""A JPEG's header: its size, and whether it contains RGB or YCbCr.

Some writers of slides recompress the smaller levels as YCbCr but keep the scan's tag,
which says RGB. Only the codestream is reliable.
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
RGB: Final = "RGB"
YCBCR: Final = "YCBCR"
_LOSSLESS: Final = frozenset({0xC3, 0xF7})
# Listed, not a range: C4 and CC between such markers are tables.
_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2, 0xC3, 0xF7})
"""Markers of baseline, extended, progressive and lossless frames (T.81, table B.1) and
of JPEG-LS (T.87, C.1.1)."""
_JFIF, _ADOBE = 0xE0, 0xEE


@dataclass(frozen=True, slots=True)
class FrameHeader:
    """A JPEG's frame header (ITU-T T.81, B.2.2): components, and bits of each."""

    rows: int
    columns: int
    components: int
    precision: int
    lossless: bool


def frame_header(start: bytes) -> FrameHeader | None:
    """Return the first frame header in the first bytes of a JPEG; None without one."""
    for marker, body in _segments(start):
        if marker in _FRAMES and len(body) >= 6:
            precision, rows, columns, components = struct.unpack_from(">BHHB", body)
            return FrameHeader(
                rows, columns, components, precision, marker in _LOSSLESS
            )
    return None


def is_tagged_rgb_in_error(path: Path) -> bool:
    """Tell whether a DICOM file tagged RGB contains YCbCr JPEG frames."""
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
    """Tell whether a three-component JPEG, given its first bytes, declares YCbCr."""
    return coded_color(start) == YCBCR


def coded_color(start: bytes) -> str:
    """Return the colour model of a JPEG with three components, from its first bytes.

    It is declared by JFIF, which allows only YCbCr (T.871), by Adobe's transform flag
    (T.872, 6.5.3), by component ids R, G and B, or by more samples of the first
    component than of the others, which only luminance has. "" if undeclared.
    """
    for marker, body in _segments(start):
        if marker == _JFIF and body.startswith(b"JFIF\0"):
            return YCBCR
        if marker == _ADOBE and body.startswith(b"Adobe") and len(body) >= 12:
            # 0 is "no transform", so RGB; 2 is YCCK, of four components.
            return YCBCR if body[11] == 1 else RGB
        # Six bytes, then id, sampling and table of each of three components.
        if marker in _FRAMES and len(body) >= 15:
            return _named_color(body)
    return ""


def _segments(start: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield marker and body of each segment; the last body may be truncated."""
    at = len(_START)
    if not start.startswith(_START):
        return
    while at + 4 <= len(start) and start[at] == 0xFF:
        marker, (length,) = start[at + 1], struct.unpack_from(">H", start, at + 2)
        yield marker, start[at + 4 : at + 2 + length]
        at += 2 + length


def _named_color(frame: bytes) -> str:
    """Derive the colour model from ids and sampling factors (T.81, B.2.2)."""
    if frame[5] != 3:
        return ""
    if frame[6:15:3].upper() == b"RGB":
        return RGB
    first, *others = frame[7:15:3]
    return YCBCR if all(first > other for other in others) else ""
