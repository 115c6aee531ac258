"""What a JPEG 2000 codestream says of itself, held against the header."""

from collections.abc import Callable

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset
from pydicom.encaps import encapsulate_extended, get_frame

from tests.helpers.public_files import pydicom_file
from viewer.readers.dicom.pixel_form import PixelForm, pixel_form
from viewer.readers.dicom.stored_frame import coded_frame, decode_jpeg2000
from viewer.readers.files.refusal import ContradictionError

SIZE = 8
"""Where the codestream's width stands, after its start, marker, length and profile."""


def compressed(name: str = "MR_small_jp2klossless.dcm") -> Dataset:
    dataset: Dataset = pydicom.dcmread(pydicom_file(name))
    return dataset


def frame(dataset: Dataset) -> bytes:
    data: bytes = get_frame(dataset.PixelData, 0, number_of_frames=1)
    return data


def form_of(dataset: Dataset) -> PixelForm:
    return pixel_form(dataset)


def test_that_a_wrapper_is_taken_off() -> None:
    dataset = compressed("GDCMJ2K_TextGBR.dcm")
    wrapped, form = frame(dataset), form_of(dataset)
    bare = wrapped[wrapped.index(b"\xff\x4f\xff\x51") :]
    assert len(bare) < len(wrapped)
    samples = decode_jpeg2000(wrapped, form).samples
    assert np.array_equal(samples, decode_jpeg2000(bare, form).samples)


def test_that_a_frame_is_found_by_an_extended_offset_table() -> None:
    dataset = compressed()
    data = frame(dataset)
    pixel_data, offsets, lengths = encapsulate_extended([b"first!", data])
    dataset.PixelData = pixel_data
    dataset.ExtendedOffsetTable, dataset.ExtendedOffsetTableLengths = offsets, lengths
    dataset.NumberOfFrames = 2
    found = coded_frame(dataset, form_of(dataset), 1)
    assert found.rstrip(b"\0") == data.rstrip(b"\0")


def without_stream(data: bytes) -> bytes:
    return b"\x00\x00\x00\x0cjP  " + bytes(100) + data[:0]


def without_start(data: bytes) -> bytes:
    return b"\0\0" + data


def of_another_width(data: bytes) -> bytes:
    return data[: SIZE + 3] + bytes([data[SIZE + 3] ^ 1]) + data[SIZE + 4 :]


def of_tiny_tiles(data: bytes) -> bytes:
    tiles = SIZE + 16
    return data[:tiles] + bytes(8) + data[tiles + 8 :]


def without_coding_style(data: bytes) -> bytes:
    return data.replace(b"\xff\x52", b"\xff\x64", 1)


@pytest.mark.parametrize(
    ("damage", "error", "says"),
    [
        (without_stream, ValueError, "no codestream"),
        (without_start, ValueError, "does not begin"),
        (
            of_another_width,
            ContradictionError,
            "says 64 × 64 pixels, and its codestream 65 × 64",
        ),
        (of_tiny_tiles, ValueError, "more tiles"),
        (without_coding_style, ValueError, "does not say how it is coded"),
    ],
)
def test_that_a_codestream_that_lies_is_refused(
    damage: Callable[[bytes], bytes], error: type[Exception], says: str
) -> None:
    dataset = compressed()
    with pytest.raises(error, match=says):
        decode_jpeg2000(damage(frame(dataset)), form_of(dataset))


def test_that_components_of_different_depth_are_refused() -> None:
    dataset = compressed("GDCMJ2K_TextGBR.dcm")
    data = frame(dataset)
    depth = data.index(b"\xff\x4f\xff\x51") + SIZE + 34 + 3
    mixed = data[:depth] + bytes([data[depth] + 1]) + data[depth + 1 :]
    with pytest.raises(ContradictionError, match="its components differ in depth"):
        decode_jpeg2000(mixed, form_of(dataset))
