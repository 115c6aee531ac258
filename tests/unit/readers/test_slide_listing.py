"""How a whole slide is listed among other files, and what is written over it."""

import sys
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.make_slide import (
    Pixels,
    pyramid,
    tissue,
    write_dicom_slide,
    write_svs,
)
from viewer.domain.annotation import CornerLine
from viewer.domain.case import ImageRef, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.annotation import corner_text, tags_of
from viewer.readers.catalog import read_headers, scan
from viewer.readers.datasets.catalog import read_dataset
from viewer.readers.pixels import load_pixels

pytest.importorskip("openslide")
pytest.importorskip("wsidicom")
STACKS = [("Overview", 1), ("1.25x", 1), ("2.5x", 1), ("5x", 1), ("10x", 1), ("20x", 4)]


@cache
def levels() -> list[Pixels]:
    return pyramid(tissue(2100, 2300), 2)


def _texts(lines: tuple[CornerLine, ...]) -> tuple[str, ...]:
    return tuple(line.text for line in lines)


@pytest.fixture(scope="module")
def svs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    facts = "|AppMag = 20|MPP = 0.5"
    return write_svs(tmp_path_factory.mktemp("svs") / "a.svs", levels(), facts)


@pytest.fixture(scope="module")
def dicom(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("sm")
    return write_dicom_slide(folder, levels(), 0.5, Manufacturer="Maker")


def test_that_a_slide_is_one_case_with_a_series_for_each_magnification(
    svs: Path,
) -> None:
    (case,) = scan([svs])
    (study,) = case.studies
    assert case.patient_key == "a.svs"
    assert study.description == "Whole slide, scanned at 20x"
    assert [(s.description, len(s.images)) for s in study.series] == STACKS
    assert len({series.key for series in study.series}) == len(STACKS)
    assert {series.modality for series in study.series} == {"SM"}


def test_that_the_files_of_a_dicom_slide_are_one_case(dicom: list[Path]) -> None:
    (case,) = scan([dicom[0].parent])
    assert case.patient_key == "P-17"
    (study,) = case.studies
    assert [(s.description, len(s.images)) for s in study.series] == STACKS
    assert {i.ref.path for s in study.series for i in s.images} == {dicom[0]}
    assert scan([dicom[1]]) == scan([dicom[0]])


def test_that_the_frames_of_a_slide_are_numbered_through(svs: Path) -> None:
    headers = read_headers(svs)
    assert [header.ref for header in headers] == [ImageRef(svs, n) for n in range(9)]
    assert headers[0].size == SizePx(1870, 2048)
    assert headers[8].size == SizePx(52, 252)
    assert {header.view for header in headers} == {View.OTHER}
    for header in headers:
        assert load_pixels(header.ref).size == header.size


def test_that_magnification_place_and_pixel_size_are_written_over_a_field(
    svs: Path,
) -> None:
    corners = corner_text(ImageRef(svs, 6))
    assert _texts(corners.top_left) == ("a.svs",)
    assert _texts(corners.top_right) == ("Aperio",)
    assert _texts(corners.bottom_right) == (
        "20x · field 2 / 4",
        "0.5 µm/px",
        "Colours as scanned, no ICC profile",
    )
    overview = corner_text(ImageRef(svs, 0))
    assert _texts(overview.bottom_right)[:2] == (
        "Whole slide, scanned at 20x",
        "0.5 µm/px",
    )


def test_that_a_dicom_slide_names_its_patient_and_scanner(dicom: list[Path]) -> None:
    corners = corner_text(ImageRef(dicom[0], 4))
    assert _texts(corners.top_left) == ("Doe, Jane", "P-17")
    assert _texts(corners.top_right) == ("Maker",)
    assert _texts(corners.bottom_right)[:2] == ("10x · field 1 / 1", "1 µm/px")


def test_that_a_slide_lists_what_it_says_of_itself(
    svs: Path, dicom: list[Path]
) -> None:
    own = {tag.keyword: tag.value for tag in tags_of(ImageRef(svs))}
    assert own["aperio.AppMag"] == "20"
    standard = {tag.keyword: tag.value for tag in tags_of(ImageRef(dicom[0]))}
    assert standard["TotalPixelMatrixColumns"] == "2300"


def test_that_a_folder_with_slides_is_listed_without_openslide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_svs(tmp_path / "b.svs", levels()[1:])
    monkeypatch.setitem(sys.modules, "openslide", None)
    (case,) = scan([tmp_path])
    assert case.unreadable == ("b.svs",)
    with pytest.raises(UnreadableInputError, match=r"overread\[pathology\]"):
        read_headers(tmp_path / "b.svs")


def test_that_a_folder_of_slides_is_a_data_set_of_their_fields(
    dicom: list[Path],
) -> None:
    dataset = read_dataset("folder", dicom[0].parent, "slides")
    assert [image.ref for image in dataset.images] == [
        ImageRef(dicom[0], n) for n in range(9)
    ]
    assert len({image.patient for image in dataset.images}) == 1
    assert {image.view for image in dataset.images} == {View.OTHER}
    (notice,) = [n for n in dataset.notices if n.kind == "part_of_slide"]
    assert notice.subject == "level_1"
    assert notice.text == "It is part of the whole slide level_0.dcm."


def test_that_a_scanners_slide_is_found_in_a_folder(svs: Path) -> None:
    dataset = read_dataset("folder", svs.parent, "slides")
    assert [image.key for image in dataset.images] == [f"a#{n}" for n in range(1, 10)]
