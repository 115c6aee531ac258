"""A map of values as colours over an image."""

import numpy as np

from viewer.domain.geometry import Affine
from viewer.imaging.heat_overlay import heat_overlay, patch_overlay

GREY = np.full((4, 6), 0.5)


def test_that_patches_tint_their_own_pixels_only() -> None:
    values = np.array([[0.0, 1.0]])
    patches = Affine(2, 0, 1, 0, 2, 1)  # 2 × 2 pixels each, from (1, 1) on
    shown = patch_overlay(GREY, values, patches, 1.0)
    plain = heat_overlay(np.full((4, 4), 0.5), np.zeros((1, 1)), 1.0)[0, 0]
    tinted = np.any(shown != plain, axis=2)
    expected = np.zeros((4, 6), dtype=np.bool_)
    expected[1:3, 3:5] = True
    assert np.array_equal(tinted, expected)


def test_that_a_map_of_the_whole_image_is_the_same_as_one_patch_of_its_size() -> None:
    square, values = np.full((4, 4), 0.5), np.array([[0.7]])
    whole = patch_overlay(square, values, Affine(4, 0, 0, 0, 4, 0), 1.0)
    assert np.array_equal(whole, heat_overlay(square, values, 1.0))
