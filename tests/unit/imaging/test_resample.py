import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.image import Raster
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.resample import (
    FitMode,
    crop_window,
    fit,
    fit_affine,
    fit_mask,
    shrunk,
    shrunk_mask,
)

SIZES = st.builds(SizePx, st.integers(1, 90), st.integers(1, 90))


def noise(rows: int, columns: int, *samples: int) -> Raster:
    generator = np.random.default_rng(rows * 1000 + columns)
    return Raster(generator.integers(0, 256, (rows, columns, *samples), dtype=np.uint8))


@pytest.mark.statement("E000-07")
def test_that_the_crop_is_the_papers() -> None:
    # Studies E000-07 and A.1: 2320 × 2828 keeps s = 2320 from x = 254.
    assert crop_window(ImageGeometry(SizePx(2320, 2828))) == BoxPx(254, 0, 2574, 2320)
    assert round(2320 / 2828, 4) == 0.8204


def test_that_an_odd_remainder_is_cut_at_the_far_side() -> None:
    assert crop_window(ImageGeometry(SizePx(7, 4))) == BoxPx(0, 1, 4, 5)


@pytest.mark.statement("E000-07")
@pytest.mark.parametrize("samples", [(), (3,)])
def test_that_crop_and_resize_equals_pillow_doing_one_after_the_other(
    samples: tuple[int, ...],
) -> None:
    raster = noise(300, 421, *samples)
    cropped = Image.fromarray(np.ascontiguousarray(raster.pixels[:, 60:360]))
    expected = np.asarray(cropped.resize((256, 256), Image.Resampling.BILINEAR))
    assert (fit(raster, 256, FitMode.CROP_RESIZE).pixels == expected).all()


def test_that_resize_and_crop_equals_pillow_doing_one_after_the_other() -> None:
    raster = noise(300, 421)
    resized = Image.fromarray(raster.pixels).resize(
        (359, 256), Image.Resampling.BILINEAR
    )
    expected = np.asarray(resized.crop((52, 0, 308, 256)))
    assert (
        np.abs(
            fit(raster, 256, FitMode.RESIZE_CROP).pixels.astype(int) - expected
        ).max()
        <= 0
    )


@pytest.mark.statement("E000-07")
def test_that_a_letterbox_loses_nothing_and_is_black_beside() -> None:
    white = Raster(np.full((50, 200), 255, np.uint8))
    sent = fit(white, 100, FitMode.LETTERBOX).pixels
    assert (sent[37:62] == 255).all()
    assert not sent[:37].any()
    assert not sent[62:].any()


@pytest.mark.statement("E000-07")
def test_that_stretching_fills_the_square() -> None:
    assert (
        fit(Raster(np.full((3, 9), 9, np.uint8)), 8, FitMode.STRETCH).pixels == 9
    ).all()


@given(SIZES, st.integers(1, 64), st.sampled_from(FitMode))
def test_that_every_mode_gives_the_square_and_maps_the_centre_to_the_centre(
    size: SizePx, side: int, mode: FitMode
) -> None:
    raster = noise(size.rows, size.columns)
    assert fit(raster, side, mode).size == SizePx(side, side)
    centre = fit_affine(ImageGeometry(size), side, mode).apply(
        PointPx(size.columns / 2, size.rows / 2)
    )
    scale = max(side / min(size.rows, size.columns), 1.0)
    assert abs(centre.x - side / 2) <= scale
    assert abs(centre.y - side / 2) <= scale


@pytest.mark.statement("E000-07")
@given(SIZES, st.integers(1, 64), st.sampled_from(FitMode))
def test_that_the_map_back_undoes_the_map(
    size: SizePx, side: int, mode: FitMode
) -> None:
    there = fit_affine(ImageGeometry(size), side, mode)
    back = there.inverse().apply(there.apply(PointPx(3.25, 1.5)))
    assert back.x == pytest.approx(3.25)
    assert back.y == pytest.approx(1.5)


@pytest.mark.statement("E000-17")
@given(st.integers(1, 300), st.integers(1, 300))
def test_that_a_mask_takes_the_nearest_pixel_in_integers(s: int, side: int) -> None:
    mask = np.random.default_rng(s).random((s, s)) < 0.5
    sent = fit_mask(mask, 1.0, side, FitMode.CROP_RESIZE)
    index = [int((i + 0.5) * s / side) for i in range(side)]
    assert (sent == mask[np.ix_(index, index)]).all()


def test_that_a_mask_is_cropped_and_resized_as_pillow_does_it() -> None:
    mask = np.random.default_rng(0).random((2320, 2828)) < 0.5
    cropped = Image.fromarray(np.ascontiguousarray(mask[:, 254:2574]))
    expected = np.asarray(cropped.resize((256, 256), Image.Resampling.NEAREST))
    assert (fit_mask(mask, 1.0, 256, FitMode.CROP_RESIZE) == expected).all()


@given(SIZES, st.integers(8, 64), st.sampled_from(FitMode))
def test_that_a_mask_lies_where_the_affine_map_says(
    size: SizePx, side: int, mode: FitMode
) -> None:
    mask = np.zeros((size.rows, size.columns), dtype=bool)
    mask[
        size.rows // 3 : size.rows // 2 + 1, size.columns // 3 : size.columns // 2 + 1
    ] = 1
    sent = fit_mask(mask, 1.0, side, mode)
    back = fit_affine(ImageGeometry(size), side, mode).inverse()
    for y, x in np.argwhere(sent)[:20]:
        native = back.apply(PointPx(x + 0.5, y + 0.5))
        # Exactly between two pixels either is nearest.
        rows = {int(native.y + nudge) for nudge in (-1e-9, 1e-9)}
        columns = {int(native.x + nudge) for nudge in (-1e-9, 1e-9)}
        assert any(mask[row, column] for row in rows for column in columns)


def test_that_nothing_lies_beside_a_letterbox_or_outside_a_crop() -> None:
    mask = np.ones((10, 30), dtype=bool)
    mask[:, :10] = False
    assert fit_mask(mask, 1.0, 10, FitMode.CROP_RESIZE).all()
    letterbox = fit_mask(np.ones((10, 30), dtype=bool), 1.0, 30, FitMode.LETTERBOX)
    assert letterbox.sum() == 300


def test_that_a_side_of_zero_is_refused() -> None:
    with pytest.raises(WrongUseError, match="0 pixels"):
        fit(noise(4, 4), 0, FitMode.CROP_RESIZE)


def test_that_a_strip_that_would_grow_beyond_memory_is_refused() -> None:
    with pytest.raises(WrongUseError, match="too long and narrow"):
        fit_affine(ImageGeometry(SizePx(1, 6_000_000)), 256, FitMode.RESIZE_CROP)


def test_that_a_large_raster_shrinks_in_proportion_and_a_small_one_stays() -> None:
    pixels = np.tile(np.arange(200, dtype=np.uint8), (100, 1))
    small = shrunk(Raster(pixels), 50)
    assert small.pixels.shape == (25, 50)
    assert abs(int(small.pixels[12, 25]) - 102) <= 2
    assert shrunk(Raster(pixels), 200).pixels is pixels
    mask = pixels > 99
    assert (shrunk_mask(mask, small.size) == (np.arange(50) > 24)).all()


def test_that_a_region_too_small_for_the_nearest_pixel_is_not_lost() -> None:
    mask = np.zeros((90, 60), dtype=bool)
    mask[0, 59] = mask[80, 0] = True
    small = shrunk_mask(mask, SizePx(9, 6))
    assert np.argwhere(small).tolist() == [[0, 5], [8, 0]]
    assert not shrunk_mask(np.zeros_like(mask), SizePx(9, 6)).any()
