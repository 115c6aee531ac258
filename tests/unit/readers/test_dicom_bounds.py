"""What a DICOM file claims, held against its bytes."""

import zlib
from pathlib import Path

import numpy as np
import pytest
from pydicom import dcmread
from pydicom.uid import DeflatedExplicitVRLittleEndian, ExplicitVRLittleEndian

from tests.helpers.make_dicom import make_dicom
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.file_header import MOST_FRAMES
from viewer.readers.dicom import bounds as dicom_bounds
from viewer.readers.headers import read_file_header
from viewer.readers.pixels import load_pixels

RAMP = np.arange(256, dtype=np.uint16).reshape(16, 16)


def deflated(folder: Path, zeros: int = 0) -> Path:
    """Return a deflated image with as many zeros behind its pixels."""
    plain = dcmread(make_dicom(folder / "plain.dcm", RAMP))
    plain.file_meta.TransferSyntaxUID = DeflatedExplicitVRLittleEndian
    path = folder / "deflated.dcm"
    plain.save_as(path)
    if zeros:
        data = path.read_bytes()
        start = 144 + int.from_bytes(data[140:144], "little")
        body = zlib.decompress(data[start:], -zlib.MAX_WBITS)
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        packed = packer.compress(body + bytes(zeros)) + packer.flush()
        path.write_bytes(data[:start] + packed)
    return path


@pytest.mark.parametrize("read", [read_file_header, lambda p: load_pixels(ImageRef(p))])
def test_that_a_file_may_not_inflate_to_more_than_a_frame_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: object
) -> None:
    assert callable(read)
    read(deflated(tmp_path))
    monkeypatch.setattr(dicom_bounds, "MOST_INFLATED", 1 << 20)
    with pytest.raises(UnreadableInputError, match="inflates to more than 1 MB"):
        read(deflated(tmp_path, 2 << 20))


def test_that_a_name_of_deflation_in_a_plain_file_means_nothing(tmp_path: Path) -> None:
    word = str(DeflatedExplicitVRLittleEndian)
    path = make_dicom(tmp_path / "a.dcm", RAMP, ImageComments=word)
    assert dicom_bounds.held_bytes(path) == path.stat().st_size
    assert dcmread(path).file_meta.TransferSyntaxUID == ExplicitVRLittleEndian


@pytest.mark.parametrize("frames", [3, 2_000_000_000])
def test_that_more_frames_than_the_bytes_hold_are_refused(
    tmp_path: Path, frames: int
) -> None:
    path = make_dicom(tmp_path / "a.dcm", RAMP, NumberOfFrames=frames)
    with pytest.raises(UnreadableInputError, match=r"bytes for at most 1\."):
        read_file_header(path)


def test_that_frames_without_end_are_refused_where_the_bytes_are_there(
    tmp_path: Path,
) -> None:
    frames, values = MOST_FRAMES + 1, np.zeros((257, 256), dtype=np.uint16)
    path = make_dicom(
        tmp_path / "a.dcm", values, NumberOfFrames=frames, Rows=1, Columns=1
    )
    with pytest.raises(UnreadableInputError, match=r"65,537 frames; at most"):
        read_file_header(path)
