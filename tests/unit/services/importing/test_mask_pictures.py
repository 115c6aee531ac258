from pathlib import Path

import numpy as np
from PIL import Image

from tests.helpers.mask_files import DISC, READ, SIDE
from viewer.readers.datasets.folder import read
from viewer.services.importing.mask_pictures import mask_picture, masks_to_look_at


def test_that_odd_masks_come_first_and_few_are_shown(tmp_path: Path) -> None:
    for name in "abcd":
        Image.new("L", (SIDE, SIDE), 90).save(tmp_path / f"{name}_pa.png")
        mask = "instances.png" if name == "c" else "grey-255.png"
        READ[mask](tmp_path / f"{name}_pa.Edema.png")
    dataset = read(tmp_path, "x")
    shown = masks_to_look_at(dataset, 3)
    assert [each.image for each in shown] == ["c_pa", "a_pa", "b_pa"]
    said = "The mask of Edema has 2 colours besides its background; all count as the "
    assert [each.odd for each in shown] == [(f"{said}finding.",), (), ()]
    assert masks_to_look_at(dataset, 9)[3].image == "d_pa"


def test_that_a_mask_is_tinted_where_it_is_and_nowhere_else(tmp_path: Path) -> None:
    Image.new("L", (SIDE, SIDE), 90).save(tmp_path / "a_pa.png")
    READ["grey-255.png"](tmp_path / "a_pa.Edema.png")
    (shown,) = masks_to_look_at(read(tmp_path, "x"), 1)
    pixels = mask_picture(shown, SIDE).pixels
    tinted = (pixels != 90).any(axis=2)
    np.testing.assert_array_equal(tinted, DISC)
