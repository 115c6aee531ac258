"""Closed-form cuts against points sampled along each ray."""

import numpy as np
import pytest

from viewer.domain.case import View
from viewer.domain.geometry import SizePx
from viewer.services.synthetic.phantom.rays import Floats, RayGrid, detector
from viewer.services.synthetic.phantom.solids import (
    Bowl,
    Ellipsoid,
    Section,
    Solid,
    Stack,
    deposit,
    rotation,
)
from viewer.services.synthetic.phantom.tubes import Tube

STEP = 0.5
ALONG = np.arange(-200, 200, STEP) + STEP / 2
STACK = Stack(
    (
        Section(90, 10, 5, 30, 50, 20, 40),
        Section(20, 0, 0, 60, 40, 50, 45),
        Section(-80, -20, 12, 45, 70, 60, 30),
    ),
    cap_top=40,
    cap_bottom=15,
    square=(True, False),
)
SOLIDS: list[Solid] = [
    STACK,
    Ellipsoid((20, -30, 10), (60, 30, 45), (20, 35, -50)),
    Bowl((10, -5), -40, 30, 60, 80),
]


def _sampled_length(solid: Solid, grid: RayGrid) -> Floats:
    """Return how much of each ray's samples lie inside, millimetres."""
    rows, columns = grid.shape
    points = np.empty((rows, columns, ALONG.size, 3))
    points[..., grid.ray_axis] = ALONG
    points[..., grid.across_axis] = grid.across[..., np.newaxis]
    points[..., 2] = grid.up[..., np.newaxis]
    inside = solid.contains(points.reshape(-1, 3)).reshape(rows, columns, -1)
    return np.asarray(inside.sum(-1) * STEP, dtype=np.float32)


@pytest.mark.parametrize("view", [View.FRONTAL, View.LATERAL])
@pytest.mark.parametrize("solid", SOLIDS, ids=["stack", "ellipsoid", "bowl"])
def test_that_a_cut_is_as_long_as_the_samples_inside(solid: Solid, view: View) -> None:
    grid = detector(view, SizePx(50, 40))
    cut = solid.interval(grid)
    length = np.clip(cut.far, -200, 200) - np.clip(cut.near, -200, 200)
    np.testing.assert_allclose(length, _sampled_length(solid, grid), atol=2.5 * STEP)
    assert (cut.near <= cut.far).all()


@pytest.mark.parametrize("solid", SOLIDS[:2], ids=["stack", "ellipsoid"])
def test_that_nothing_of_a_solid_lies_outside_its_bounds(solid: Solid) -> None:
    rng = np.random.default_rng(0)
    points = rng.uniform(-200, 200, (200_000, 3))
    inside = points[solid.contains(points)]
    box = solid.bounds()
    assert len(inside) > 100
    assert (inside >= np.array(box.low) - 0.5).all()
    assert (inside <= np.array(box.high) + 0.5).all()


def test_that_a_magnified_ellipsoid_holds_the_original() -> None:
    small = Ellipsoid((20, -30, 10), (60, 30, 45), (20, 35, -50))
    large = small.about((10, -25, 5), 1.3)
    points = np.random.default_rng(1).uniform(-120, 120, (100_000, 3))
    assert large.contains(points[small.contains(points)]).all()


def test_that_a_tube_seen_from_the_side_is_as_thick_as_its_diameter() -> None:
    tube = Tube.through([(0, 0, -40), (0, 0, 40)], 7.0)
    grid = detector(View.FRONTAL, SizePx(251, 201))
    assert tube.chord(grid)[125, 100] == pytest.approx(14, abs=0.05)


def test_that_a_slanted_tube_is_longer_by_the_slant() -> None:
    tube = Tube.through([(0, -30, -30), (0, 30, 30)], 5.0)
    grid = detector(View.FRONTAL, SizePx(251, 201))
    assert tube.chord(grid)[125, 100] == pytest.approx(10 * np.sqrt(2), abs=0.1)


def test_that_a_deposit_equals_the_chord_on_the_whole_grid() -> None:
    grid = detector(View.LATERAL, SizePx(50, 40))
    out = np.zeros(grid.shape, dtype=np.float32)
    deposit(out, grid, STACK, 2.0)
    np.testing.assert_allclose(out, 2 * STACK.chord(grid), atol=2e-2)


def test_that_a_rotation_keeps_lengths_and_turns_right_handed() -> None:
    turn = rotation((0, 0, 90))
    np.testing.assert_allclose(turn @ [1, 0, 0], [0, 1, 0], atol=1e-12)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
