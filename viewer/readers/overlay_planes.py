"""Overlay planes of a DICOM image (PS3.3 C.9.2): graphics and text as bitmaps."""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt
import pydicom
from pydicom.dataset import Dataset

from viewer.domain.case import ImageRef
from viewer.domain.geometry import SizePx
from viewer.readers.dicom.bounds import held_bytes
from viewer.readers.files.isolation import isolated
from viewer.readers.files.refusal import refusing
from viewer.readers.pixels import FileKind, file_kind

GROUPS: Final = range(0x6000, 0x6020, 2)
"""Of planes; the elements of each describe one."""
_DATA: Final = 0x3000
_ORIGIN: Final = 0x0050
_FIRST_FRAME: Final = 0x0051
_ROWS: Final = 0x0010
_COLUMNS: Final = 0x0011
_FRAMES: Final = 0x0015
_BIT: Final = 0x0102
_Bits = npt.NDArray[np.bool_]


@isolated
def overlay_planes(ref: ImageRef) -> _Bits | None:
    """Return the pixels that any plane of a frame covers, (rows, columns), or None.

    Planes in unused bits of the pixels, retired in 2004, are read where the pixels are
    not compressed.
    """
    if file_kind(ref.path) is not FileKind.DICOM:
        return None
    with refusing(ref.path):
        held_bytes(ref.path)
        dataset = pydicom.dcmread(ref.path, stop_before_pixels=True, force=True)
        size = SizePx(int(dataset.Rows), int(dataset.Columns))
        planes = [plane_of(dataset, group, size, ref.frame) for group in GROUPS]
        planes += embedded(ref, dataset, GROUPS)
    return together(planes)


def together(planes: Iterable[_Bits | None]) -> _Bits | None:
    """Return the pixels that any of some planes covers, None if there are none."""
    drawn = [plane for plane in planes if plane is not None and plane.any()]
    return np.logical_or.reduce(drawn) if drawn else None


def plane_of(
    dataset: Dataset, group: int, size: SizePx, frame: int = 0
) -> _Bits | None:
    """Return one plane on the pixels of an image, None if the frame has none.

    ``group`` is 6000 to 601E (hexadecimal), even; the result is (rows, columns) of the
    image of this ``size``.
    """
    if (group, _DATA) not in dataset:
        return None
    bits = _bits(dataset, group)
    if len(bits) == 1:
        bits = bits[0]
    else:
        number = frame + 1 - _numbers(dataset, group, _FIRST_FRAME, (1,))[0]
        if not 0 <= number < len(bits):
            return None
        bits = bits[number]
    whole = np.zeros((size.rows, size.columns), bool)
    top, left = (n - 1 for n in _numbers(dataset, group, _ORIGIN, (1, 1)))
    part = bits[max(-top, 0) :, max(-left, 0) :]
    under = whole[max(top, 0) :, max(left, 0) :][: part.shape[0], : part.shape[1]]
    under |= part[: under.shape[0], : under.shape[1]]
    return whole


def _bits(dataset: Dataset, group: int) -> _Bits:
    """Return a plane as stored: (frames, rows, columns)."""
    element, syntax = dataset[group, _DATA], dataset.file_meta.get("TransferSyntaxUID")
    data = np.frombuffer(element.value, np.uint8)
    if element.VR == "OW" and syntax is not None and not syntax.is_little_endian:
        data = data.reshape(-1, 2)[:, ::-1].ravel()  # words of two bytes (PS3.5 8.1.2)
    frames = max(1, _numbers(dataset, group, _FRAMES, (1,))[0])
    (rows,), (columns,) = (_numbers(dataset, group, e, ()) for e in (_ROWS, _COLUMNS))
    bits = np.unpackbits(data, bitorder="little")[: frames * rows * columns]
    return bits.reshape(frames, rows, columns).astype(bool)


def embedded(ref: ImageRef, dataset: Dataset, among: Iterable[int]) -> list[_Bits]:
    """Return the planes in bits that no sample uses (PS3.5 2004 8.1.2).

    Only those ``among`` these groups; the dataset is the file's, without its pixels.
    """
    groups = [
        group
        for group in among
        if (group, _ROWS) in dataset and (group, _DATA) not in dataset
    ]
    positions = [_numbers(dataset, group, _BIT, (0,))[0] for group in groups]
    stored = range(
        int(dataset.get("HighBit", 0)) + 1 - int(dataset.get("BitsStored", 0)),
        int(dataset.get("HighBit", 0)) + 1,
    )
    unused = [bit for bit in positions if bit not in stored]
    syntax = dataset.file_meta.get("TransferSyntaxUID")
    grey = int(dataset.get("SamplesPerPixel", 1)) == 1
    if not unused or not grey or syntax is None or syntax.is_encapsulated:
        return []
    rows, columns = int(dataset.Rows), int(dataset.Columns)
    order = "<" if syntax.is_little_endian else ">"
    words = np.frombuffer(
        pydicom.dcmread(ref.path, force=True).PixelData,
        f"{order}u{int(dataset.BitsAllocated) // 8}",
        rows * columns,
        ref.frame * rows * columns * int(dataset.BitsAllocated) // 8,
    ).reshape(rows, columns)
    return [(words >> bit & 1).astype(bool) for bit in unused]


def _numbers(
    dataset: Dataset, group: int, element: int, absent: tuple[int, ...]
) -> tuple[int, ...]:
    if (group, element) not in dataset:
        return absent
    values = np.atleast_1d(dataset[group, element].value)
    return tuple(int(value) for value in values)
