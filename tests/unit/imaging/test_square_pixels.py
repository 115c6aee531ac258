"""What a model is sent has square pixels, whatever those of the file are.

A circle in the patient is one in what is sent, and masks lie where it does.
"""

from fractions import Fraction

import numpy as np
import pytest

from tests.helpers.geometries import (
    GEOMETRIES,
    OTHERS,
    SQUARE,
    centred_square,
    disc,
    ellipse_of,
    pixel_height,
)
from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.image import Photometric, PixelImage, Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.luts import to_raster
from viewer.imaging.resample import (
    FitMode,
    crop_window,
    fit,
    fit_affine,
    fit_mask,
    shrunk,
    shrunk_size,
    squared,
)

ALL = pytest.mark.parametrize("geometry", GEOMETRIES.values(), ids=GEOMETRIES)
IN_PROPORTION = [FitMode.CROP_RESIZE, FitMode.RESIZE_CROP, FitMode.LETTERBOX]
SIDE = 256


def shown(geometry: ImageGeometry, pixels: np.ndarray) -> Raster:
    image = PixelImage(pixels, Photometric.MONOCHROME2, geometry=geometry)
    return to_raster(image)


def circle(geometry: ImageGeometry) -> tuple[Raster, PointPx, float]:
    """Return an image of a disc off the middle, its native centre and its radius."""
    window = centred_square(geometry)
    width, height = window.x1 - window.x0, window.y1 - window.y0
    centre = PointPx(window.x0 + 0.45 * width, window.y0 + 0.6 * height)
    radius = 0.3 * width
    return shown(geometry, disc(geometry, centre.x, centre.y, radius)), centre, radius


@ALL
@pytest.mark.parametrize("mode", IN_PROPORTION)
def test_that_a_circle_in_the_patient_is_one_in_what_is_sent(
    geometry: ImageGeometry, mode: FitMode
) -> None:
    raster, centre, radius = circle(geometry)
    x, y, low, high = ellipse_of(fit(raster, SIDE, mode).pixels)
    assert high / low == pytest.approx(1.0, abs=0.02)
    affine = fit_affine(geometry, SIDE, mode)
    there = affine.apply(centre)
    assert x == pytest.approx(there.x, abs=0.5 * affine.a)
    assert y == pytest.approx(there.y, abs=0.5 * affine.e)
    assert high == pytest.approx(radius * affine.a, rel=0.03)


@ALL
@pytest.mark.parametrize("longest", [None, 200])
def test_that_a_whole_image_is_sent_with_square_pixels(
    geometry: ImageGeometry, longest: int | None
) -> None:
    raster, _, radius = circle(geometry)
    whole = shrunk(raster, longest)
    assert whole.pixel_aspect == 1.0
    assert whole.size == shrunk_size(geometry, longest)
    _, _, low, high = ellipse_of(whole.pixels)
    assert high / low == pytest.approx(1.0, abs=0.02)
    rows, columns = whole.size.rows, whole.size.columns
    tall = pixel_height(geometry) * geometry.size.rows
    assert rows / columns == pytest.approx(tall / geometry.size.columns, rel=0.01)
    assert high == pytest.approx(radius * columns / geometry.size.columns, rel=0.03)
    if longest is None:
        finer = max(geometry.size.rows, geometry.size.columns)
        assert max(rows, columns) >= finer


@ALL
def test_that_the_crop_holds_the_whole_shorter_side(geometry: ImageGeometry) -> None:
    expected, found = centred_square(geometry), crop_window(geometry)
    for name in ("x0", "y0", "x1", "y1"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), abs=1e-9)
    size, tall = geometry.size, pixel_height(geometry)
    if size.rows * tall <= size.columns:
        assert (found.y0, found.y1) == (0, size.rows)
    else:
        assert (found.x0, found.x1) == (0, size.columns)
    side = (found.x1 - found.x0, (found.y1 - found.y0) * tall)
    assert side[0] == pytest.approx(side[1], rel=1e-12)
    edge = np.zeros((size.rows, size.columns), np.uint8)
    edge[:, 0] = edge[:, -1] = edge[0] = edge[-1] = 255
    sent = fit(shown(geometry, edge), SIDE, FitMode.CROP_RESIZE).pixels
    whole = (found.x0, found.x1) == (0, size.columns)
    sides = (sent[:, 0], sent[:, -1]) if whole else (sent[0], sent[-1])
    assert all(side.min() > 0 for side in sides)


@ALL
@pytest.mark.parametrize("mode", IN_PROPORTION)
def test_that_a_mask_takes_the_pixel_under_each_middle(
    geometry: ImageGeometry, mode: FitMode
) -> None:
    """By NumPy: the middle of each pixel sent, mapped to native ones."""
    rows, columns = geometry.size.rows, geometry.size.columns
    mask = np.random.default_rng(rows).random((rows, columns)) < 0.4
    sent = fit_mask(mask, pixel_height(geometry), SIDE, mode)
    back = fit_affine(geometry, SIDE, mode).inverse()
    middles = np.arange(SIDE) + 0.5
    # Exactly between two pixels either is nearest.
    x, y = middles * back.a + back.c + 1e-9, middles * back.e + back.f + 1e-9
    inside = np.outer((y >= 0) & (y < rows), (x >= 0) & (x < columns))
    picked = np.ix_(
        np.clip(np.floor(y), 0, rows - 1).astype(int),
        np.clip(np.floor(x), 0, columns - 1).astype(int),
    )
    assert (sent == (mask[picked] & inside)).all()


@pytest.mark.parametrize("geometry", SQUARE.values(), ids=SQUARE)
def test_that_square_pixels_are_sent_as_ever(geometry: ImageGeometry) -> None:
    pixels = np.random.default_rng(3).integers(
        0, 256, (geometry.size.rows, geometry.size.columns), dtype=np.uint8
    )
    raster = Raster(pixels)
    for mode in FitMode:
        bare = ImageGeometry(geometry.size)
        assert fit_affine(geometry, SIDE, mode) == fit_affine(bare, SIDE, mode)
        sent = fit(shown(geometry, pixels), SIDE, mode).pixels
        expected = fit(raster, SIDE, mode).pixels if mode else None
        levels = np.unique(pixels).size
        assert expected is not None
        assert levels == 256
        assert (sent == expected).all()
    assert squared(raster) is raster
    window = crop_window(geometry)
    assert all(edge == int(edge) for edge in (window.x0, window.y0, window.x1))


def test_that_a_stretch_takes_no_notice_of_the_pixels_shape() -> None:
    plain = ImageGeometry(SizePx(10, 30))
    tall = ImageGeometry(SizePx(10, 30), aspect_ratio=3.0)
    assert fit_affine(plain, 60, FitMode.STRETCH) == fit_affine(
        tall, 60, FitMode.STRETCH
    )


def test_that_a_part_of_a_row_is_cropped_exactly() -> None:
    """Of 7 rows, each 3 widths high, the middle 3⅓ are kept: from row 2 on."""
    geometry = ImageGeometry(SizePx(7, 10), aspect_ratio=3.0)
    window = crop_window(geometry)
    assert window == BoxPx(0, 2, 10, float(2 + Fraction(10, 3)))
    rows = np.zeros((7, 10), bool)
    rows[5] = True
    sent = fit_mask(rows, 3.0, 100, FitMode.CROP_RESIZE)
    assert sent.all(axis=1).sum() == 10  # a third of a row is a tenth of 3⅓
    assert sent[90:].all()


def test_that_pixels_too_long_to_be_squared_are_refused() -> None:
    needles = Raster(np.zeros((1000, 1000), np.uint8), 1e6)
    with pytest.raises(WrongUseError, match="Pixel Aspect Ratio"):
        squared(needles)


def test_that_other_images_are_in_the_table() -> None:
    aspects = [geometry.pixel_aspect for geometry in OTHERS.values()]
    assert min(aspects) == 0.25
    assert max(aspects) > 7
