from pathlib import Path

import pytest

from tests.helpers.small_datasets import write_dicom, write_picture
from viewer.domain.case import Dataset, ReferenceBox, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx
from viewer.readers.datasets.catalog import read_dataset

VINDR = "image_id,rad_id,class_name,x_min,y_min,x_max,y_max"
KAGGLE = "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max"
CONSENSUS = "image_id,class_name,x_min,y_min,x_max,y_max"
RSNA = "patientId,x,y,width,height,Target"


def _read(
    root: Path, fmt: str, *lines: str, table: str = "train.csv", images: str = "ab"
) -> Dataset:
    for name in images:
        write_dicom(root / "images" / f"{name}.dicom", patient_id=f"MRN {name}")
    (root / table).write_text("\n".join(lines) + "\n")
    return read_dataset(fmt, root, "d")


def _kinds(dataset: Dataset) -> list[str]:
    return [notice.kind for notice in dataset.notices]


def test_that_several_readers_are_kept_apart(tmp_path: Path) -> None:
    dataset = _read(
        tmp_path,
        "vindr",
        VINDR,
        "a,R9,Nodule/Mass,1,1,4,4",
        "a,R8,Nodule/Mass,1.5,1,4,5",
        "a,R10,No finding,,,,",
        "b,R8,No finding,,,,",
        "b,R9,No finding,,,,",
        "b,R10,Aortic enlargement,0,0,8,6",
    )
    a, b = dataset.images
    assert a.boxes == {
        "Nodule/Mass": (
            ReferenceBox(BoxPx(1, 1, 4, 4), "R9"),
            ReferenceBox(BoxPx(1.5, 1, 4, 5), "R8"),
        )
    }
    assert a.readers == b.readers == ("R10", "R8", "R9")
    assert a.labels == {"Nodule/Mass": True, "Aortic enlargement": False}
    assert b.labels == {"Nodule/Mass": False, "Aortic enlargement": True}
    assert a.view is View.FRONTAL
    assert a.patient != b.patient
    assert _kinds(dataset) == []


def test_that_the_editions_of_vindr_are_the_same(tmp_path: Path) -> None:
    here = _read(tmp_path / "1", "vindr", VINDR, "a,R9,Mass,1,1,4,4", images="a")
    there = _read(tmp_path / "2", "vindr", KAGGLE, "a,Mass,5,R9,1,1,4,4", images="a")
    assert here.images[0].boxes == there.images[0].boxes
    test = _read(
        tmp_path / "3",
        "vindr",
        CONSENSUS,
        "a,Mass,1,1,4,4",
        table="annotations_test.csv",
        images="a",
    )
    assert test.images[0].boxes == {"Mass": (ReferenceBox(BoxPx(1, 1, 4, 4)),)}
    assert (test.images[0].readers, test.split) == ((), "test")


def test_that_pictures_of_the_same_name_serve_as_well(tmp_path: Path) -> None:
    write_picture(tmp_path / "png" / "a.png")
    dataset = _read(tmp_path, "vindr", VINDR, "a,R9,Mass,1,1,4,4", images="")
    assert dataset.images[0].ref.path.name == "a.png"
    assert _kinds(dataset) == ["unknown_patient"]


def test_that_labels_of_whole_images_are_not_read_and_that_is_said(
    tmp_path: Path,
) -> None:
    (tmp_path / "image_labels_train.csv").write_text(
        "image_id,rad_id,Mass,No finding\na,R9,1,0\n"
    )
    dataset = _read(tmp_path, "vindr", VINDR, "a,R9,Mass,1,1,4,4", images="a")
    assert [(n.kind, n.subject) for n in dataset.notices] == [
        ("table_not_read", "image_labels_train.csv")
    ]


def test_that_what_is_wrong_with_a_row_is_said_by_its_line(tmp_path: Path) -> None:
    dataset = _read(
        tmp_path,
        "vindr",
        VINDR,
        "a,R9,Mass,4,4,1,1",
        "a,R9,Nodule,1,1,4,4",
        "a,R9,Nodule,1,1,4,4",
        ",R9,Mass,1,1,4,4",
        "b,R9,No finding,,,,",
        "b,R9,Nodule,1,1,4,4",
        "b,R8,Nodule,nan,1,4,4",
    )
    assert _kinds(dataset) == [
        *("odd_row", "repeated_box", "contradiction"),
        *("reference_unreadable", "reference_unreadable"),
    ]
    a, b = dataset.images
    assert a.defects == {"Mass": "reference_unreadable"}
    assert list(a.boxes) == ["Nodule"]
    assert b.defects == {"Nodule": "reference_unreadable"}
    texts = [notice.text for notice in dataset.notices]
    assert texts[-2] == "Mass cannot be used: line 2 of train.csv has no box."
    assert texts[0].startswith("Line 5 ")


def test_that_images_and_rows_that_miss_each_other_are_said(tmp_path: Path) -> None:
    dataset = _read(
        tmp_path, "vindr", VINDR, "a,R9,Mass,1,1,4,4", "gone,R9,Mass,1,1,4,4"
    )
    assert [image.key for image in dataset.images] == ["a", "gone"]
    assert dataset.images[1].defects == {"*": "missing_file"}
    assert _kinds(dataset) == ["missing_file", "not_in_tables", "unknown_patient"]
    assert dataset.notices[1].sentence.endswith("such as images/b.dicom.")


def test_that_of_two_files_of_one_name_one_is_read_and_said(tmp_path: Path) -> None:
    write_picture(tmp_path / "zz" / "a.png")
    dataset = _read(tmp_path, "vindr", VINDR, "a,R9,Mass,1,1,4,4", images="a")
    assert dataset.images[0].ref.path.name == "a.dicom"
    assert _kinds(dataset)[0] == "several_files"


def test_that_rsna_has_a_box_a_row_and_negatives(tmp_path: Path) -> None:
    dataset = _read(
        tmp_path,
        "rsna",
        RSNA,
        "a,1.0,2.0,3.0,4.0,1",
        "a,4,0,2,2,1",
        "b,,,,,0",
    )
    a, b = dataset.images
    assert [box.box for box in a.boxes["Pneumonia"]] == [
        BoxPx(1, 2, 4, 6),
        BoxPx(4, 0, 6, 2),
    ]
    assert (a.labels, b.labels) == ({"Pneumonia": True}, {"Pneumonia": False})
    assert _kinds(dataset) == []


def test_that_rows_of_rsna_that_contradict_one_another_are_said(
    tmp_path: Path,
) -> None:
    dataset = _read(
        tmp_path,
        "rsna",
        RSNA,
        *("a,1,1,3,3,1", "a,,,,,0", "b,1,1,3,3,0", "c,,,,,1", "d,1,1,3,3,2"),
        images="abc",
    )
    assert [image.defects for image in dataset.images] == [
        {"Pneumonia": "reference_unreadable"}
    ] * 3
    texts = [n.text for n in dataset.notices if n.kind == "reference_unreadable"]
    assert texts == [
        "Pneumonia cannot be used: its rows have Target 0 and 1.",
        "Pneumonia cannot be used: line 4 of train.csv has a box, but Target 0.",
        "Pneumonia cannot be used: line 5 of train.csv has no box.",
    ]
    assert _kinds(dataset)[0] == "odd_row"


def test_that_a_finding_without_a_positive_and_a_single_patient_are_said(
    tmp_path: Path,
) -> None:
    for name in "ab":
        write_dicom(tmp_path / f"{name}.dcm", patient_id="one")
    dataset = _read(tmp_path, "rsna", RSNA, "a,,,,,0", "b,,,,,0", images="")
    assert _kinds(dataset) == ["single_patient", "no_positives"]
    assert dataset.notices[1].subject == "Pneumonia"


def test_that_a_table_without_the_columns_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("image,finding\na,Mass\n")
    with pytest.raises(UnreadableInputError, match="No table below"):
        read_dataset("vindr", tmp_path, "d")
    with pytest.raises(UnreadableInputError, match="does not have the columns"):
        read_dataset("rsna", tmp_path / "labels.csv", "d")
    with pytest.raises(UnreadableInputError, match="There is no 'gone"):
        read_dataset("rsna", tmp_path / "gone.csv", "d")


def test_that_a_table_that_is_no_text_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_bytes(RSNA.encode() + b"\na,\xff\xff,1,1,1,1\n")
    with pytest.raises(UnreadableInputError, match="comma-separated"):
        read_dataset("rsna", tmp_path, "d")
