import math

import numpy as np
import pytest

from viewer.domain.geometry import PointPx, SizePx
from viewer.imaging.brush import brushed

SIZE = SizePx(50, 70)


def _covered(line: tuple[PointPx, ...], width: float, aspect: float) -> np.ndarray:
    """Look at every pixel of the image by itself, along finely divided lines."""
    bits = np.zeros((SIZE.rows, SIZE.columns), bool)
    for row in range(SIZE.rows):
        for column in range(SIZE.columns):
            centre = np.array([column + 0.5, (row + 0.5) * aspect])
            bits[row, column] = any(
                _off(centre, line[max(n - 1, 0)], line[n], aspect) <= width / 2
                for n in range(len(line))
            )
    for point in line:
        if 0 <= point.x < SIZE.columns and 0 <= point.y < SIZE.rows:
            bits[math.floor(point.y), math.floor(point.x)] = True
    return bits


def _off(centre: np.ndarray, start: PointPx, end: PointPx, aspect: float) -> float:
    """Return the distance from a line, by angles instead of a projection."""
    a, b = (np.array([p.x, p.y * aspect]) for p in (start, end))
    to_a, to_b, along = centre - a, centre - b, b - a
    if (to_a @ along) <= 0 or (to_b @ along) >= 0:
        return float(min(np.linalg.norm(to_a), np.linalg.norm(to_b)))
    across = along[0] * to_a[1] - along[1] * to_a[0]
    return float(abs(across) / np.linalg.norm(along))


@pytest.mark.parametrize("seed", range(10))
def test_that_a_brush_covers_the_centres_within_half_its_width(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.uniform((-5, -5), (75, 55), (rng.integers(1, 6), 2)).tolist()
    line = tuple(PointPx(x, y) for x, y in points)
    width, aspect = float(rng.uniform(1, 20)), float(rng.choice([0.5, 1.0, 1.7]))
    expected = _covered(line, width, aspect)
    patch = brushed(line, width, SIZE, aspect)
    found = np.zeros_like(expected) if patch is None else patch.on(SIZE)
    assert (found == expected).all()


def test_that_the_thinnest_brush_covers_the_pixel_under_it() -> None:
    patch = brushed((PointPx(3.05, 4.95),), 1.0, SIZE)
    assert patch is not None
    assert (patch.left, patch.top, patch.count) == (3, 4, 1)


def test_that_a_brush_beside_the_image_covers_nothing() -> None:
    assert brushed((PointPx(-30, 4), PointPx(-30, 40)), 8.0, SIZE) is None
