import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.make_raster import ColourType, orientation_chunk, write_png
from viewer.domain.case import ImageRef
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.domain.image import Photometric
from viewer.domain.image_geometry import ImageGeometry
from viewer.imaging.luts import to_raster
from viewer.readers.catalog import read_headers
from viewer.readers.pixels import FileKind, file_kind, load_pixels
from viewer.readers.rasters.raster_files import raster_geometries

GREY = np.arange(256, dtype=np.uint8).reshape(16, 16)
DEEP = np.arange(0, 65536, 256, dtype=np.uint16).reshape(16, 16)
RGB = np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8)


@pytest.mark.parametrize("suffix", ["png", "tif", "bmp", "gif"])
def test_that_grey_of_eight_bits_is_shown_as_it_is(tmp_path: Path, suffix: str) -> None:
    Image.fromarray(GREY).save(path := tmp_path / f"a.{suffix}")
    image = load_pixels(ImageRef(path))
    assert image.photometric is Photometric.MONOCHROME2
    assert (image.values == GREY).all()
    assert (to_raster(image).pixels == GREY).all()


def test_that_a_jpeg_is_what_pillow_decodes(tmp_path: Path) -> None:
    Image.fromarray(RGB).save(path := tmp_path / "a.jpg", quality=95)
    with Image.open(path) as expected:
        assert (load_pixels(ImageRef(path)).values == np.asarray(expected)).all()


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_that_sixteen_bits_are_kept_and_stretched(tmp_path: Path, suffix: str) -> None:
    Image.fromarray(DEEP // 16).save(path := tmp_path / f"a.{suffix}")
    image = load_pixels(ImageRef(path))
    assert image.values.dtype == np.uint16
    assert (image.values == DEEP // 16).all()
    shown = to_raster(image).pixels
    assert (shown.min(), shown.max()) == (0, 255)


def test_that_float_and_wide_integers_of_a_tiff_are_kept(tmp_path: Path) -> None:
    Image.fromarray(DEEP.astype(np.float32) / 3).save(path := tmp_path / "f.tif")
    assert load_pixels(ImageRef(path)).values.dtype == np.float32
    Image.fromarray(DEEP.astype(np.int32) * 3).save(path := tmp_path / "i.tif")
    assert (load_pixels(ImageRef(path)).values == DEEP.astype(np.int32) * 3).all()


def test_that_one_bit_is_black_and_white(tmp_path: Path) -> None:
    Image.fromarray(GREY > 100).save(path := tmp_path / "a.png")
    assert (load_pixels(ImageRef(path)).values == np.where(GREY > 100, 255, 0)).all()


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "PA", "CMYK"])
def test_that_other_modes_become_grey_or_colour(tmp_path: Path, mode: str) -> None:
    source = Image.fromarray(GREY if mode == "LA" else RGB)
    source.convert(mode).save(path := tmp_path / "a.tif")
    values = load_pixels(ImageRef(path)).values
    if mode == "LA":
        assert (values == GREY).all()
    else:
        assert values.shape == (9, 7, 3)
        near = 50 if mode in {"P", "PA"} else 2
        assert np.abs(values.astype(int) - RGB).max() <= near


def test_that_a_grey_palette_is_grey(tmp_path: Path) -> None:
    image = Image.fromarray(GREY).convert("P")
    image.save(path := tmp_path / "a.png")
    assert (load_pixels(ImageRef(path)).values == GREY).all()


def test_that_what_lies_under_transparency_is_kept(tmp_path: Path) -> None:
    rgba = np.dstack([RGB, np.zeros(RGB.shape[:2], np.uint8)])
    Image.fromarray(rgba).save(path := tmp_path / "a.png")
    assert (load_pixels(ImageRef(path)).values == RGB).all()


def test_that_pages_are_frames(tmp_path: Path) -> None:
    pages = [Image.fromarray(GREY // n) for n in (1, 2, 3)]
    pages[0].save(path := tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    assert raster_geometries(path) == ((ImageGeometry(SizePx(16, 16)),), 3)
    assert (load_pixels(ImageRef(path, 2)).values == GREY // 3).all()
    with pytest.raises(
        UnreadableInputError, match=r"a\.tif has 3 pages; there is no page 3"
    ):
        load_pixels(ImageRef(path, 3))


def test_that_a_file_is_known_by_its_beginning_not_its_name(tmp_path: Path) -> None:
    Image.fromarray(GREY).save(path := tmp_path / "a.dcm", "PNG")
    assert (load_pixels(ImageRef(path)).values == GREY).all()


def test_that_a_bomb_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Image.fromarray(GREY).save(path := tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(UnreadableInputError, match="has too many pixels, more than"):
        load_pixels(ImageRef(path))


def test_that_an_index_without_a_colour_is_refused(tmp_path: Path) -> None:
    table = [(b"PLTE", bytes(6))]
    indices = np.array([[0, 1, 5]], np.uint8)
    path = write_png(tmp_path / "a.png", indices, ColourType.PALETTE, before=table)
    with pytest.raises(UnreadableInputError, match="colour 5 of a palette of 2"):
        load_pixels(ImageRef(path))


def test_that_a_damaged_orientation_turns_nothing(tmp_path: Path) -> None:
    for body in (b"", b"MM", b"no EXIF at all", b"MM\0*\0\0\0\x08\0\x01"):
        path = write_png(tmp_path / "a.png", GREY, 0, behind=[(b"eXIf", body)])
        assert (load_pixels(ImageRef(path)).values == GREY).all()


@pytest.mark.parametrize("orientation", [0, 9, 65_535])
def test_that_a_reserved_orientation_turns_nothing(
    tmp_path: Path, orientation: int
) -> None:
    chunk = orientation_chunk(orientation)
    path = write_png(tmp_path / "a.png", GREY, 0, behind=[chunk])
    assert (load_pixels(ImageRef(path)).values == GREY).all()


def test_that_a_jpeg_2000_of_two_sizes_is_refused(tmp_path: Path) -> None:
    Image.fromarray(RGB).save(path := tmp_path / "a.jp2")
    data = bytearray(path.read_bytes())
    head = data.index(b"ihdr")
    data[head + 4 : head + 8] = (8).to_bytes(4)
    path.write_bytes(data)
    said = r"a\.jp2 claims 7 × 8 pixels, but its codestream has 7 × 9"
    with pytest.raises(UnreadableInputError, match=said):
        load_pixels(ImageRef(path))


@pytest.mark.parametrize("suffix", ["webp", "jp2", "j2k"])
def test_that_newer_formats_are_known_by_their_content(
    tmp_path: Path, suffix: str
) -> None:
    Image.fromarray(RGB).save(made := tmp_path / f"a.{suffix}", lossless=True)
    made.rename(path := tmp_path / "a.dcm")
    assert file_kind(path) is FileKind.RASTER
    assert load_pixels(ImageRef(path)).values.shape == RGB.shape


def test_that_a_photograph_with_a_second_picture_has_pages_of_two_sizes(
    tmp_path: Path,
) -> None:
    first, second = Image.fromarray(RGB), Image.fromarray(GREY)
    first.save(path := tmp_path / "a.jpg", "MPO", save_all=True, append_images=[second])
    sizes = [header.size for header in read_headers(path)]
    assert sizes == [SizePx(9, 7), SizePx(16, 16)]
    assert load_pixels(ImageRef(path, 1)).size == SizePx(16, 16)


@pytest.mark.parametrize("deep", [False, True])
def test_that_a_png_that_lacks_rows_is_refused(tmp_path: Path, deep: bool) -> None:
    samples = np.repeat(DEEP[..., None], 3, axis=2) if deep else GREY
    kind, bits = (ColourType.RGB, 16) if deep else (ColourType.GREY, 8)
    path = write_png(tmp_path / "a.png", samples, kind, bits)
    data = bytearray(path.read_bytes())
    data[20:24] = (17).to_bytes(4)  # the height, in bytes 20 to 23
    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4)
    path.write_bytes(data)
    with pytest.raises(UnreadableInputError, match=r"a\.png cannot be read"):
        load_pixels(ImageRef(path))


def test_that_damaged_words_of_colour_harm_nothing_and_are_not_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    profile = (b"iCCP", b"sRGB\0\0" + zlib.compress(b"no profile"))
    path = write_png(tmp_path / "a.png", GREY, 0, before=[profile, (b"gAMA", bytes(4))])
    assert (load_pixels(ImageRef(path)).values == GREY).all()
    assert caplog.messages == []
