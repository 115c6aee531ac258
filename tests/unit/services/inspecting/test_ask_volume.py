"""A model is sent the slice of a volume that the window shows."""

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.tiny_study import D4
from tests.helpers.volumes import ORDERS, Order, write_volume
from viewer.domain.case import ImageRef, View
from viewer.domain.image import Photometric, PixelImage
from viewer.imaging.grid_overlay import draw_grid
from viewer.imaging.luts import to_raster
from viewer.imaging.png import encode_png
from viewer.imaging.resample import FitMode, fit
from viewer.services.asking.ask import Question, answer_row, ask
from viewer.services.inspecting.answers import sent_images
from viewer.services.viewing.view_image import load_shown_image
from viewer.store.database import open_store
from viewer.studies.catalog import study_named

AXIAL = [order for order in ORDERS if order.axes[2] == 2]


PICTURE = (10 * np.arange(64)[:, None] + 4 * np.arange(64)[::-1, None].T).astype(
    np.int16
)
"""(x to the left, y to the back): brightest at the patient's left and in front."""


@pytest.mark.parametrize("suffix", ["nii.gz", "nrrd", "mha"])
@pytest.mark.parametrize("order", AXIAL, ids=str)
def test_that_what_is_sent_and_shown_is_the_turned_slice(
    tmp_path: Path, suffix: str, order: Order
) -> None:
    turned = PICTURE[:, :, None].transpose(order.axes)
    stored = turned[tuple(slice(None, None, sign) for sign in order.signs)]
    path = write_volume(tmp_path / f"a.{suffix}", stored, order.direction, (0, 0, 0))
    shown = load_shown_image(ImageRef(path))
    np.testing.assert_array_equal(shown.image.values, PICTURE.transpose())
    assert shown.header.geometry.letters == ("L", "P")
    store = tmp_path / "s.sqlite"
    with open_store(store) as opened:
        asked = ask(opened, Question(ImageRef(path), "Edema", D4, view=View.FRONTAL))
    (png,) = sent_images(store, str(answer_row(asked)["request_sha256"]))
    params = study_named("grid_localization").read_params("gosai2025", {})
    image = PixelImage(PICTURE.transpose(), Photometric.MONOCHROME2)
    plain = fit(to_raster(image), 256, FitMode.CROP_RESIZE)
    assert png == encode_png(draw_grid(plain, params.grid("8"), params.style))
