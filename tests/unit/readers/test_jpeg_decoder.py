"""JPEG in DICOM, lossy and lossless, against its source and another decoder."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pydicom
import pytest
import SimpleITK
from imagecodecs import jpeg8_encode
from pydicom import uid
from pydicom.encaps import encapsulate, get_frame

from tests.helpers.public_files import pydicom_file
from viewer.domain.errors import UnreadableInputError
from viewer.readers.dicom.decoding import load_dicom, stored_pixels

if TYPE_CHECKING:
    from pydicom.dataset import Dataset

ROWS, COLUMNS = 48, 36


def grey(bits: int) -> npt.NDArray[np.uint16]:
    """Return noise over a ramp that uses every bit."""
    noise = np.random.default_rng(bits).integers(0, 1 << bits, (ROWS, COLUMNS))
    ramp = np.linspace(0, (1 << bits) - 1, ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    return ((noise + 7 * ramp) / 8).astype(np.uint16)


def color() -> npt.NDArray[np.uint8]:
    """Return three ramps, smooth enough to survive lossy coding."""
    y, x = np.mgrid[:ROWS, :COLUMNS]
    return np.stack([x * 6, y * 5, (x + y) * 3], axis=-1).astype(np.uint8)


def write(path: Path, jpeg: bytes, syntax: uid.UID, bits: int, **tags: object) -> Path:
    """Write a DICOM file of one JPEG, grey unless the tags say otherwise."""
    dataset: Dataset = pydicom.dcmread(pydicom_file("MR_small.dcm"))
    dataset.Rows, dataset.Columns = ROWS, COLUMNS
    dataset.BitsAllocated = 8 if bits <= 8 else 16
    dataset.BitsStored, dataset.HighBit = bits, bits - 1
    dataset.PixelRepresentation = 0
    for keyword, value in tags.items():
        setattr(dataset, keyword, value)
    dataset.file_meta.TransferSyntaxUID = syntax
    dataset.PixelData = encapsulate([jpeg])
    dataset["PixelData"].is_undefined_length = True
    dataset.save_as(path)
    return path


def lossless(pixels: npt.NDArray[np.uint16], bits: int, predictor: int = 1) -> bytes:
    """Return the pixels as lossless JPEG of so many bits."""
    samples = pixels.astype(np.uint8) if bits <= 8 else pixels
    return bytes(
        jpeg8_encode(samples, lossless=True, predictor=predictor, bitspersample=bits)
    )


@pytest.mark.parametrize("bits", [8, 10, 12, 14, 16])
@pytest.mark.parametrize("predictor", range(1, 8))
def test_that_lossless_jpeg_returns_its_source(
    tmp_path: Path, bits: int, predictor: int
) -> None:
    pixels = grey(bits)
    syntax = uid.JPEGLosslessSV1 if predictor == 1 else uid.JPEGLossless
    jpeg = lossless(pixels, bits, predictor)
    path = write(tmp_path / "image.dcm", jpeg, syntax, bits)
    assert (stored_pixels(path) == pixels).all()


@pytest.mark.parametrize("bits", [12, 16])
def test_that_signed_samples_keep_their_sign(tmp_path: Path, bits: int) -> None:
    signed = (grey(bits).astype(np.int32) - (1 << bits - 1)).astype(np.int16)
    coded = (signed.view(np.uint16) & ((1 << bits) - 1)).astype(np.uint16)
    path = write(
        tmp_path / "image.dcm",
        lossless(coded, bits),
        uid.JPEGLosslessSV1,
        bits,
        PixelRepresentation=1,
    )
    assert (stored_pixels(path) == signed).all()


def test_that_words_may_hold_a_jpeg_of_8_bits(tmp_path: Path) -> None:
    jpeg = lossless(grey(8), 8)
    path = write(tmp_path / "image.dcm", jpeg, uid.JPEGLosslessSV1, 8, BitsAllocated=16)
    assert (stored_pixels(path) == grey(8)).all()


@pytest.mark.parametrize("level", [50, 100])
def test_that_12_bits_of_jpeg_extended_agree_with_another_decoder(
    tmp_path: Path, level: int
) -> None:
    jpeg = bytes(jpeg8_encode(grey(12), level=level, bitspersample=12))
    path = write(tmp_path / "image.dcm", jpeg, uid.JPEGExtended12Bit, 12)
    by_gdcm = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path)))[0]
    assert (stored_pixels(path) == by_gdcm).all()


def test_that_a_scan_that_misstates_its_spectrum_is_read_all_the_same() -> None:
    odd = stored_pixels(pydicom_file("JPEG-lossy.dcm"))
    assert (odd == stored_pixels(pydicom_file("JPGExtended.dcm"))).all()


COLORS = {"SamplesPerPixel": 3, "PlanarConfiguration": 0}


@pytest.mark.parametrize("subsampling", ["444", "422", "420"])
@pytest.mark.parametrize("tag", ["RGB", "YBR_FULL", "YBR_FULL_422"])
def test_that_color_is_the_source_s_whatever_the_tag_says(
    tmp_path: Path, subsampling: str, tag: str
) -> None:
    jpeg = bytes(
        jpeg8_encode(color(), level=100, outcolorspace="YCBCR", subsampling=subsampling)
    )
    path = write(
        tmp_path / "image.dcm",
        jpeg,
        uid.JPEGBaseline8Bit,
        8,
        PhotometricInterpretation=tag,
        **COLORS,
    )
    error = np.abs(load_dicom(path).values.astype(int) - color())
    assert error.mean() < 2


def test_that_rgb_without_a_mark_stays_rgb() -> None:
    pixels = stored_pixels(pydicom_file("SC_rgb_jpeg.dcm"))
    assert pixels[5, 50].tolist() == [244, 244, 244]


def test_that_a_jpeg_cut_short_is_refused(tmp_path: Path) -> None:
    jpeg = lossless(grey(12), 12)
    path = write(tmp_path / "cut.dcm", jpeg[:-400], uid.JPEGLosslessSV1, 12)
    with pytest.raises(UnreadableInputError, match=r"cut\.dcm cannot be decoded"):
        stored_pixels(path)


@pytest.mark.parametrize(
    ("tags", "says"),
    [
        ({"Rows": 60_000}, "says 36 × 60000 pixels, and its codestream 36 × 48"),
        ({"Columns": 35}, "says 35 × 48 pixels, and its codestream 36 × 48"),
        (
            COLORS | {"PhotometricInterpretation": "RGB"},
            "says Samples per Pixel 3, and its codestream 1",
        ),
    ],
)
def test_that_a_jpeg_of_another_size_is_refused(
    tmp_path: Path, tags: dict[str, object], says: str
) -> None:
    jpeg = lossless(grey(12), 12)
    path = write(tmp_path / "lies.dcm", jpeg, uid.JPEGLosslessSV1, 12, **tags)
    with pytest.raises(UnreadableInputError, match=rf"lies\.dcm {says}"):
        stored_pixels(path)


def test_that_what_is_no_jpeg_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "other.dcm", b"no JPEG", uid.JPEGBaseline8Bit, 8)
    with pytest.raises(UnreadableInputError, match=r"other\.dcm cannot be decoded"):
        stored_pixels(path)


@pytest.mark.parametrize("end", range(0, 260, 10))
def test_that_no_damage_gets_past_as_another_error(tmp_path: Path, end: int) -> None:
    whole = pydicom.dcmread(pydicom_file("JPGExtended.dcm")).PixelData
    jpeg = get_frame(whole, 0, number_of_frames=1)
    damaged = jpeg[:end] + bytes(8) + jpeg[end + 8 :]
    path = write(
        tmp_path / "d.dcm", damaged, uid.JPEGExtended12Bit, 12, Rows=1024, Columns=256
    )
    try:
        assert stored_pixels(path).shape == (1024, 256)
    except UnreadableInputError as refusal:
        said = str(refusal)
        assert "d.dcm cannot be decoded" in said or "and its codestream" in said
