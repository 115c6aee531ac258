import numpy as np
import pytest

from viewer.imaging.central_band import Thorax, central_band, thorax_of


def _lungs(*columns: slice) -> np.ndarray:
    """Return lungs in rows 10 to 50 of 60 × 80 pixels, in some columns."""
    lungs = np.zeros((60, 80), dtype=bool)
    for part in columns:
        lungs[10:50, part] = True
    return lungs


def test_that_the_midline_lies_midway_between_the_lungs() -> None:
    thorax = thorax_of(_lungs(slice(5, 30), slice(40, 75)))
    assert thorax == Thorax(middle=34.5, width=70, top=10, bottom=50)


def test_that_a_hole_for_a_pacemaker_does_not_move_the_midline() -> None:
    lungs = _lungs(slice(5, 30), slice(40, 75))
    lungs[15:25, 50:70] = False
    thorax = thorax_of(lungs)
    assert thorax is not None
    assert thorax.middle == 34.5


@pytest.mark.parametrize(
    "lungs",
    [
        _lungs(),
        _lungs(slice(5, 75)),
        _lungs(slice(5, 30)),
        _lungs(slice(5, 10), slice(20, 75)),
        _lungs(slice(5, 60), slice(70, 75)),
    ],
)
def test_that_anything_but_two_lungs_of_some_size_has_no_midline(
    lungs: np.ndarray,
) -> None:
    assert thorax_of(lungs) is None


def test_that_the_band_reaches_to_both_sides_from_a_height_down() -> None:
    band = central_band((60, 80), Thorax(34.0, 70, 10, 50), 0.1, 0.5)
    rows, columns = np.nonzero(band)
    assert (rows.min(), rows.max()) == (30, 59)
    assert (columns.min(), columns.max()) == (27, 40)
    assert band.sum() == 30 * 14


def test_that_a_band_wider_than_the_image_stays_within_it() -> None:
    band = central_band((4, 6), Thorax(3.0, 6, 0, 4), 2.0, 0.0)
    assert band.all()
