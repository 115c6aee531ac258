"""Outlines filled as pycocotools fills them, to the pixel."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

from viewer.domain import rle
from viewer.domain.geometry import PointPx, PolygonPx, SizePx
from viewer.imaging.coco_outline import covered

Corners = npt.NDArray[np.float64]
_Make = Callable[[np.random.Generator, Corners, int], Corners]
KINDS: dict[str, _Make] = {
    "inside": lambda rng, side, n: rng.uniform(0, 1, (n, 2)) * side,
    "beyond": lambda rng, side, n: rng.uniform(-1, 2, (n, 2)) * side,
    "far": lambda rng, side, n: rng.uniform(-9, 9, (n, 2)) * side,
    "tiny": lambda rng, side, n: (
        rng.uniform(0, 1, 2) * side + rng.uniform(-0.6, 0.6, (n, 2))
    ),
    "whole": lambda rng, side, n: np.round(rng.uniform(-1, 2, (n, 2)) * side),
    "halves": lambda rng, side, n: np.round(rng.uniform(0, 2, (n, 2)) * side) / 2,
    "a line": lambda rng, side, n: rng.uniform(0, 1, (n, 1)) * side,
    "twice": lambda rng, side, n: np.repeat(rng.uniform(0, 1, (n, 2)) * side, 2, 0),
}


def _ours(corners: Corners, rows: int, columns: int) -> npt.NDArray[np.bool_]:
    points = tuple(PointPx(float(x), float(y)) for x, y in corners)
    return covered(PolygonPx(points), SizePx(rows, columns))


def _theirs(corners: Corners, rows: int, columns: int) -> npt.NDArray[np.bool_]:
    (coded,) = coco_mask.frPyObjects([corners.ravel().tolist()], rows, columns)
    return rle.decode(coded["counts"].decode(), rows, columns)


@pytest.mark.parametrize("kind", KINDS)
def test_that_random_outlines_are_filled_as_pycocotools_fills_them(kind: str) -> None:
    rng = np.random.default_rng(len(kind))
    for _ in range(200):
        rows, columns = (int(n) for n in rng.integers(1, 40, 2))
        side = np.array([columns, rows], dtype=np.float64)
        corners = KINDS[kind](rng, side, int(rng.integers(3, 12)))
        ours, theirs = _ours(corners, rows, columns), _theirs(corners, rows, columns)
        assert np.array_equal(ours, theirs), (rows, columns, corners.tolist())


_NUMBERS = st.floats(-50, 90, allow_nan=False, width=32)


@given(
    st.lists(st.tuples(_NUMBERS, _NUMBERS), min_size=3, max_size=9),
    st.integers(1, 40),
    st.integers(1, 40),
)
def test_that_any_outline_is_filled_as_pycocotools_fills_it(
    corners: list[tuple[float, float]], rows: int, columns: int
) -> None:
    at = np.array(corners)
    assert np.array_equal(_ours(at, rows, columns), _theirs(at, rows, columns))


def test_that_the_crossing_of_a_star_is_outside() -> None:
    star = np.array([[20, 2], [31, 36], [2, 15], [38, 15], [9, 36]], dtype=np.float64)
    filled = _ours(star, 40, 40)
    assert not filled[22, 20]
    assert filled[10, 20]
