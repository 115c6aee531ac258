"""The geometry read from a header is that of the image decoded."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.make_dicom import make_dicom
from tests.helpers.public_files import shared_data
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import PointMm, SizePx
from viewer.domain.image_geometry import ImageGeometry, Spacing, SpacingMeaning
from viewer.readers.headers import load_geometry
from viewer.readers.pixels import load_pixels


def test_that_a_headers_geometry_is_that_of_its_pixels(tmp_path: Path) -> None:
    path = make_dicom(
        tmp_path / "dx.dcm",
        np.zeros((8, 6), np.uint16),
        Modality="DX",
        ImagerPixelSpacing=[0.2, 0.1],
        ImageOrientationPatient=[1, 0, 0, 0, 0, -1],
        ImagePositionPatient=[-3, 4, 5],
        PatientOrientation=["A", "F"],
        ImageLaterality="L",
    )
    expected = ImageGeometry(
        SizePx(8, 6),
        Spacing(0.2, 0.1, SpacingMeaning.DETECTOR),
        axes=(1, 0, 0, 0, 0, -1),
        position=PointMm(-3, 4, 5),
        patient_orientation=("A", "F"),
        laterality="L",
    )
    assert load_geometry(ImageRef(path)) == expected
    assert load_pixels(ImageRef(path)).geometry == expected
    assert expected.letters == ("L", "F")


def test_that_a_picture_has_none_and_a_missing_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    Image.new("L", (8, 9)).save(path)
    assert load_geometry(ImageRef(path)) == ImageGeometry(SizePx(9, 8))
    with pytest.raises(UnreadableInputError, match="gone"):
        load_geometry(ImageRef(tmp_path / "gone.dcm"))


@pytest.mark.parametrize("folder", ["cxr", "dicom", "pathology"])
def test_that_real_files_agree(folder: str) -> None:
    paths = [p for p in sorted(shared_data(folder).rglob("*")) if p.is_file()][:12]
    assert paths
    for path in paths:
        try:
            decoded = load_pixels(ImageRef(path))
        except UnreadableInputError:
            continue
        assert load_geometry(ImageRef(path)) == decoded.geometry
        assert decoded.geometry.size == decoded.size


def test_that_words_for_an_orientation_cost_the_letters_alone(tmp_path: Path) -> None:
    path = make_dicom(
        tmp_path / "ct.dcm",
        np.zeros((8, 6), np.uint16),
        ImageOrientationPatient=[1, 0, 0, 0, 1, 0],
        ImagePositionPatient=[-3, 4, 5],
    )
    said, cosine = path.read_bytes(), b"\\1.0\\0.0 "
    assert said.count(cosine) == 1
    path.write_bytes(said.replace(cosine, b"\\one\\0.0 "))
    geometry = load_pixels(ImageRef(path)).geometry
    assert geometry == load_geometry(ImageRef(path))
    assert (geometry.axes, geometry.letters) == (None, ())
    assert geometry.position == PointMm(-3, 4, 5)
