"""TIFF files that say odd things, or contradict themselves."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.make_raster import DEFLATE, Page, Value, write_tiff
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.image import Photometric
from viewer.imaging.luts import to_raster
from viewer.readers.catalog import read_headers
from viewer.readers.headers import load_geometry
from viewer.readers.pixels import load_pixels

GREY = np.random.default_rng(0).integers(0, 256, (40, 64), dtype=np.uint8)
RGB = np.random.default_rng(1).integers(0, 256, (40, 64, 3), dtype=np.uint8)


def refused(path: Path) -> str:
    with pytest.raises(UnreadableInputError) as caught:
        load_pixels(ImageRef(path))
    assert path.name in caught.value.what
    assert caught.value.how
    return caught.value.what


def test_that_each_page_has_its_own_size_and_turn(tmp_path: Path) -> None:
    pages = Page(GREY), Page(RGB[:9], 2), Page(GREY[:, :11], tags={274: 6})
    path = write_tiff(tmp_path / "a.tif", *pages)
    headers = read_headers(path)
    assert [header.size for header in headers] == [
        SizePx(40, 64),
        SizePx(9, 64),
        SizePx(11, 40),
    ]
    assert [h.geometry.stored_orientation for h in headers] == [1, 1, 6]
    for header in headers:
        assert load_pixels(header.ref).size == header.size


def test_that_white_is_zero_keeps_its_values_and_is_shown_inverted(
    tmp_path: Path,
) -> None:
    deep = np.array([[0, 1000], [40_000, 65_535]], np.uint16)
    for values in (deep, deep.astype(np.float32)):
        path = write_tiff(tmp_path / f"{values.dtype}.tif", Page(values, 0))
        image = load_pixels(ImageRef(path))
        assert image.photometric is Photometric.MONOCHROME1
        np.testing.assert_array_equal(image.values, values)
        assert to_raster(image).pixels.tolist() == [[255, 251], [99, 0]]


def test_that_whole_numbers_of_32_bits_do_not_wrap(tmp_path: Path) -> None:
    values = np.array([[0, 1, 1 << 31, (1 << 32) - 1]], np.uint32)
    path = write_tiff(tmp_path / "a.tif", Page(values))
    image = load_pixels(ImageRef(path))
    np.testing.assert_array_equal(image.values, values)
    assert to_raster(image).pixels.tolist() == [[0, 0, 128, 255]]


def test_that_colour_map_entries_of_eight_bits_are_taken_as_such(
    tmp_path: Path,
) -> None:
    colours = np.arange(768).reshape(3, 256) % 256
    page = Page(GREY, 3, tags={320: colours.ravel().tolist()})
    image = load_pixels(ImageRef(write_tiff(tmp_path / "a.tif", page)))
    np.testing.assert_array_equal(image.values, GREY)


@pytest.mark.parametrize(
    ("across", "down", "aspect"),
    [(200, 100, 2.0), (100, 200, 0.5), (300, 299, None), (1, 72, None), (96, 0, None)],
)
def test_that_resolutions_that_differ_make_pixels_oblong(
    tmp_path: Path, across: int, down: int, aspect: float | None
) -> None:
    said = {282: Fraction(across), 283: Fraction(down) if down else 0}
    path = write_tiff(tmp_path / "a.tif", Page(GREY, tags=said))
    assert load_geometry(ImageRef(path)).aspect_ratio == aspect
    turned = write_tiff(tmp_path / "b.tif", Page(GREY, tags={**said, 274: 6}))
    assert load_geometry(ImageRef(turned)).aspect_ratio == (aspect and 1 / aspect)


def test_that_chrominance_of_fewer_samples_is_read(tmp_path: Path) -> None:
    # Four luma of a block of 2 x 2, then its Cb and Cr (TIFF 6.0, page 93).
    blocks = np.tile(np.array([50, 90, 130, 200, 128, 128], np.uint8), (4, 1))
    page = Page(blocks.reshape(2, 4, 3), 6, tags={256: 4, 257: 4, 278: 4, 530: [2, 2]})
    shown = load_pixels(ImageRef(write_tiff(tmp_path / "a.tif", page))).values
    luma = np.tile([[50, 90], [130, 200]], (2, 2))
    np.testing.assert_array_equal(shown, np.repeat(luma[..., None], 3, axis=2))


@pytest.mark.parametrize(
    ("tags", "said"),
    [
        (
            {273: [200], 279: [320]},
            "8 strips or tiles for its size, but says of only 1",
        ),
        ({279: [0] * 8}, "says of only 0 where they are"),
        ({273: [10**6] * 8}, "its pixels extend to byte 1,000,320"),
        ({256: 0}, "claims an impossible size of 0 × 40 pixels"),
        ({257: 10**9}, "has 64 × 1,000,000,000 pixels, more than the 178 million"),
        ({262: 2}, "has 1 samples per pixel, but its colour needs 3"),
        ({262: 3}, "indices but no ColorMap"),
        ({262: 32803}, "of kind CFA"),
        ({258: 64}, "samples of 64 bits"),
        ({339: 6}, "SampleFormat 6"),
        ({32997: 4}, "a volume"),
        ({259: 34661}, "is compressed as JBIG, which is not read"),
    ],
)
def test_that_what_contradicts_itself_is_refused(
    tmp_path: Path, tags: dict[int, Value], said: str
) -> None:
    path = write_tiff(tmp_path / "a.tif", Page(GREY, rows_per_strip=5, tags=tags))
    assert said in refused(path)


@pytest.mark.parametrize("tags", [{256: 0}, {257: 10**9}])
def test_that_a_size_that_no_image_has_is_refused_when_it_is_listed(
    tmp_path: Path, tags: dict[int, Value]
) -> None:
    path = write_tiff(tmp_path / "a.tif", Page(GREY, tags=tags))
    with pytest.raises(UnreadableInputError, match=r"a\.tif (claims|has)"):
        read_headers(path)
    pages = Page(GREY), Page(GREY, tags=tags)
    assert len(read_headers(write_tiff(tmp_path / "b.tif", *pages))) == 2


@pytest.mark.parametrize("compression", [1, DEFLATE])
def test_that_a_file_that_is_cut_short_is_refused(
    tmp_path: Path, compression: int
) -> None:
    page = Page(GREY, compression=compression, rows_per_strip=5)
    path = write_tiff(tmp_path / "a.tif", page)
    path.write_bytes(path.read_bytes()[:-100])
    assert "is cut short: its pixels extend to byte" in refused(path)


@pytest.mark.parametrize(
    ("samples", "photometric", "said"),
    [
        (RGB.astype(np.float32), 2, "colours of 32 bits as floating-point numbers"),
        (RGB.astype(np.uint32), 2, "colours of 32 bits as whole numbers"),
        (RGB.astype(np.int16), 2, "colours of 16 bits as signed numbers"),
    ],
)
def test_that_colours_without_a_white_are_refused(
    tmp_path: Path, samples: np.ndarray, photometric: int, said: str
) -> None:
    path = write_tiff(tmp_path / "a.tif", Page(samples, photometric))
    assert said in refused(path)


def test_that_other_inks_than_four_are_refused(tmp_path: Path) -> None:
    inks = np.dstack([RGB, GREY])
    path = write_tiff(tmp_path / "a.tif", Page(inks, 5, tags={332: 2}))
    assert "other inks than cyan" in refused(path)


def test_that_further_samples_are_passed_over(tmp_path: Path) -> None:
    five = np.dstack([GREY, RGB, GREY])
    path = write_tiff(tmp_path / "a.tif", Page(five, 1, tags={338: [0] * 4}))
    np.testing.assert_array_equal(load_pixels(ImageRef(path)).values, GREY)


def test_that_nothing_of_what_is_odd_is_printed(tmp_path: Path) -> None:
    path = write_tiff(tmp_path / "a.tif", Page(GREY, rows_per_strip=5, tags={279: [9]}))
    program = (
        "import sys; from pathlib import Path\n"
        "from viewer.readers.rasters.raster_files import raster_geometries\n"
        "raster_geometries(Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
