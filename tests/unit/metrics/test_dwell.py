import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from viewer.domain.geometry import BoxPx, SizePx
from viewer.metrics.dwell import dwell_ms

_EDGES = st.floats(-5, 14, allow_nan=False) | st.integers(-4, 28).map(lambda n: n / 2)
_LOOKS = st.lists(
    st.tuples(st.builds(BoxPx, *[_EDGES] * 4), st.integers(0, 10**9)), max_size=12
)


def pixel_by_pixel(
    looks: list[tuple[BoxPx, int]], size: SizePx
) -> npt.NDArray[np.int64]:
    """Ask of every pixel and every look whether the pixel's centre was in sight."""
    found = np.zeros((size.rows, size.columns), np.int64)
    for row in range(size.rows):
        for column in range(size.columns):
            x, y = column + 0.5, row + 0.5
            found[row, column] = sum(
                ms for b, ms in looks if b.x0 <= x < b.x1 and b.y0 <= y < b.y1
            )
    return found


@given(_LOOKS, st.builds(SizePx, st.integers(1, 9), st.integers(1, 11)))
def test_that_dwell_is_what_every_pixel_adds_up(
    looks: list[tuple[BoxPx, int]], size: SizePx
) -> None:
    assert np.array_equal(dwell_ms(looks, size), pixel_by_pixel(looks, size))


def test_that_a_whole_image_in_sight_has_the_same_time_everywhere() -> None:
    size = SizePx(3, 5)
    looks = [(BoxPx(-7, -2, 90, 80), 1200), (BoxPx(2, 1, 2, 3), 50)]
    assert (dwell_ms(looks, size) == 1200).all()
