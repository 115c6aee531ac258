"""The spacing read from a header is that of the image decoded."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.make_dicom import make_dicom
from tests.helpers.shared_data import shared_data
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.image import Spacing, SpacingMeaning
from viewer.readers.pixels import load_pixels
from viewer.readers.spacing import load_spacing


def test_that_a_headers_spacing_is_that_of_its_pixels(tmp_path: Path) -> None:
    pixels = np.zeros((8, 8), np.uint16)
    path = make_dicom(
        tmp_path / "dx.dcm", pixels, Modality="DX", ImagerPixelSpacing=[0.2, 0.1]
    )
    expected = Spacing(0.2, 0.1, SpacingMeaning.DETECTOR)
    assert load_spacing(ImageRef(path)) == expected
    assert load_pixels(ImageRef(path)).spacing == expected


def test_that_a_picture_has_none_and_a_missing_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    Image.new("L", (8, 8)).save(path)
    assert load_spacing(ImageRef(path)) is None
    with pytest.raises(UnreadableInputError, match="gone"):
        load_spacing(ImageRef(tmp_path / "gone.dcm"))


@pytest.mark.parametrize("folder", ["cxr", "dicom"])
def test_that_real_files_agree(folder: str) -> None:
    paths = [p for p in sorted(shared_data(folder).rglob("*")) if p.is_file()][:6]
    assert paths
    for path in paths:
        try:
            decoded = load_pixels(ImageRef(path)).spacing
        except UnreadableInputError:
            continue
        assert load_spacing(ImageRef(path)) == decoded
