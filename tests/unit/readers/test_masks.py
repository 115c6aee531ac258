from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.make_dicom import make_dicom
from viewer.domain.errors import UnreadableInputError
from viewer.readers.masks import load_mask

MASK = np.random.default_rng(0).random((8, 9)) < 0.5


@pytest.mark.parametrize("value", [1, 127, 255])
def test_that_whatever_is_not_zero_is_marked(tmp_path: Path, value: int) -> None:
    Image.fromarray((MASK * value).astype(np.uint8)).save(path := tmp_path / "m.png")
    mask = load_mask(path)
    assert mask.dtype == np.bool_
    assert (mask == MASK).all()


def test_that_one_bit_and_colour_and_dicom_masks_are_read(tmp_path: Path) -> None:
    Image.fromarray(MASK).save(bits := tmp_path / "bits.png")
    assert (load_mask(bits) == MASK).all()
    red = np.zeros((8, 9, 3), np.uint8)
    red[..., 0] = MASK * 200
    Image.fromarray(red).save(color := tmp_path / "color.png")
    assert (load_mask(color) == MASK).all()
    dicom = make_dicom(tmp_path / "m.dcm", MASK.astype(np.uint8))
    assert (load_mask(dicom) == MASK).all()


def test_that_a_mask_that_is_no_number_is_refused(tmp_path: Path) -> None:
    Image.fromarray(np.array([[np.nan, 1]], np.float32)).save(
        path := tmp_path / "m.tif"
    )
    with pytest.raises(UnreadableInputError, match=r"m\.tif holds values"):
        load_mask(path)
