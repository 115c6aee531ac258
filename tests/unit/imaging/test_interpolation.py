import numpy as np
import pytest
from scipy.ndimage import map_coordinates

from viewer.domain.geometry import SizePx
from viewer.imaging.interpolation import axis_weights, enlarged


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (7, 2)])
@pytest.mark.parametrize("size", [SizePx(1, 1), SizePx(40, 31), SizePx(2, 9)])
def test_that_enlarging_equals_scipys_linear_interpolation(
    shape: tuple[int, int], size: SizePx
) -> None:
    values = np.random.default_rng(0).normal(size=shape)
    at = np.meshgrid(
        (np.arange(size.rows) + 0.5) * shape[0] / size.rows - 0.5,
        (np.arange(size.columns) + 0.5) * shape[1] / size.columns - 0.5,
        indexing="ij",
    )
    expected = map_coordinates(values, at, order=1, mode="nearest")
    np.testing.assert_allclose(enlarged(values, size), expected, atol=1e-12)


def test_that_weights_add_up_to_one_wherever_the_place() -> None:
    weights = axis_weights(np.linspace(-3, 9, 101), 6)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert (weights >= 0).all()


def test_that_the_same_size_changes_nothing() -> None:
    values = np.random.default_rng(1).normal(size=(4, 6))
    np.testing.assert_allclose(enlarged(values, SizePx(4, 6)), values)
