"""The objects of a slide as arrays."""

import numpy as np

from viewer.domain.geometry import PointPx
from viewer.domain.slide_objects import SlideObjects

OBJECTS = SlideObjects(
    np.array(
        [[0, 0], [90, 10], [40, 80], [10, 10], [30, 10], [30, 30], [10, 30], [50, 60]],
        np.float32,
    ),
    np.array([0, 3, 7, 8]),
    np.array([0, 1, 2]),
    ("gland", "nucleus", "mitosis"),
    3,
)


def test_that_an_object_lies_in_the_rectangle_around_its_points() -> None:
    boxes = [[0, 0, 90, 80], [10, 10, 30, 30], [50, 60, 50, 60]]
    assert OBJECTS.boxes.tolist() == boxes


def test_that_the_smallest_object_at_a_place_names_it() -> None:
    places = [(20, 20), (60, 20), (50, 60), (95, 5)]
    named = [OBJECTS.name_at(PointPx(*place)) for place in places]
    assert named == ["nucleus", "gland", "mitosis", ""]
