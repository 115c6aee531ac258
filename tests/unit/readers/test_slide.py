"""Whole slides against the pictures they were written from."""

import io
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from tests.helpers.make_slide import (
    Pixels,
    halved,
    pyramid,
    tissue,
    write_dicom_slide,
    write_svs,
    write_tiled_tiff,
)
from tests.helpers.public_files import shared_data
from viewer.domain.errors import MissingDependencyError, UnreadableInputError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image_geometry import Spacing, SpacingMeaning
from viewer.domain.slide import SlideRegion
from viewer.readers.slides.annotation import field_lines, scan_words
from viewer.readers.slides.slide import (
    START_BYTES,
    colour_words,
    is_slide,
    load_field,
    read_slide,
)

pytest.importorskip("openslide")
pytest.importorskip("wsidicom")
AT_20X = "|AppMag = 20|MPP = 0.5"


@cache
def levels() -> list[Pixels]:
    return pyramid(tissue(2500, 3000), 3)


def _recognised(path: Path) -> bool:
    with path.open("rb") as stream:
        return is_slide(path, stream.read(START_BYTES))


@pytest.fixture(scope="module")
def svs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_svs(tmp_path_factory.mktemp("svs") / "a.svs", levels(), AT_20X)


@pytest.fixture(scope="module")
def dicom(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_dicom_slide(tmp_path_factory.mktemp("sm"), levels(), 0.5)


@pytest.fixture(params=["svs", "dicom"])
def slide(request: pytest.FixtureRequest, svs: Path, dicom: list[Path]) -> Path:
    return svs if request.param == "svs" else dicom[0]


def test_that_a_slide_offers_the_overview_and_each_magnification(slide: Path) -> None:
    found = read_slide(slide).map
    assert [(scale.name, scale.size, scale.first) for scale in found.scales] == [
        ("Overview", SizePx(1707, 2048), 0),
        ("1.25x", SizePx(156, 188), 1),
        ("2.5x", SizePx(312, 375), 2),
        ("5x", SizePx(625, 750), 3),
        ("10x", SizePx(1250, 1500), 4),
        ("20x", SizePx(2500, 3000), 5),
    ]
    assert found.frames == 9


@pytest.mark.parametrize(("frame", "level"), [(3, 2), (4, 1)])
def test_that_a_stored_level_is_shown_as_it_is(
    slide: Path, frame: int, level: int
) -> None:
    image = load_field(slide, frame)
    np.testing.assert_array_equal(image.values, levels()[level])


def test_that_the_fields_of_the_scan_put_together_are_the_scan(slide: Path) -> None:
    whole = np.zeros_like(levels()[0])
    found = read_slide(slide).map
    for frame in range(5, 9):
        field = found.field(frame)
        y, x = int(field.y0), int(field.x0)
        pixels = load_field(slide, frame).values
        whole[y : y + pixels.shape[0], x : x + pixels.shape[1]] = pixels
    np.testing.assert_array_equal(whole, levels()[0])


@pytest.mark.parametrize(("frame", "level"), [(0, 0), (1, 2), (2, 2)])
def test_that_a_slide_made_smaller_in_blocks_equals_one_made_smaller_at_once(
    slide: Path, frame: int, level: int
) -> None:
    image = load_field(slide, frame)
    size = (image.size.columns, image.size.rows)
    whole = Image.fromarray(levels()[level]).resize(size, Image.Resampling.BILINEAR)
    apart = np.abs(image.values.astype(int) - np.asarray(whole).astype(int))
    assert apart.max() <= 1


def test_that_a_pixel_is_as_large_as_the_specimen_under_it(slide: Path) -> None:
    def spacing(frame: int) -> Spacing:
        found = load_field(slide, frame).geometry.spacing
        assert found is not None
        return found

    assert spacing(5) == Spacing(0.0005, 0.0005, SpacingMeaning.PATIENT)
    assert spacing(4) == Spacing(0.001, 0.001, SpacingMeaning.PATIENT)
    assert spacing(0).column_mm == pytest.approx(0.0005 * 3000 / 2048)


def test_that_any_file_of_a_dicom_slide_opens_the_slide(dicom: list[Path]) -> None:
    assert {read_slide(path).facts.path for path in dicom} == {dicom[0]}
    np.testing.assert_array_equal(load_field(dicom[2], 3).values, levels()[2])


def test_that_a_slide_without_its_scan_is_refused(tmp_path: Path) -> None:
    label = write_dicom_slide(
        tmp_path, levels()[2:], 0.5, ImageType=["ORIGINAL", "PRIMARY", "LABEL", "NONE"]
    )
    with pytest.raises(UnreadableInputError, match="whose scan is not next to it"):
        read_slide(label[0])


def test_that_a_dicom_slide_of_pixels_of_unknown_size_is_refused(
    tmp_path: Path,
) -> None:
    paths = write_dicom_slide(tmp_path, levels()[2:], None)
    with pytest.raises(UnreadableInputError, match="how large its pixels are"):
        read_slide(paths[0])


def test_that_two_slides_in_one_folder_are_told_apart(tmp_path: Path) -> None:
    one = write_dicom_slide(tmp_path / "one", levels()[1:], 0.5)
    two = write_dicom_slide(tmp_path / "two", levels()[2:], 0.5)
    for number, path in enumerate([*one, *two]):
        path.rename(tmp_path / f"{number}.dcm")
    assert read_slide(tmp_path / "1.dcm").facts.path.name == "0.dcm"
    assert read_slide(tmp_path / "2.dcm").facts.path.name == "2.dcm"
    assert len(read_slide(tmp_path / "0.dcm").facts.levels) == 2


def test_that_the_magnification_of_a_scan_follows_from_its_pixels(
    tmp_path: Path,
) -> None:
    for um, names in ((0.2325, "40x"), (0.65, "10x"), (0.499, "20x")):
        path = write_svs(tmp_path / f"{um}.svs", levels()[2:], f"|MPP = {um}")
        assert read_slide(path).map.scales[-1].name == names


@pytest.mark.parametrize(("dpcm", "um"), [(10, 1000), (28.3464567, 352.8), (1, 10000)])
def test_that_a_pixel_size_that_no_scan_has_is_not_used(
    tmp_path: Path, dpcm: float, um: float
) -> None:
    path = write_tiled_tiff(tmp_path / "a.tif", levels(), "", pixels_per_cm=dpcm)
    found = read_slide(path)
    names = [scale.name for scale in found.map.scales]
    assert names == ["Overview", "1:32", "1:16", "1:8", "1:4", "1:2", "1:1"]
    assert found.facts.spacing is None
    note = f"Pixel size in the file, {um:.4g} µm, is implausible: not used"
    assert note in field_lines(found, 0)


def test_that_a_pixel_size_of_a_scan_in_a_plain_tiff_is_used(tmp_path: Path) -> None:
    path = write_tiled_tiff(tmp_path / "a.tif", levels(), "", pixels_per_cm=20_000)
    found = read_slide(path)
    assert (found.map.scales[-1].name, found.facts.note) == ("20x", "")


@pytest.mark.parametrize(
    ("power", "um", "scanned", "said"),
    [
        (20, 0.25, "40x", "by its pixel size; the file says 20x"),
        (40, 0.5, "20x", "by its pixel size; the file says 40x"),
        (20, 0.33, "30.3x", "by its pixel size; the file says 20x"),
        (20, 0.46, "20x", ""),
        (40, 0.2325, "40x", ""),
    ],
)
def test_that_the_pixel_size_holds_where_the_objective_contradicts_it(
    tmp_path: Path, power: int, um: float, scanned: str, said: str
) -> None:
    facts = f"|AppMag = {power}|MPP = {um}"
    found = read_slide(write_svs(tmp_path / "a.svs", levels(), facts))
    ten = next(scale for scale in found.map.scales if scale.name == "10x")
    spacing = load_field(tmp_path / "a.svs", ten.first).geometry.spacing
    assert spacing is not None
    assert spacing.column_mm == pytest.approx(
        0.001 if said else um * power / 10_000, rel=0.1
    )
    words = f"Whole slide, scanned at {scanned} {said}".strip()
    assert scan_words(found.facts) == words
    assert field_lines(found, 0)[0] == words
    lines = [line for line in field_lines(found, 1) if "the file says" in line]
    assert lines == ([f"{scanned} {said}"] if said else [])


def test_that_a_slide_that_says_nothing_is_uncalibrated_and_named_by_its_factor(
    tmp_path: Path,
) -> None:
    path = write_tiled_tiff(tmp_path / "a.tif", levels(), "a slide")
    found = read_slide(path)
    names = [scale.name for scale in found.map.scales]
    assert names == ["Overview", "1:32", "1:16", "1:8", "1:4", "1:2", "1:1"]
    assert load_field(path, found.map.frames - 1).geometry.spacing is None
    np.testing.assert_array_equal(load_field(path, 4).values, levels()[2])


def test_that_a_slide_is_known_by_its_content(svs: Path, tmp_path: Path) -> None:
    hidden = tmp_path / "slide.bin"
    hidden.write_bytes(svs.read_bytes())
    assert _recognised(hidden)
    photograph = tmp_path / "photograph.tif"
    Image.fromarray(halved(levels()[2])).save(photograph)
    assert not _recognised(photograph)
    single = write_tiled_tiff(tmp_path / "single.tif", levels()[2:], "one page")
    assert not _recognised(single)


def test_that_tiles_too_many_for_an_image_are_a_slide_of_one_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_tiled_tiff(tmp_path / "single.tif", levels()[1:2], "one page")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", levels()[1].size // 6)
    assert not _recognised(path)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", levels()[1].size // 6 - 1)
    assert _recognised(path)
    found = read_slide(path).map
    assert found.magnification is None
    seen = load_field(path, found.tile(0, 1, 0).frame).values
    np.testing.assert_array_equal(seen, levels()[1][:512, 512:1024])


def test_that_a_dicom_file_of_another_kind_is_no_slide(dicom: list[Path]) -> None:
    start = dicom[0].read_bytes()[:START_BYTES]
    assert is_slide(dicom[0], start)
    assert not is_slide(dicom[0], start.replace(b"77.1.6", b"77.1.4"))


def test_that_a_field_beyond_the_last_is_refused(svs: Path) -> None:
    with pytest.raises(UnreadableInputError, match="9 fields; there is no field 9"):
        load_field(svs, 9)


def test_that_a_damaged_level_leaves_the_rest_of_its_slide(tmp_path: Path) -> None:
    paths = write_dicom_slide(tmp_path, levels(), 0.5)
    paths[1].write_bytes(paths[1].read_bytes()[:600])
    found = read_slide(paths[0])
    assert found.facts.levels == (SizePx(2500, 3000), SizePx(625, 750))
    np.testing.assert_array_equal(load_field(paths[0], 3).values, levels()[2])
    with pytest.raises(UnreadableInputError):
        read_slide(paths[1])


def test_that_a_damaged_slide_is_refused(svs: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.svs"
    cut.write_bytes(svs.read_bytes()[:5000])
    with pytest.raises(UnreadableInputError):
        load_field(cut, 5)


def test_that_what_is_missing_is_said(
    svs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openslide", None)
    assert _recognised(svs)
    fresh = tmp_path / "fresh.svs"
    fresh.write_bytes(svs.read_bytes())
    with pytest.raises(MissingDependencyError, match=r"overread\[pathology\]"):
        read_slide(fresh)


def test_that_what_is_missing_for_dicom_is_said(
    dicom: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wsidicom", None)
    with pytest.raises(MissingDependencyError, match=r"overread\[pathology\]"):
        load_field(dicom[0], 0)


def test_that_colours_follow_the_profile_of_the_file(tmp_path: Path) -> None:
    from pydicom.dataset import Dataset

    path = Dataset()
    path.OpticalPathIdentifier = "0"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
    path.ICCProfile = profile.tobytes()
    path.ObjectiveLensPower = "40"
    unusable = write_dicom_slide(
        tmp_path / "lab", levels()[2:], 0.25, OpticalPathSequence=[path]
    )
    found = read_slide(unusable[0])
    assert found.map.scales[-1].name == "40x"
    assert colour_words(found.facts) == "ICC profile not usable, not applied"
    last = load_field(unusable[0], found.map.frames - 1)
    np.testing.assert_array_equal(last.values, levels()[2])


def test_that_levels_tagged_rgb_by_mistake_are_shown_in_their_colours(
    tmp_path: Path,
) -> None:
    paths = write_dicom_slide(tmp_path, levels(), 0.5, jpeg=True)
    found = read_slide(paths[0])
    assert found.facts.note == "Levels tagged RGB shown as YCbCr"
    for frame, level in ((3, 2), (4, 1)):
        shown = load_field(paths[0], frame).values.astype(int)
        assert np.abs(shown - levels()[level].astype(int)).mean() < 3
    np.testing.assert_array_equal(
        load_field(paths[0], 5).values, levels()[0][:2048, :2048]
    )


def test_that_both_forms_of_a_real_slide_show_the_same() -> None:
    folder = shared_data("pathology", "wsi")
    svs = folder / "CMU-1-Small-Region.svs"
    dicom = folder / "CMU-1-Small-Region_dicom" / "volume_555x742.dcm"
    assert read_slide(svs).map.frames == read_slide(dicom).map.frames == 9
    assert read_slide(svs).facts.lossy == "Lossy JPEG Q=30"
    assert colour_words(read_slide(dicom).facts) == "Colours by ICC profile"
    for frame in (5, 8):
        np.testing.assert_array_equal(
            load_field(svs, frame).values, load_field(dicom, frame).values
        )
    for frame in (2, 3, 4):
        image = load_field(dicom, frame)
        size = (image.size.columns, image.size.rows)
        own = Image.fromarray(load_field(svs, frame).values).resize(size)
        apart = np.abs(image.values.astype(int) - np.asarray(own).astype(int))
        assert apart.mean() < 8
    with Image.open(svs) as page:
        decoded = np.asarray(page.convert("RGB")).astype(int)
    apart = np.abs(load_field(svs, 5).values.astype(int) - decoded[:2048, :2048])
    assert apart.mean() < 1


def test_that_any_region_of_a_slide_is_read_like_a_field(slide: Path) -> None:
    found = read_slide(slide).map
    region = found.region(BoxPx(700, 301, 1500, 1100))
    image = load_field(slide, region.frame)
    np.testing.assert_array_equal(image.values, levels()[0][301:1100, 700:1500])
    half = found.tile(1, 1, 2)
    np.testing.assert_array_equal(
        load_field(slide, half.frame).values, levels()[1][1024:1250, 512:1024]
    )
    assert field_lines(read_slide(slide), half.frame)[:2] == ("10x · region", "1 µm/px")
    beyond = SlideRegion(0, 2999, 0, 2, 1)
    with pytest.raises(UnreadableInputError, match="there is no field"):
        load_field(slide, beyond.frame)


def test_that_a_slide_that_stays_open_is_read_anew_once_it_changed(
    tmp_path: Path,
) -> None:
    path = write_svs(tmp_path / "a.svs", levels()[1:], AT_20X)
    tile = read_slide(path).map.tile(0, 0, 0)
    before = load_field(path, tile.frame).values
    write_svs(path, [255 - level for level in levels()[1:]], AT_20X + "|Filename = a")
    np.testing.assert_array_equal(load_field(path, tile.frame).values, 255 - before)


def test_that_a_broken_tile_leaves_the_others_readable(tmp_path: Path) -> None:
    path = write_svs(tmp_path / "a.svs", levels(), AT_20X)
    found = read_slide(path).map
    data = path.read_bytes()
    path.write_bytes(data[: levels()[0].nbytes // 2])  # the directory is at the end
    with pytest.raises(UnreadableInputError):
        load_field(path, found.tile(0, 0, 0).frame)
    path.write_bytes(data)
    good = load_field(path, found.tile(0, 0, 0).frame)
    np.testing.assert_array_equal(good.values, levels()[0][:512, :512])


def test_that_the_profile_of_a_slide_may_be_left_out() -> None:
    svs = shared_data("pathology", "wsi") / "CMU-1-Small-Region_dicom"
    path = svs / "volume_555x742.dcm"
    found = read_slide(path)
    frame = found.map.tile(0, 1, 1).frame
    plain = load_field(path, frame, as_scanned=True).values
    assert found.map.profiled
    icc = found.facts.icc
    assert icc is not None
    profile = ImageCms.ImageCmsProfile(io.BytesIO(icc))
    turned = ImageCms.profileToProfile(
        Image.fromarray(plain), profile, ImageCms.createProfile("sRGB")
    )
    np.testing.assert_array_equal(load_field(path, frame).values, np.asarray(turned))
