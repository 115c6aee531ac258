"""A region pointed out in the picture."""

import numpy as np
import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.image import Raster
from viewer.imaging.region_prompt import crop_and_zoom, draw_contour

PIXELS = np.arange(40 * 60, dtype=np.int64).reshape(40, 60) % 200
RASTER = Raster(PIXELS.astype(np.uint8))
MASK = np.zeros((40, 60), dtype=np.bool_)
MASK[10:20, 20:40] = True


@pytest.mark.statement("E002-15")
def test_that_a_contour_surrounds_the_region_and_covers_none_of_it() -> None:
    made = draw_contour(RASTER, MASK, (255, 0, 0), width_px=2).pixels
    line = (made == (255, 0, 0)).all(axis=2)
    assert line[8:22, 18:42].sum() == 14 * 24 - 10 * 20
    assert line.sum() == 14 * 24 - 10 * 20
    assert (made[MASK] == RASTER.pixels[MASK][:, None]).all()
    thin = draw_contour(Raster(np.zeros((40, 60, 3), np.uint8)), MASK).pixels
    assert (thin.any(axis=2)).sum() == 12 * 22 - 10 * 20


@pytest.mark.statement("E002-15")
def test_that_a_crop_keeps_proportions_and_a_margin() -> None:
    made = crop_and_zoom(RASTER, MASK, side=240, margin=0.1)
    exact = crop_and_zoom(RASTER, MASK, side=20, margin=0.0)
    at_edge = crop_and_zoom(RASTER, np.ones((40, 60), dtype=np.bool_), side=60)
    assert made.pixels.shape == (120, 240)
    assert (exact.pixels == RASTER.pixels[10:20, 20:40]).all()
    assert (at_edge.pixels == RASTER.pixels).all()


def test_that_nothing_to_point_out_is_refused() -> None:
    with pytest.raises(WrongUseError, match="mask is empty"):
        draw_contour(RASTER, np.zeros((40, 60), dtype=np.bool_))
    with pytest.raises(WrongUseError, match="not the size of its image"):
        crop_and_zoom(RASTER, np.ones((2, 2), dtype=np.bool_))
