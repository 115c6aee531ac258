"""A region of one image in the place of another's."""

import hashlib

import numpy as np
import pytest

from viewer.domain.errors import WrongUseError
from viewer.domain.geometry import PointPx
from viewer.domain.image import Raster
from viewer.imaging.blending import (
    Blend,
    Composite,
    Pasting,
    Region,
    composite,
    pasted_pixels,
)
from viewer.imaging.membrane import harmonic

HARD = Pasting(Blend.HARD)


def region(
    rows: slice, columns: slice, *, side: int = 60, seed: int = 0, low: int = 0
) -> Region:
    rng = np.random.default_rng(seed)
    mask = np.zeros((side, side), dtype=np.bool_)
    mask[rows, columns] = True
    pixels = rng.integers(low, low + 100, (side, side)).astype(np.uint8)
    return Region(Raster(pixels), mask)


TARGET = region(slice(20, 40), slice(10, 30))
DONOR = region(slice(5, 25), slice(30, 50), seed=1, low=150)
LARGE = region(slice(5, 45), slice(10, 50), seed=2, low=150)


@pytest.mark.statement("E002-10")
def test_that_a_region_of_the_same_size_is_copied_pixel_for_pixel() -> None:
    made = composite(TARGET, DONOR, HARD)
    assert (made.raster.pixels[20:40, 10:30] == DONOR.raster.pixels[5:25, 30:50]).all()
    outside = ~TARGET.mask
    assert (made.raster.pixels[outside] == TARGET.raster.pixels[outside]).all()
    assert (made.pasted == TARGET.mask).all()
    assert made.to_donor.apply(PointPx(10, 20)) == PointPx(30, 5)


@pytest.mark.statement("E002-10")
def test_that_boxes_are_fitted_by_an_affine_map() -> None:
    flat = Region(Raster(np.full((60, 60), 200, np.uint8)), LARGE.mask)
    made = composite(TARGET, flat, HARD)
    corner, other = (
        made.to_donor.apply(PointPx(x, y)) for x, y in ((10, 20), (30, 40))
    )
    assert (corner, other) == (PointPx(10, 5), PointPx(50, 45))
    assert (made.raster.pixels[TARGET.mask] == 200).all()


@pytest.mark.statement("E002-10")
def test_that_pixels_are_pasted_where_either_mask_is() -> None:
    half, corner = TARGET.mask.copy(), DONOR.mask.copy()
    half[20:30, 20:30] = False
    corner[5:15, 30:40] = False
    target, donor = Region(TARGET.raster, half), Region(DONOR.raster, corner)
    made = composite(target, donor, HARD)
    assert made.pasted[20:40, 10:30].all()
    none = corner.copy()
    none[5:15, 40:50] = False
    none[5, 30] = True
    neither = composite(target, Region(DONOR.raster, none), HARD)
    assert not neither.pasted[22:30, 20:30].any()


@pytest.mark.statement("E002-10")
def test_that_a_feathered_edge_falls_off_with_its_standard_deviation() -> None:
    black = Region(Raster(np.zeros((60, 60), np.uint8)), TARGET.mask)
    white = Region(Raster(np.full((60, 60), 255, np.uint8)), DONOR.mask)
    made = composite(black, white, Pasting(feather=0.1)).raster.pixels
    middle = made[30].astype(int)
    assert middle[20] == 255
    assert abs(middle[10] + middle[9] - 255) <= 1
    assert (np.diff(middle[:20]) >= 0).all()
    at_one_sigma = (middle[11] + middle[12]) / 2
    assert at_one_sigma / 255 == pytest.approx(0.84, abs=0.02)
    assert (made[:11] == 0).all()


def test_that_a_feather_of_less_than_nothing_visible_is_a_hard_edge() -> None:
    hard = composite(TARGET, DONOR, HARD).raster.pixels
    none = composite(TARGET, DONOR, Pasting(feather=0.0)).raster.pixels
    assert (hard == none).all()


@pytest.mark.statement("E002-10")
def test_that_poisson_keeps_the_donor_s_gradients_and_the_target_s_edge() -> None:
    y, x = np.mgrid[:60, :60]
    ramp = Region(Raster((x + 50).astype(np.uint8)), TARGET.mask)
    shape = (20 * np.exp(-((y - 15) ** 2 + (x - 40) ** 2) / 18)).astype(np.uint8)
    donor = Region(Raster(shape + np.uint8(180)), DONOR.mask)
    made = composite(ramp, donor, Pasting(Blend.POISSON)).raster.pixels.astype(int)
    wanted = x + 50
    wanted[20:40, 10:30] += shape[5:25, 30:50]
    assert np.abs(made - wanted).max() <= 1


def test_that_a_region_as_large_as_its_image_is_replaced_whole() -> None:
    whole = Region(TARGET.raster, np.ones((60, 60), dtype=np.bool_))
    other = Region(DONOR.raster, whole.mask)
    made = composite(whole, other, Pasting(Blend.POISSON))
    assert (made.raster.pixels == DONOR.raster.pixels).all()


@pytest.mark.statement("E002-10")
def test_that_matched_pixels_have_the_distribution_of_those_they_replace() -> None:
    how = Pasting(Blend.HARD, match_histogram=True)
    made = composite(TARGET, DONOR, how).raster.pixels
    before, after = (np.sort(p[TARGET.mask]) for p in (TARGET.raster.pixels, made))
    quantiles = np.linspace(0.02, 0.98, 25)
    gap = np.quantile(before, quantiles) - np.quantile(after, quantiles)
    assert np.abs(gap).max() <= 4
    ranks = DONOR.raster.pixels[DONOR.mask].argsort(kind="stable")
    assert (np.diff(made[TARGET.mask][ranks].astype(int)) >= 0).all()


@pytest.mark.parametrize("blend", Blend)
def test_that_colour_and_grey_meet_in_the_target_s_channels(blend: Blend) -> None:
    grey = TARGET
    colour = Region(Raster(np.repeat(grey.raster.pixels[..., None], 3, 2)), grey.mask)
    in_colour = Region(
        Raster(np.repeat(DONOR.raster.pixels[..., None], 3, 2)), DONOR.mask
    )
    how = Pasting(blend, match_histogram=True)
    plain = composite(grey, DONOR, how).raster.pixels
    for target, donor in ((colour, DONOR), (colour, in_colour), (grey, in_colour)):
        made = composite(target, donor, how).raster.pixels
        assert made.shape == target.raster.pixels.shape
        assert (made == (plain if made.ndim == 2 else plain[..., None])).all()


def test_that_a_region_at_the_edge_takes_what_there_is() -> None:
    edge = region(slice(0, 20), slice(0, 20))
    corner = region(slice(50, 60), slice(50, 60), seed=3)
    for blend in Blend:
        made = composite(edge, corner, Pasting(blend, feather=0.1))
        assert (made.pasted == edge.mask).all()
        assert made.raster.pixels.shape == (60, 60)


@pytest.mark.statement("E002-10")
def test_that_composites_are_the_same_bytes_every_time() -> None:
    def hashes() -> dict[Blend, str]:
        made: dict[Blend, Composite] = {
            b: composite(TARGET, LARGE, Pasting(b, match_histogram=True)) for b in Blend
        }
        return {
            b: hashlib.sha256(c.raster.pixels.tobytes()).hexdigest()[:16]
            for b, c in made.items()
        }

    assert hashes() == hashes()
    assert hashes() == {
        Blend.ALPHA: "d09f2f52d36fd1e3",
        Blend.HARD: "c3879e54d0a060c4",
        Blend.POISSON: "357d11d88567ec35",
    }


def test_that_what_is_no_region_is_refused() -> None:
    raster = TARGET.raster
    with pytest.raises(WrongUseError, match="mask is empty"):
        Region(raster, np.zeros((60, 60), dtype=np.bool_))
    with pytest.raises(WrongUseError, match="not the size of its image"):
        Region(raster, np.ones((2, 2), dtype=np.bool_))


def _brute(values: np.ndarray, inside: np.ndarray) -> np.ndarray:
    n = values.size
    matrix, right = np.eye(n), np.where(inside, 0.0, values).ravel()
    rows, columns = values.shape
    for y, x in np.argwhere(inside):
        i = y * columns + x
        around = [
            (y + dy) * columns + x + dx
            for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0))
            if 0 <= y + dy < rows and 0 <= x + dx < columns
        ]
        matrix[i, i] = len(around)
        matrix[i, around] = -1
    return np.linalg.solve(matrix, right).reshape(values.shape)


def test_that_a_harmonic_field_equals_a_dense_solution() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        shape = tuple(int(n) for n in rng.integers(3, 14, 2))
        values, inside = rng.normal(size=shape), rng.random(shape) < 0.7
        inside[0, 0] = False
        gap = harmonic(values, inside) - _brute(values, inside)
        assert np.abs(gap).max() < 1e-9


def test_that_a_field_without_anything_given_is_flat() -> None:
    values = np.arange(12.0).reshape(3, 4)
    assert (harmonic(values, np.ones((3, 4), dtype=np.bool_)) == 0).all()
    assert (harmonic(values, np.zeros((3, 4), dtype=np.bool_)) == values).all()


def test_that_a_large_field_is_as_good_as_a_small_one() -> None:
    y, x = np.mgrid[:160, :160]
    inside = (y - 80) ** 2 + (x - 70) ** 2 < 60**2
    saddle = (x - 80.0) ** 2 - (y - 60.0) ** 2  # harmonic on the grid as well
    field = harmonic(np.where(inside, 0.0, saddle), inside)
    assert inside.sum() > 5_000
    assert np.abs(field - saddle).max() < 0.05


def test_that_the_pixels_a_paste_replaces_are_told_without_the_pictures() -> None:
    made = composite(TARGET, LARGE, HARD)
    assert np.array_equal(pasted_pixels(TARGET.mask, LARGE.mask), made.pasted)
