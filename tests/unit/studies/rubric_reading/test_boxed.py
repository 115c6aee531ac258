import numpy as np
import pytest

from viewer.domain.answer import LabelledBox
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.studies.rubric_reading.galleries import COLOURS, boxed


@pytest.mark.statement("E001-09", "E001-17")
def test_that_boxes_are_drawn_where_they_are_in_colours_of_their_own() -> None:
    raster = Raster(np.full((960, 480), 7, np.uint8))
    first = LabelledBox(BoxPx(100, 200, 300, 400), "a")
    second = LabelledBox(BoxPx(0, 0, 480, 960), "b")
    picture = boxed(raster, (first, second))
    assert picture.shape == (480, 240, 3)
    assert tuple(picture[100, 100]) == COLOURS[0]
    assert tuple(picture[199, 60]) == COLOURS[0]
    assert tuple(picture[150, 149]) == COLOURS[0]
    assert tuple(picture[150, 120]) == (7, 7, 7)
    assert tuple(picture[479, 5]) == tuple(picture[300, 239]) == COLOURS[1]
    inside = picture[106:122, 56:66].reshape(-1, 3)
    assert any(tuple(pixel) == COLOURS[0] for pixel in inside)


def test_that_colour_stays_and_a_box_smaller_than_a_line_is_no_error() -> None:
    raster = Raster(np.full((40, 60, 3), (9, 8, 7), np.uint8))
    tiny = LabelledBox(BoxPx(58, 38, 59, 39), "a")
    picture = boxed(raster, (tiny,))
    assert picture.shape == (40, 60, 3)
    assert tuple(picture[38, 58]) == COLOURS[0]
    assert tuple(picture[0, 0]) == (9, 8, 7)
    assert np.array_equal(np.asarray(raster.pixels)[38, 58], (9, 8, 7))


def test_that_boxes_lie_right_on_pixels_that_are_not_square() -> None:
    raster = Raster(np.full((120, 240), 7, np.uint8), 4.0)
    picture = boxed(raster, (LabelledBox(BoxPx(60, 30, 180, 90), "a"),))
    assert picture.shape == (480, 240, 3)
    drawn = (picture == COLOURS[0]).all(axis=2)
    rows, columns = np.flatnonzero(drawn.any(1)), np.flatnonzero(drawn.any(0))
    assert (rows[0], rows[-1] + 1) == (120, 360)
    assert (columns[0], columns[-1] + 1) == (60, 180)
