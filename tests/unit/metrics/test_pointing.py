import numpy as np
import pytest

from viewer.domain.answer import (
    BoxesAnswer,
    CellAnswer,
    HeatMapAnswer,
    MaskAnswer,
)
from viewer.domain.exchange import SentHeatMap
from viewer.domain.geometry import BoxPx, PointPx, SizePx
from viewer.domain.grid import Cell, Grid
from viewer.domain.reference import Mask
from viewer.metrics.pointing import (
    box_area,
    cell_box,
    centre,
    containing_cell,
    deepest_point,
    most_salient_point,
    pointing_point,
)
from viewer.metrics.regions import mask_of_boxes

FIELD = BoxPx(10, 100, 50, 180)
GRID = Grid(8, 4)
"""Cells of 10 × 10 pixels, from (10, 100)."""


def test_that_a_cell_lies_where_its_field_does() -> None:
    assert cell_box(Cell(0, 0), GRID, FIELD) == BoxPx(10, 100, 20, 110)
    assert cell_box(Cell(7, 3), GRID, FIELD) == BoxPx(40, 170, 50, 180)
    middle = pointing_point(CellAnswer(Cell(2, 1)), GRID, FIELD, 1.0)
    assert middle == PointPx(25, 125)


def test_that_every_point_of_a_cell_is_in_it_and_the_far_edges_are_the_last_ones() -> (
    None
):
    for row in range(8):
        for column in range(4):
            box = cell_box(Cell(row, column), GRID, FIELD)
            for point in (PointPx(box.x0, box.y0), centre(box)):
                assert containing_cell(point, GRID, FIELD) == Cell(row, column)
    assert containing_cell(PointPx(50, 180), GRID, FIELD) == Cell(7, 3)


@pytest.mark.parametrize(("x", "y"), [(9.9, 120), (50.1, 120), (20, 99.9), (20, 181)])
def test_that_a_point_beside_the_field_is_in_no_cell(x: float, y: float) -> None:
    assert containing_cell(PointPx(x, y), GRID, FIELD) is None


def test_that_an_area_is_width_times_height_wherever_the_box_lies() -> None:
    assert box_area(BoxPx(3, 5, 7, 15)) == 40


def test_that_of_several_boxes_the_first_largest_points() -> None:
    small, large = BoxPx(12, 102, 16, 106), BoxPx(40, 150, 46, 154)
    answer = BoxesAnswer((small, large, BoxPx(12, 102, 18, 106)))
    assert pointing_point(answer, GRID, FIELD, 1.0) == PointPx(43, 152)


@pytest.mark.statement("X-03")
def test_that_only_the_part_of_an_answer_that_was_sent_points() -> None:
    across, within = BoxPx(0, 110, 20, 130), BoxPx(30, 140, 44, 156)
    beside = BoxPx(60, 110, 99, 190)
    boxes = BoxesAnswer((beside, across, within))
    assert pointing_point(boxes, GRID, FIELD, 1.0) == PointPx(37, 148)
    size = SizePx(200, 100)
    mask = mask_of_boxes((beside, BoxPx(0, 104, 21, 113)), size)
    answer = MaskAnswer(Mask.of_array(mask))
    assert pointing_point(answer, GRID, FIELD, 1.0) == PointPx(14.5, 108.5)
    values = np.zeros((10, 10), dtype=np.float32)
    values[8, 8], values[6, 3] = 2, 1
    heat_map = HeatMapAnswer(SentHeatMap.of(values), BoxPx(0, 0, 100, 200))
    assert pointing_point(heat_map, GRID, FIELD, 1.0) == PointPx(35, 130)


def test_that_an_answer_wholly_beside_what_was_sent_points_where_it_lies() -> None:
    box = BoxPx(60, 10, 80, 30)
    mask = Mask.of_array(mask_of_boxes((box,), SizePx(200, 100)))
    values = np.ones((2, 2), dtype=np.float32)
    for answer in (
        BoxesAnswer((box,)),
        MaskAnswer(mask),
        HeatMapAnswer(SentHeatMap.of(values), box),
    ):
        point = pointing_point(answer, GRID, FIELD, 1.0)
        assert containing_cell(point, GRID, FIELD) is None


@pytest.mark.statement("E000-30")
def test_that_the_most_salient_point_is_the_middle_of_its_element_in_the_field() -> (
    None
):
    values = np.zeros((4, 2), dtype=np.float32)
    values[3, 1] = values[2, 0] = 1.0
    answer = HeatMapAnswer(SentHeatMap.of(values), FIELD)
    assert most_salient_point(answer, FIELD) == PointPx(20, 150)


def test_that_the_deepest_point_equals_a_search_over_all_pixels() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        mask = rng.random(rng.integers(2, 9, 2)) < 0.7
        if not mask.any():
            continue
        outside = np.argwhere(~np.pad(mask, 1)) - 1
        depth = {
            (y, x): ((outside - (y, x)) ** 2).sum(axis=1).min()
            for y, x in np.argwhere(mask).tolist()
        }
        y, x = max(depth, key=lambda at: depth[at])
        assert deepest_point(mask, 1.0) == PointPx(x + 0.5, y + 0.5)
