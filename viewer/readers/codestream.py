"""Compressed frames, looked at before a decoder in C gets to see them.

OpenJPEG can run for ever on a damaged JP2 wrapper, which DICOM does not allow around
a codestream in the first place (PS3.5 8.2.4), and trusts the sizes a codestream names.
So the wrapper is taken off and the sizes are compared with the header's.
"""

import struct

from pydicom.dataset import Dataset
from pydicom.encaps import encapsulate, get_frame
from pydicom.uid import JPEG2000TransferSyntaxes

_JP2 = b"\x00\x00\x00\x0cjP  "
_START_AND_SIZE = b"\xff\x4f\xff\x51"
_MAX_TILES = 65_535
"""The most that a codestream can number (ISO/IEC 15444-1, A.4.2)."""


def encapsulated_frame(dataset: Dataset, index: int, frames: int) -> bytes:
    """Return frame ``index`` of ``frames`` as Pixel Data of one frame.

    Raises
    ------
    ValueError
        If a JPEG 2000 codestream does not describe the image the header describes.
    """
    offsets = None
    if "ExtendedOffsetTable" in dataset:
        offsets = (dataset.ExtendedOffsetTable, dataset.ExtendedOffsetTableLengths)
    data: bytes = get_frame(
        dataset.PixelData, index, number_of_frames=frames, extended_offsets=offsets
    )
    if dataset.file_meta.TransferSyntaxUID in JPEG2000TransferSyntaxes:
        data = _bare_codestream(data)
        _check_size(data, dataset)
    wrapped: bytes = encapsulate([data])
    return wrapped


def _bare_codestream(data: bytes) -> bytes:
    if not data.startswith(_JP2):
        return data
    start = data.find(_START_AND_SIZE)
    if start < 0:
        raise ValueError("there is no codestream in the wrapper")
    return data[start:]


def _check_size(data: bytes, dataset: Dataset) -> None:
    """Compare the SIZ segment (ISO/IEC 15444-1, A.5.1) with rows and columns."""
    if not data.startswith(_START_AND_SIZE):
        raise ValueError("the codestream does not begin with its size")
    x1, y1, x0, y0, tile_x, tile_y, _, _, samples = struct.unpack_from(">8IH", data, 8)
    size = (y1 - y0, x1 - x0, samples)
    if size != (dataset.Rows, dataset.Columns, dataset.SamplesPerPixel):
        raise ValueError("the codestream is of another size than the header says")
    if not tile_x or not tile_y or -(-x1 // tile_x) * -(-y1 // tile_y) > _MAX_TILES:
        raise ValueError("the codestream has more tiles than it can number")
