"""What one row of the case browser stands for."""

from dataclasses import replace
from pathlib import Path

from viewer.domain.case import Case, ImageHeader, ImageRef, Series, Study, View
from viewer.domain.geometry import SizePx
from viewer.domain.image_geometry import ImageGeometry
from viewer.ui.panels.read.hanging import derived_count, rows_of, stacks_of


def _header(name: str, view: View = View.UNKNOWN, frame: int = 0) -> ImageHeader:
    ref = ImageRef(Path(name), frame)
    return ImageHeader(ref, ImageGeometry(SizePx(4, 6)), 1, "DX", view, "p", "s", name)


def _series(modality: str, *images: ImageHeader, description: str = "") -> Series:
    return Series(images[0].ref.path.name, modality, description, images)


def _study(*series: Series) -> Study:
    return Study("s", "20000101", "chest", series)


def test_that_a_ct_series_is_one_stack_and_a_folder_of_pictures_is_not() -> None:
    ct = _study(_series("CT", *(_header(f"{n}.dcm") for n in range(5))))
    pictures = _study(_series("", *(_header(f"{n}.png") for n in range(5))))
    assert [len(s.images) for s in stacks_of(ct)] == [5]
    assert [s.name for s in stacks_of(pictures)] == [f"{n}.png" for n in range(5)]


def test_that_the_frames_of_one_file_are_one_stack() -> None:
    frames = [_header("cine.dcm", frame=n) for n in range(3)]
    study = _study(_series("US", *frames, _header("still.dcm")))
    assert [len(s.images) for s in stacks_of(study)] == [3, 1]


def test_that_a_segmentation_has_no_row_but_is_counted() -> None:
    study = _study(
        _series("DX", _header("f.dcm", View.FRONTAL)),
        _series("SEG", _header("seg.dcm")),
    )
    assert [s.modality for s in stacks_of(study)] == ["DX"]
    assert derived_count([Case("p", (study,))]) == 1


def test_that_a_caption_says_view_or_count_and_the_size_only_without_both() -> None:
    frontal = stacks_of(_study(_series("DX", _header("f.dcm", View.FRONTAL))))[0]
    assert frontal.words == "DX · frontal"
    slices = stacks_of(_study(_series("CT", _header("1.dcm"), _header("2.dcm"))))[0]
    assert slices.words == "CT · 2 images"
    plain = stacks_of(_study(_series("", replace(_header("a.png")))))[0]
    assert plain.words == "6 × 4"


def test_that_the_most_recent_study_and_its_frontal_come_first() -> None:
    films = (
        _series("DX", _header("lateral.dcm", View.LATERAL)),
        _series("DX", _header("frontal.dcm", View.FRONTAL)),
    )
    days = ("20250114", "", "20260302")
    studies = tuple(Study(f"s{day}", day, "chest", films) for day in days)
    (rows,) = rows_of([Case("p", studies)])
    assert [study.date for study in rows.studies] == ["20260302", "20250114", ""]
    for study in rows.studies:
        names = [stack.images[0].ref.path.name for stack in study.stacks]
        assert names == ["frontal.dcm", "lateral.dcm"]
