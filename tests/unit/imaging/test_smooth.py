"""Bilinear interpolation, against scipy's."""

import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.image import Photometric, PixelImage
from viewer.imaging.pyramid import Pyramid, Viewport

_VIEWPORT = Viewport(SizePx(50, 60), PointPx(1.3, 2.1), 0.21, 0.17)


def _image(dtype: str, padding: bool = False) -> PixelImage:
    values = np.random.default_rng(7).integers(0, 4000, (20, 24)).astype(dtype)
    padded = values < 400 if padding else None
    return PixelImage(values, Photometric.MONOCHROME2, padding=padded)


@pytest.mark.parametrize("dtype", ["uint16", "float32"])
def test_that_magnified_values_are_bilinear(dtype: str) -> None:
    image = _image(dtype)
    patch = Pyramid(image).sample(_VIEWPORT, smooth=True)
    rows = 2.1 + (np.arange(patch.values.shape[0]) + patch.top + 0.5) * 0.17 - 0.5
    columns = 1.3 + (np.arange(patch.values.shape[1]) + patch.left + 0.5) * 0.21 - 0.5
    expected = map_coordinates(
        image.values.astype(float),
        np.meshgrid(rows, columns, indexing="ij"),
        order=1,
        mode="nearest",
    )
    assert np.abs(patch.values - expected).max() <= (
        0.51 if dtype == "uint16" else 0.01
    )


def test_that_padding_never_bleeds_into_interpolated_values() -> None:
    image = _image("uint16", padding=True)
    assert image.padding is not None
    smooth = Pyramid(image).sample(_VIEWPORT, smooth=True)
    nearest = Pyramid(image).sample(_VIEWPORT)
    assert smooth.padding is not None
    np.testing.assert_array_equal(smooth.padding, nearest.padding)
    assert smooth.values[~smooth.padding].min() >= 400


def test_that_one_to_one_and_smaller_stay_as_they_are() -> None:
    for step in (1.0, 2.5):
        viewport = Viewport(SizePx(10, 10), PointPx(0, 0), step, step)
        a = Pyramid(_image("uint16")).sample(viewport, smooth=True)
        b = Pyramid(_image("uint16")).sample(viewport)
        np.testing.assert_array_equal(a.values, b.values)


def test_that_beside_the_image_nothing_is_interpolated() -> None:
    beside = Viewport(SizePx(10, 10), PointPx(500, 500), 0.2, 0.2)
    assert Pyramid(_image("uint16")).sample(beside, smooth=True).values.size == 0
