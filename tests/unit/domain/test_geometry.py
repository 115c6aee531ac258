"""Affine maps, against matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viewer.domain.geometry import Affine, PointPx, SizePx

NUMBER = st.floats(-1000, 1000, allow_subnormal=False)
SCALE = st.floats(0.01, 100)
POINT = st.builds(PointPx, NUMBER, NUMBER)


@given(NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, NUMBER, POINT)
def test_that_applying_is_the_matrix_product(
    a: float, b: float, c: float, d: float, e: float, f: float, point: PointPx
) -> None:
    affine = Affine(a, b, c, d, e, f)
    mapped = affine.apply(point)
    expected = affine.matrix() @ (point.x, point.y, 1.0)
    assert (mapped.x, mapped.y, 1.0) == pytest.approx(tuple(expected), abs=1e-6)


@given(POINT, SCALE, SCALE, POINT)
def test_that_shifting_and_scaling_is_undone_by_the_inverse(
    shift: PointPx, scale_x: float, scale_y: float, point: PointPx
) -> None:
    affine = Affine.scale_after_shift(shift, scale_x, scale_y)
    there = affine.apply(point)
    assert there.x == pytest.approx((point.x - shift.x) * scale_x, abs=1e-6)
    assert there.y == pytest.approx((point.y - shift.y) * scale_y, abs=1e-6)
    back = affine.inverse().apply(there)
    assert (back.x, back.y) == pytest.approx((point.x, point.y), abs=1e-6)


def test_that_the_identity_changes_nothing() -> None:
    assert Affine.identity().apply(PointPx(3.5, -2.0)) == PointPx(3.5, -2.0)
    assert np.array_equal(Affine.identity().matrix(), np.eye(3))


def test_that_a_map_onto_a_line_has_no_inverse() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        Affine(1, 0, 0, 1, 0, 0).inverse()


def test_that_a_size_is_written_as_width_by_height() -> None:
    assert SizePx(rows=3, columns=4).words == "4 × 3"
