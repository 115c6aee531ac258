"""One file of each transfer syntax and kind; the proof reads them all."""

import numpy as np
import pytest

from tests.helpers.public_files import pydicom_file
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import Photometric
from viewer.imaging.luts import to_raster
from viewer.readers.dicom.decoding import stored_pixels
from viewer.readers.pixels import load_pixels

READ = [
    ("MR_small.dcm", (64, 64)),
    ("MR_small_implicit.dcm", (64, 64)),
    ("MR_small_bigendian.dcm", (64, 64)),
    ("MR_small_RLE.dcm", (64, 64)),
    ("MR_small_jp2klossless.dcm", (64, 64)),
    ("MR_small_jpeg_ls_lossless.dcm", (64, 64)),
    ("image_dfl.dcm", (512, 512)),
    ("JPEGLSNearLossless_16.dcm", (50, 10)),
    ("JPGExtended.dcm", (1024, 256)),
    ("JPEG-lossy.dcm", (1024, 256)),
    ("JPGLosslessP14SV1_1s_1f_8b.dcm", (768, 1024)),
    ("J2K_pixelrep_mismatch.dcm", (512, 512)),
    ("SC_rgb_jpeg_dcmtk.dcm", (100, 100, 3)),
    ("SC_rgb_gdcm_KY.dcm", (100, 100, 3)),
    ("SC_ybr_full_422_uncompressed.dcm", (100, 100, 3)),
    ("GDCMJ2K_TextGBR.dcm", (400, 400, 3)),
    ("SC_rgb_rle_32bit.dcm", (100, 100, 3)),
    ("examples_palette.dcm", (350, 800, 3)),
    ("examples_ybr_color.dcm", (240, 320, 3)),
    ("gdcm-US-ALOKA-16.dcm", (480, 640, 3)),
    ("eCT_Supplemental.dcm", (512, 512)),
    ("liver_1frame.dcm", (512, 512)),
    ("rtdose_rle.dcm", (10, 10)),
    ("mlut_18.dcm", (512, 512)),
    ("vlut_04.dcm", (512, 512)),
]


@pytest.mark.parametrize(("name", "shape"), READ, ids=[name for name, _ in READ])
def test_that_a_file_of_each_kind_is_read(name: str, shape: tuple[int, ...]) -> None:
    image = load_pixels(ImageRef(pydicom_file(name)))
    assert image.values.shape == shape
    assert (image.photometric is Photometric.RGB) == (len(shape) == 3)
    raster = to_raster(image)
    assert raster.pixels.shape == shape
    assert raster.pixels.max() > raster.pixels.min()


@pytest.mark.parametrize(
    "name",
    [
        "MR_small_implicit.dcm",
        "MR_small_bigendian.dcm",
        "MR_small_RLE.dcm",
        "MR_small_jp2klossless.dcm",
        "MR_small_jpeg_ls_lossless.dcm",
    ],
)
def test_that_lossless_codings_of_one_image_agree(name: str) -> None:
    plain = stored_pixels(pydicom_file("MR_small.dcm"))
    assert (stored_pixels(pydicom_file(name)) == plain).all()


def test_that_every_frame_of_a_compressed_file_is_decoded() -> None:
    path = pydicom_file("emri_small_jpeg_2k_lossless.dcm")
    frames = stored_pixels(path)
    assert frames.shape == (10, 64, 64)
    assert (frames == stored_pixels(pydicom_file("emri_small.dcm"))).all()
    for index in (0, 9):
        assert (load_pixels(ImageRef(path, index)).values == frames[index]).all()


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (
            "JPEG2000-embedded-sequence-delimiter.dcm",
            "cannot be decoded: what it says contradicts its format",
        ),
        ("MR_truncated.dcm", "is cut short"),
        ("rtplan.dcm", "contains no pixels: RT Plan Storage"),
        ("badVR.dcm", "has a Number of Frames that is not a whole number"),
    ],
)
def test_that_what_cannot_be_shown_is_said(name: str, says: str) -> None:
    with pytest.raises(UnreadableInputError, match=says):
        load_pixels(ImageRef(pydicom_file(name)))


def test_that_the_demo_radiograph_is_a_chest_on_a_dark_ground() -> None:
    raster = to_raster(load_pixels(ImageRef(pydicom_file("RG1_UNCR.dcm")))).pixels
    assert raster.shape == (1955, 1841)
    # MONOCHROME1: the spine is bright, the air beside the neck is dark.
    assert raster[900:1100, 880:960].mean() > 200
    assert np.percentile(raster[:120, :80], 50) < 110
