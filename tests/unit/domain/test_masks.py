import numpy as np
import pytest

from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.reference import Patch

SIZE = SizePx(30, 40)


def _bits(seed: int) -> np.ndarray:
    rng, bits = np.random.default_rng(seed), np.zeros((SIZE.rows, SIZE.columns), bool)
    top, left = rng.integers(0, 20, 2)
    bits[top : top + 9, left : left + 14] = rng.random((9, 14)) < 0.6
    return bits


def _patch(bits: np.ndarray) -> Patch:
    patch = Patch.of_array(bits)
    assert patch is not None
    return patch


def test_that_a_patch_is_the_smallest_rectangle_around_its_pixels() -> None:
    bits = np.zeros((SIZE.rows, SIZE.columns), bool)
    bits[4, 7] = bits[9, 12] = True
    patch = _patch(bits)
    assert (patch.left, patch.top, patch.mask.size) == (7, 4, SizePx(6, 6))
    assert patch.box == BoxPx(7, 4, 13, 10)
    assert patch.count == 2
    assert (patch.on(SIZE) == bits).all()
    assert Patch.of_array(bits[:, :8], left=3, top=5) == Patch.of_array(
        np.ones((1, 1), bool), left=10, top=9
    )


def test_that_without_a_pixel_there_is_no_patch() -> None:
    assert Patch.of_array(np.zeros((3, 3), bool)) is None


@pytest.mark.parametrize("seed", range(12))
def test_that_patches_combine_as_masks_of_the_whole_image_do(seed: int) -> None:
    one, other = _bits(seed), _bits(seed + 100)
    a, b = _patch(one), _patch(other)
    assert (a.united(b).on(SIZE) == (one | other)).all()
    assert a.without(b) == Patch.of_array(one & ~other)
    changed = a.differing(b)
    assert changed is not None
    assert a.differing(changed) == b
    assert a.meets(b) == (one & other).any()


def test_that_nothing_is_left_of_a_patch_without_itself() -> None:
    patch = _patch(_bits(0))
    assert patch.without(patch) is None
    assert patch.differing(patch) is None


def test_that_a_patch_is_cut_at_the_edges_of_a_smaller_image() -> None:
    bits = _bits(3)
    assert (_patch(bits).on(SizePx(15, 20)) == bits[:15, :20]).all()
