"""Headers of files with one image, with several, and of whole slides."""

from dataclasses import replace
from pathlib import Path

from viewer.domain.case import ImageRef, View
from viewer.domain.file_header import FileHeader
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.domain.slide import SlideMap, SlideScale

WIDE, TALL = ImageGeometry(SizePx(4, 8)), ImageGeometry(SizePx(8, 4))
FILM = FileHeader(
    Path("film.dcm"), (WIDE,), 3, "XA", View.FRONTAL, "p", "s", "r", instance=2
)
SCAN = SizePx(3000, 5000)
MAP = SlideMap(
    ImageGeometry(SCAN),
    (SlideScale("Overview", SizePx(1200, 2000), 0), SlideScale("20x", SCAN, 1)),
    (SCAN, SizePx(1500, 2500)),
)
SLIDE = FileHeader(
    Path("a.svs"), (ImageGeometry(SCAN),), MAP.frames, "SM", series_key="r", slide=MAP
)


def test_that_a_film_has_an_image_for_each_of_its_frames() -> None:
    images = FILM.images()
    assert [one.ref for one in images] == [ImageRef(FILM.path, n) for n in range(3)]
    assert {one.geometry for one in images} == {WIDE}
    assert {(one.frames, one.modality, one.series_key) for one in images} == {
        (3, "XA", "r")
    }
    assert [frame in FILM for frame in (-1, 0, 2, 3)] == [False, True, True, False]
    assert FILM.stacks() == (FILM,)


def test_that_frames_may_each_have_a_geometry() -> None:
    both = replace(FILM, geometries=(WIDE, TALL), frames=2)
    assert [both.geometry(n) for n in range(2)] == [WIDE, TALL]
    assert [one.geometry for one in both.images()] == [WIDE, TALL]


def test_that_a_slide_has_one_series_for_each_magnification() -> None:
    overview, full = SLIDE.stacks()
    assert [one.series_key for one in (overview, full)] == ["r Overview", "r 20x"]
    assert [one.series_description for one in (overview, full)] == ["Overview", "20x"]
    assert full.stacks() == (full,)
    # 5000 × 3000 pixels are three fields of 2048 across and two down
    assert [one.frames for one in (overview, full)] == [1, 6]
    assert [one.ref.frame for one in full.images()] == [1, 2, 3, 4, 5, 6]
    assert SLIDE.images() == (*overview.images(), *full.images())


def test_that_an_image_of_a_slide_is_in_the_series_of_its_magnification() -> None:
    image = SLIDE.image(6)
    assert (image.series_key, image.frames) == ("r 20x", 6)
    assert image.size == SizePx(3000 - 2048, 5000 - 2 * 2048)
    assert SLIDE.geometry(0).size == SizePx(1200, 2000)
    assert [frame in SLIDE for frame in (0, 6, 7)] == [True, True, False]
