"""Rays and intervals against sums over sorted pieces and hand-counted windows."""

import numpy as np
import pytest

from viewer.domain.case import View
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.phantom.rays import (
    Bounds,
    Floats,
    Interval,
    detector,
    spacing_mm,
    union_length,
)


def _covered(starts: Floats, ends: Floats) -> float:
    total, reach = 0.0, -np.inf
    for start, end in sorted(zip(starts.tolist(), ends.tolist(), strict=True)):
        total += max(0.0, end - max(start, reach))
        reach = max(reach, end)
    return total


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_that_a_union_is_as_long_as_its_pieces_swept_in_order(count: int) -> None:
    rng = np.random.default_rng(count)
    starts = rng.uniform(-100, 100, (count, 8, 9)).astype(np.float32)
    ends = starts + rng.uniform(0, 60, starts.shape).astype(np.float32)
    got = union_length([Interval(s, e) for s, e in zip(starts, ends, strict=True)])
    flat = starts.reshape(count, -1), ends.reshape(count, -1)
    expected = [_covered(flat[0][:, i], flat[1][:, i]) for i in range(72)]
    np.testing.assert_allclose(got.ravel(), expected, atol=1e-3)


def test_that_a_clipped_interval_lies_inside_and_a_stranger_becomes_a_point() -> None:
    one = np.ones((1, 3), dtype=np.float32)
    near = np.array([[-5, 2, 20]], dtype=np.float32)
    far = np.array([[5, 4, 30]], dtype=np.float32)
    pieces = Interval(near, far)
    inside = pieces.within(Interval(one * 0, one * 10))
    np.testing.assert_array_equal(inside.near, [[0, 2, 10]])
    np.testing.assert_array_equal(inside.length(), [[5, 2, 0]])


def test_that_the_full_size_detector_has_175_micrometre_pixels() -> None:
    assert spacing_mm(SizePx(2500, 2000)) == 0.175
    assert spacing_mm(SizePx(500, 400)) == 0.875


def test_that_rays_are_centred_and_the_first_row_is_the_highest() -> None:
    grid = detector(View.FRONTAL, SizePx(10, 8))
    np.testing.assert_allclose(grid.across.sum(), 0, atol=1e-4)
    np.testing.assert_allclose(grid.up.sum(), 0, atol=1e-4)
    assert grid.up[0, 0] > grid.up[-1, 0]
    assert grid.shape == (10, 8)


def test_that_a_window_holds_every_ray_that_meets_a_box() -> None:
    grid = detector(View.LATERAL, SizePx(40, 32))
    rows, columns = grid.window(Bounds((-1, -50, -20), (1, 30, 70)))
    inside = (grid.across >= -50) & (grid.across <= 30)
    inside = inside & (grid.up >= -20) & (grid.up <= 70)
    part = np.zeros_like(inside)
    part[rows, columns] = True
    np.testing.assert_array_equal(part, inside)
