import numpy as np
import pytest

from viewer.domain.geometry import BoxPx, PointPx, PolygonPx, SizePx
from viewer.metrics.regions import box_around, mask_of_boxes, mask_of_polygon


def inside(x: float, y: float, corners: list[tuple[float, float]]) -> bool:
    """Count the edges that a ray to the left crosses."""
    crossings = 0
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
        if min(y0, y1) <= y < max(y0, y1):
            crossings += x >= x0 + (y - y0) * (x1 - x0) / (y1 - y0)
    return crossings % 2 == 1


def outline_is_right(seed: int) -> bool:
    rng = np.random.default_rng(seed)
    rows, columns = (int(n) for n in rng.integers(3, 15, 2))
    corners = rng.uniform(-4, 18, (rng.integers(3, 8), 2))
    if seed % 2:
        corners = np.round(corners)
    points = [(float(x), float(y)) for x, y in corners]
    outline = PolygonPx(tuple(PointPx(x, y) for x, y in points))
    ours = mask_of_polygon(outline, SizePx(rows, columns))
    expected = [
        [inside(x + 0.5, y + 0.5, points) for x in range(columns)] for y in range(rows)
    ]
    return bool(ours.tolist() == expected)


def test_that_an_outline_holds_the_pixels_that_a_ray_says() -> None:
    assert all(outline_is_right(seed) for seed in range(100))


@pytest.mark.proof
def test_that_ten_thousand_outlines_hold_the_pixels_that_a_ray_says() -> None:
    assert all(outline_is_right(seed) for seed in range(10_000))


@pytest.mark.parametrize("seed", range(20))
def test_that_the_box_around_a_mask_is_the_smallest_that_covers_it(seed: int) -> None:
    covered = np.random.default_rng(seed).random((7, 9)) < 0.06
    covered[3, 4] = True
    there = [
        (row, column) for row in range(7) for column in range(9) if covered[row, column]
    ]
    box = box_around(covered)
    assert box == BoxPx(
        min(column for _, column in there),
        min(row for row, _ in there),
        max(column for _, column in there) + 1,
        max(row for row, _ in there) + 1,
    )
    assert (mask_of_boxes((box,), SizePx(7, 9)) >= covered).all()
