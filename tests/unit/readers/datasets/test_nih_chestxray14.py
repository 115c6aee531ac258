"""NIH ChestX-ray14 in its published layout, made here: the original is not at hand."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset, ReferenceBox, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx
from viewer.readers.datasets.catalog import formats_of, read_dataset

ENTRIES = (
    "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,"
    "View Position,OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y],"
)
BOXES = "Image Index,Finding Label,Bbox [x,y,w,h],,,"
"""The headers as published: commas within brackets, and cells that hold nothing."""


def _entry(file: str, labels: str, patient: int = 1, view: str = "PA") -> str:
    return f"{file},{labels},0,{patient},058Y,M,{view},2682,2749,0.143,0.143,"


def _write(
    root: Path, entries: Sequence[str], boxes: Sequence[str], files: Sequence[str]
) -> Path:
    for n, file in enumerate(files, start=1):
        folder = root / f"images_{n:03d}" / "images"
        write_picture(folder / file, np.zeros((1024, 1024), np.uint8))
    for name, header, rows in (
        ("Data_Entry_2017.csv", ENTRIES, entries),
        ("BBox_List_2017.csv", BOXES, boxes),
    ):
        if rows:
            (root / name).write_text("\n".join((header, *rows)) + "\n")
    return root


def _small(root: Path) -> Path:
    return _write(
        root,
        [
            _entry("00000001_000.png", "Cardiomegaly|Effusion"),
            _entry("00000001_001.png", "No Finding", view="AP"),
            _entry("00000002_000.png", "Infiltration|Pleural_Thickening", 2),
            _entry("00000003_000.png", "No Finding", 3),
        ],
        [
            "00000001_000.png,Effusion,100.5,200.25,300,50.5",
            "00000002_000.png,Infiltrate,10,20,30,40",
        ],
        ["00000001_000.png", "00000001_001.png", "00000002_000.png"],
    )


def _told(dataset: Dataset) -> dict[str, str]:
    return {notice.kind: notice.text for notice in dataset.notices}


def test_that_both_tables_are_read_as_downloaded(tmp_path: Path) -> None:
    root = _small(tmp_path)
    assert formats_of(root)[0] == "nih-chestxray14"
    one, two, three = read_dataset("nih-chestxray14", root, "nih").images
    assert one.key == "00000001_000"
    assert one.boxes["Effusion"] == (ReferenceBox(BoxPx(100.5, 200.25, 400.5, 250.75)),)
    assert one.patient == two.patient != three.patient
    assert {image.view for image in (one, two, three)} == {View.FRONTAL}
    assert (one.labels["Effusion"], one.labels["Pleural Thickening"]) == (True, False)
    assert set(two.labels.values()) == {False}
    assert not two.boxes
    assert three.labels["Infiltrate"]
    assert three.labels["Infiltration"]
    assert list(three.boxes) == ["Infiltrate"]
    assert not any(image.defects for image in (one, two, three))


def test_that_what_is_not_read_and_not_there_is_told(tmp_path: Path) -> None:
    told = _told(read_dataset("nih-chestxray14", _small(tmp_path), "nih"))
    assert "Patient Age, Patient Gender" in told["columns_not_read"]
    assert "not imported: 1 image of the tables, such as" in told["files_not_there"]
    assert set(told) == {"columns_not_read", "files_not_there"}


def test_that_a_boxed_image_without_its_file_is_kept_as_missing(tmp_path: Path) -> None:
    boxes = ["00000009_000.png,Mass,1,1,5,5"]
    root = _write(tmp_path, [_entry("00000009_000.png", "Mass", 9)], boxes, [])
    (image,) = read_dataset("nih-chestxray14", root, "nih").images
    assert image.defects["*"] == "missing_file"


def test_that_the_box_list_alone_suffices(tmp_path: Path) -> None:
    files = ["00000009_000.png", "00000009_004.png"]
    root = _write(tmp_path, [], [f"{f},Mass,1,1,5,5" for f in files], files)
    alone = read_dataset("nih-chestxray14", root / "BBox_List_2017.csv", "nih")
    assert len({image.patient for image in alone.images}) == 1
    assert alone.images[0].labels == {"Mass": True}
    assert "no_label_table" in _told(alone)
    entries = [_entry(f, "Mass", 9) for f in files]
    both = read_dataset("nih-chestxray14", _write(root, entries, [], []), "nih")
    assert both.images[0].patient == alone.images[0].patient


def test_that_boxes_do_not_fit_images_made_smaller(tmp_path: Path) -> None:
    root = _write(tmp_path, [], ["00000009_000.png,Mass,1,1,5,5"], [])
    write_picture(root / "00000009_000.png", np.zeros((224, 224), np.uint8))
    dataset = read_dataset("nih-chestxray14", root, "nih")
    assert dataset.images[0].defects == {"Mass": "mask_size"}
    assert _told(dataset)["mask_size"] == (
        "Its locations are for an image of 1024 × 1024, but its file is 224 × 224; "
        "none is used."
    )


def test_that_rows_of_no_use_and_contradictions_are_told(tmp_path: Path) -> None:
    entries = [_entry("00000009_000.png", "No Finding"), _entry("", "Mass")]
    entries += [entries[0], _entry("00000008_000.png", "Mass", 8)]
    boxes = ["00000009_000.png,Mass,1,1,5,5", ",Mass,1,1,5,5"]
    boxes += ["00000008_000.png,Mass,1,1,five,5"]
    files = ["00000008_000.png", "00000009_000.png"]
    dataset = read_dataset(
        "nih-chestxray14", _write(tmp_path, entries, boxes, files), "nih"
    )
    told = [notice.text for notice in dataset.notices]
    assert "Line 3 names no image or no label and is not used." in told
    assert "1 row names an image again; the first is used." in told
    assert "Line 3 names no image or no finding and is not used." in told
    assert "Its labels do not name Mass, but a box does; the box is used." in told
    assert dataset.images[0].defects == {"Mass": "reference_unreadable"}


def test_that_a_folder_without_the_tables_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="not a table of NIH ChestX-ray14"):
        read_dataset("nih-chestxray14", tmp_path, "nih")
