from collections.abc import Callable

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset
from pydicom.encaps import encapsulate, encapsulate_extended, get_frame

from tests.helpers.pydicom_files import pydicom_file
from viewer.readers.dicom import encapsulated_frame

SIZE = 8
"""Where the codestream's width stands, after its start, marker, length and profile."""


def compressed(name: str = "MR_small_jp2klossless.dcm") -> Dataset:
    dataset: Dataset = pydicom.dcmread(pydicom_file(name))
    return dataset


def frame(dataset: Dataset) -> bytes:
    data: bytes = get_frame(dataset.PixelData, 0, number_of_frames=1)
    return data


def test_that_a_wrapper_is_taken_off() -> None:
    dataset = compressed("GDCMJ2K_TextGBR.dcm")
    assert not frame(dataset).startswith(b"\xff\x4f")
    bare = get_frame(encapsulated_frame(dataset, 0, 1), 0, number_of_frames=1)
    assert bare.startswith(b"\xff\x4f\xff\x51")
    assert bare.rstrip(b"\0") in frame(dataset)


def test_that_a_frame_is_found_by_an_extended_offset_table() -> None:
    dataset = compressed()
    data = frame(dataset)
    pixel_data, offsets, lengths = encapsulate_extended([b"first!", data])
    dataset.PixelData = pixel_data
    dataset.ExtendedOffsetTable, dataset.ExtendedOffsetTableLengths = offsets, lengths
    found = get_frame(encapsulated_frame(dataset, 1, 2), 0, number_of_frames=1)
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


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (without_stream, "no codestream"),
        (without_start, "does not begin"),
        (of_another_width, "another size"),
        (of_tiny_tiles, "more tiles"),
    ],
)
def test_that_a_codestream_that_lies_is_refused(
    damage: Callable[[bytes], bytes], says: str
) -> None:
    dataset = compressed()
    dataset.PixelData = encapsulate([damage(frame(dataset))])
    with pytest.raises(ValueError, match=says):
        encapsulated_frame(dataset, 0, 1)


def test_that_an_honest_codestream_passes_unchanged() -> None:
    dataset = compressed()
    passed = get_frame(encapsulated_frame(dataset, 0, 1), 0, number_of_frames=1)
    assert np.array_equal(
        np.frombuffer(passed.rstrip(b"\0"), np.uint8),
        np.frombuffer(frame(dataset).rstrip(b"\0"), np.uint8),
    )
