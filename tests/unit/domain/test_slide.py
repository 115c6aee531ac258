"""The frames of a slide, checked against counting its fields one by one."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from viewer.domain.case import ImageRef
from viewer.domain.geometry import Affine, BoxPx, PointPx, SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.slide import (
    FIELD_PX,
    SlideMap,
    SlideRegion,
    SlideScale,
    is_region,
)

SCAN = SizePx(5000, 9000)
MAP = SlideMap(
    ImageGeometry(SCAN),
    (
        SlideScale("Overview", SizePx(1138, 2048), 0),
        SlideScale("10x", SizePx(2500, 4500), 1),
        SlideScale("20x", SCAN, 7),
    ),
    (SCAN, SizePx(2500, 4500), SizePx(1250, 2250), SizePx(625, 1125)),
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


def test_that_a_region_is_known_by_its_number() -> None:
    for region in (
        SlideRegion(0, 0, 0, 1, 1),
        SlideRegion(15, 262_143, 262_143, 2047, 2047),
        SlideRegion(3, 7, 262_143, 2047, 5),
    ):
        assert is_region(region.frame)
        assert region.frame < 1 << 63
        assert SlideRegion.of_frame(region.frame) == region
    assert not is_region(MAP.frames)


def test_that_a_slide_contains_its_fields_and_the_regions_within_it() -> None:
    assert [frame in MAP for frame in (-1, 0, 21, 22)] == [False, True, True, False]
    whole = SlideRegion(2, 0, 0, 2250, 1250)
    assert replace(whole, columns=2000).frame in MAP
    assert replace(whole, columns=2000, x=251).frame not in MAP
    assert replace(whole, columns=2000, y=1).frame not in MAP
    assert replace(whole, columns=2000, halving=4).frame not in MAP
    assert replace(whole, columns=0).frame not in MAP


@pytest.mark.parametrize(
    ("area", "region"),
    [
        (BoxPx(1000.4, 999.5, 2000.0, 2000.1), SlideRegion(0, 1000, 999, 1000, 1002)),
        (BoxPx(0, 0, 2048, 100), SlideRegion(1, 0, 0, 1024, 50)),
        (BoxPx(-50, -50, 9999, 9999), SlideRegion(3, 0, 0, 1125, 625)),
        (BoxPx(8990, 4990, 9100, 5100), SlideRegion(0, 8990, 4990, 10, 10)),
        (BoxPx(9900, 9900, 9950, 9950), SlideRegion(0, 8999, 4999, 1, 1)),
    ],
)
def test_that_a_region_covers_what_is_seen_as_finely_as_it_can(
    area: BoxPx, region: SlideRegion
) -> None:
    assert MAP.region(area) == region


def test_that_a_region_far_out_on_a_huge_slide_is_taken_from_a_coarser_level() -> None:
    size = SizePx(600_000, 600_000)
    sizes = tuple(SizePx(600_000 >> n, 600_000 >> n) for n in range(10))
    huge = SlideMap(ImageGeometry(size), (), sizes)
    far = BoxPx(590_000, 10, 590_100, 110)
    assert huge.region(far) == SlideRegion(2, 147_500, 2, 25, 26)


def test_that_a_place_in_a_region_is_a_place_on_the_scan() -> None:
    region = SlideRegion(1, 300, 40, 100, 80)
    assert MAP.on_slide(region.frame, PointPx(10, 10)) == PointPx(620, 100)
    assert MAP.geometry(region.frame).size == SizePx(80, 100)
    assert MAP.scale_of(region.frame).name == "1:2"


def test_that_tiles_cover_what_is_seen_from_its_middle_outwards() -> None:
    seen = BoxPx(2000, 1000, 6000, 5000)
    tiles = MAP.tiles(seen, 1)
    covered = {(t.x + x, t.y + y) for t in tiles for x in (0, 511) for y in (0, 400)}
    assert min(x for x, _ in covered) <= 1000 < 3000 <= max(x for x, _ in covered)
    assert {tile.y + tile.rows for tile in tiles} >= {2500}  # cropped at the end
    assert len(tiles) == len(set(tiles)) == 5 * 5
    off = [
        math.dist((2000, 1500), (t.x + t.columns / 2, t.y + t.rows / 2)) for t in tiles
    ]
    assert off == sorted(off)


def test_that_a_slide_is_looked_at_with_the_objectives_of_a_microscope() -> None:
    names = {
        scan: [found.name_at(p) for p in found.presets]
        for scan in (40.0, 20.0, 30.3, 0.5)
        if (found := replace(MAP, magnification=scan))
    }
    assert names == {
        40.0: ["1x", "2.5x", "5x", "10x", "20x", "40x"],
        20.0: ["1x", "2.5x", "5x", "10x", "20x"],
        30.3: ["1x", "2.5x", "5x", "10x", "20x", "30.3x"],
        0.5: ["0.5x"],
    }


def test_that_an_unknown_magnification_is_never_guessed() -> None:
    assert MAP.magnification is None
    names = [MAP.name_at(p) for p in MAP.presets]
    assert names == ["1:16", "1:8", "1:4", "1:2", "1:1"]
    assert MAP.name_at(0.25) == "4:1"


def test_that_places_in_a_region_are_places_on_the_overview() -> None:
    frame = SlideRegion(1, 300, 40, 100, 80).frame
    to = MAP.to_whole(frame)
    at = MAP.on_slide(0, to.apply(PointPx(7, 9)))
    assert (at.x, at.y) == pytest.approx((614, 98))
    box = MAP.to_scan(frame).apply_box(BoxPx(1, 2, 3, 4))
    assert box == BoxPx(602, 84, 606, 88)
    assert MAP.to_whole(0) == Affine.identity()
    assert ImageRef(Path("a.svs"), frame).listed == ImageRef(Path("a.svs"))
    assert ImageRef(Path("a.svs"), 21).listed == ImageRef(Path("a.svs"), 21)
