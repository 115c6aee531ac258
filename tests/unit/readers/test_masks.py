from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.make_dicom import make_dicom
from tests.helpers.mask_files import DISC, OPEN, READ
from viewer.domain.errors import UnreadableInputError
from viewer.readers.masks import load_mask, read_mask
from viewer.readers.rasters.mask_rule import WRITE_PLAINLY

MASK = np.random.default_rng(0).random((8, 9)) < 0.5
ODD = {
    "smooth.png": ["mask_levels"],
    "smooth-red.png": ["mask_levels"],
    "grey.jpg": ["mask_levels", "mask_jpeg"],
    "red.jpg": ["mask_levels", "mask_jpeg"],
    "red-on-white.jpg": ["mask_levels", "mask_jpeg"],
    "instances.png": ["mask_colours"],
}
"""What is odd about a mask that can be read all the same."""


@pytest.mark.parametrize("name", READ)
def test_that_a_mask_is_the_finding_however_it_was_saved(
    tmp_path: Path, name: str
) -> None:
    READ[name](path := tmp_path / name)
    found = read_mask(path)
    assert found.marked.dtype == np.bool_
    np.testing.assert_array_equal(found.marked, DISC)
    assert [caution.kind for caution in found.cautions] == ODD.get(name, [])


@pytest.mark.parametrize("name", OPEN)
def test_that_what_leaves_the_finding_open_is_refused(
    tmp_path: Path, name: str
) -> None:
    OPEN[name](path := tmp_path / name)
    with pytest.raises(UnreadableInputError) as caught:
        read_mask(path)
    assert name in caught.value.what
    assert caught.value.how == WRITE_PLAINLY


@pytest.mark.parametrize("value", [1, 127, 255])
def test_that_the_only_value_beside_zero_is_marked(tmp_path: Path, value: int) -> None:
    Image.fromarray((MASK * value).astype(np.uint8)).save(path := tmp_path / "m.png")
    assert (load_mask(path) == MASK).all()


@pytest.mark.parametrize(("value", "marked"), [(0, False), (1, True), (255, True)])
def test_that_a_mask_of_one_value_is_empty_or_whole(
    tmp_path: Path, value: int, marked: bool
) -> None:
    Image.fromarray(np.full((4, 5), value, np.uint8)).save(path := tmp_path / "m.png")
    assert (load_mask(path) == marked).all()


def test_that_a_dicom_mask_is_read(tmp_path: Path) -> None:
    dicom = make_dicom(tmp_path / "m.dcm", MASK.astype(np.uint8))
    assert (load_mask(dicom) == MASK).all()


@pytest.mark.parametrize(
    ("values", "from_up"), [([0, 127, 128, 255], 128), ([0, 3, 126, 252], 126)]
)
def test_that_grey_is_cut_at_half_of_the_greatest(
    tmp_path: Path, values: list[int], from_up: int
) -> None:
    Image.fromarray(np.array([values], np.uint8)).save(path := tmp_path / "m.png")
    found = read_mask(path)
    assert found.marked[0].tolist() == [value >= from_up for value in values]
    (caution,) = found.cautions
    said = f"has 4 grey levels; those of {from_up} or more count as the finding"
    assert caution.clause == said


def test_that_a_mask_that_is_no_number_is_refused(tmp_path: Path) -> None:
    Image.fromarray(np.array([[np.nan, 1]], np.float32)).save(
        path := tmp_path / "m.tif"
    )
    with pytest.raises(UnreadableInputError, match=r"m\.tif contains values"):
        load_mask(path)


def test_that_a_mask_of_several_pages_is_refused(tmp_path: Path) -> None:
    page = Image.fromarray(DISC)
    page.save(path := tmp_path / "m.tif", save_all=True, append_images=[page])
    with pytest.raises(UnreadableInputError, match=r"m\.tif has 2 pages"):
        load_mask(path)


def test_that_a_palette_mask_with_a_border_of_many_colours_goes_by_black(
    tmp_path: Path,
) -> None:
    indices = np.arange(16, dtype=np.uint8).reshape(4, 4) % 4
    image = Image.fromarray(indices)
    image.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])
    image.save(path := tmp_path / "m.png")
    assert (load_mask(path) == (indices > 0)).all()
