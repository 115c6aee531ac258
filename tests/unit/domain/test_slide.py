"""The frames of a slide, checked against counting its fields one by one."""

import pytest

from viewer.domain.geometry import PointPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.slide import FIELD_PX, SlideMap, SlideScale

SCAN = SizePx(5000, 9000)
MAP = SlideMap(
    ImageGeometry(SCAN),
    (
        SlideScale("Overview", SizePx(1138, 2048), 0),
        SlideScale("10x", SizePx(2500, 4500), 1),
        SlideScale("20x", SCAN, 7),
    ),
)


def test_that_fields_cover_every_pixel_once_in_row_major_order() -> None:
    scale = MAP.scales[2]
    fields = [scale.field(n) for n in range(scale.count)]
    assert sum((f.x1 - f.x0) * (f.y1 - f.y0) for f in fields) == 5000 * 9000
    assert [(f.x0, f.y0) for f in fields] == [
        (x, y) for y in range(0, 5000, FIELD_PX) for x in range(0, 9000, FIELD_PX)
    ]
    assert max(f.x1 for f in fields) == 9000
    assert max(f.y1 for f in fields) == 5000


def test_that_the_frames_of_a_slide_follow_one_another() -> None:
    assert [scale.count for scale in MAP.scales] == [1, 6, 15]
    assert MAP.frames == 22
    assert [MAP.scale_of(n).name for n in (0, 1, 6, 7, 21)] == [
        "Overview",
        "10x",
        "10x",
        "20x",
        "20x",
    ]


def test_that_a_position_in_a_field_is_found_on_the_scan() -> None:
    assert MAP.on_slide(7, PointPx(17.5, 30)) == PointPx(17.5, 30)
    assert MAP.on_slide(3, PointPx(0, 0)) == PointPx(8192, 0)  # third field at 10x
    middle = MAP.on_slide(0, PointPx(1024, 569))
    assert (middle.x, middle.y) == pytest.approx((4500, 2500))


def test_that_looking_closer_goes_to_10x_and_then_on() -> None:
    steps = [MAP.finer(frame) for frame in (0, 1, 7)]
    assert [step and step.name for step in steps] == ["10x", "20x", None]
    small = SlideMap(
        ImageGeometry(SizePx(900, 1200)),
        (
            SlideScale("Overview", SizePx(900, 1200), 0),
            SlideScale("10x", SizePx(450, 600), 1),
            SlideScale("20x", SizePx(900, 1200), 2),
        ),
    )
    assert small.finer(0) is None


def test_that_the_field_at_a_place_shows_it() -> None:
    finest = MAP.scales[2]
    for x in range(0, 9000, 997):
        for y in range(0, 5000, 613):
            frame = MAP.frame_at(finest, PointPx(x, y))
            field = MAP.field(frame)
            assert field.x0 <= x < field.x1
            assert field.y0 <= y < field.y1


def test_that_a_place_off_the_slide_opens_the_nearest_field() -> None:
    scale = MAP.scales[1]
    assert MAP.frame_at(scale, PointPx(-50, -50)) == 1
    assert MAP.frame_at(scale, PointPx(99_999, 99_999)) == 6
