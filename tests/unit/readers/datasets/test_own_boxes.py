"""Boxes in a CSV of one's own."""

from pathlib import Path

import pytest

from tests.helpers.small_datasets import write_dicom, write_picture
from viewer.domain.case import Dataset, ReferenceBox, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx
from viewer.readers.datasets.catalog import formats_of, read_dataset

CORNERS = "image,finding,x1,y1,x2,y2,reader"
SIZES = "finding,image,x,y,width,height"


def _read(root: Path, *lines: str, images: str = "ab") -> Dataset:
    for name in images:
        write_picture(root / "images" / f"{name}.png")
    (root / "boxes.csv").write_text("\n".join(lines) + "\n")
    return read_dataset("csv-boxes", root, "d")


def _told(dataset: Dataset) -> list[tuple[str, str]]:
    skipped = {"unknown_patient", "unknown_view"}
    return [(n.kind, n.text) for n in dataset.notices if n.kind not in skipped]


def test_that_corners_of_several_readers_are_read(tmp_path: Path) -> None:
    dataset = _read(
        tmp_path,
        CORNERS,
        "a.png,pleural_effusion,1,1,4,4,R2",
        "a,Pleural Effusion,1.5,1,4,5,R1",
        "images/b.png,Mass,0,0,8,6,R1",
        "images/b.png,Mass,,,,,R2",
        "images/b.png,,,,,,R3",
        images="ab",
    )
    a, b = dataset.images
    assert a.boxes == {
        "Pleural Effusion": (
            ReferenceBox(BoxPx(1, 1, 4, 4), "R2"),
            ReferenceBox(BoxPx(1.5, 1, 4, 5), "R1"),
        )
    }
    assert (a.readers, b.readers) == (("R1", "R2"), ("R1", "R2", "R3"))
    assert a.labels == {"Pleural Effusion": True}
    assert b.labels == {"Mass": True, "Pleural Effusion": False}
    assert _told(dataset) == []
    assert formats_of(tmp_path)[0] == "csv-boxes"


def test_that_sizes_say_the_same_as_corners(tmp_path: Path) -> None:
    sized = _read(tmp_path / "1", SIZES, "Mass,a,1,2,3,4", images="a")
    cornered = _read(tmp_path / "2", CORNERS, "a,Mass,1,2,4,6,", images="a")
    assert sized.images[0].boxes == cornered.images[0].boxes
    assert sized.images[0].boxes["Mass"][0].box == BoxPx(1, 2, 4, 6)
    assert sized.images[0].readers == ()


def test_that_what_no_row_says_is_not_known(tmp_path: Path) -> None:
    dataset = _read(
        tmp_path, CORNERS, "a,Mass,1,1,4,4,", "b,Edema,1,1,4,4,", "a,Nodule,,,,,"
    )
    a, b = dataset.images
    assert a.labels == {"Mass": True, "Nodule": False}
    assert b.labels == {"Edema": True}


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("a,Mass,4,4,1,1,", "line 2 of boxes.csv has a box without area"),
        ("a,Mass,1,1,4,,", "line 2 of boxes.csv has no y2"),
        ("a,Mass,1,left,4,4,", "line 2 of boxes.csv has 'left' as y1, which is no"),
        ("a,Mass,1,1,nan,4,", "line 2 of boxes.csv has 'nan' as x2, which is no"),
        ("a,Mass,1,5,1,5,4,4,", "line 2 of boxes.csv has more cells than columns"),
        ("a,Mass,90,90,95,95,", "a box of it contains no pixel of the image"),
    ],
)
def test_that_a_row_of_no_use_is_a_defect_and_told_by_its_line(
    tmp_path: Path, line: str, why: str
) -> None:
    dataset = _read(tmp_path, CORNERS, line, "a,Edema,1,1,4,4,", images="a")
    ((_, text),) = _told(dataset)
    assert text.startswith(f"Mass cannot be used: {why}")
    (image,) = dataset.images
    assert (list(image.defects), list(image.boxes)) == (["Mass"], ["Edema"])


def test_that_rows_that_name_nothing_or_contradict_are_told(tmp_path: Path) -> None:
    dataset = _read(
        tmp_path,
        CORNERS,
        ",Mass,1,1,4,4,R1",
        "a,,1,1,4,4,R1",
        "a,Mass,1,1,4,4,R1",
        "a,Mass,,,,,R1",
        "b,,,,,,",
        "b,Mass,1,1,4,4,",
        "gone,Mass,1,1,4,4,",
    )
    kinds = [kind for kind, _ in _told(dataset)]
    texts = [text for _, text in _told(dataset)]
    assert kinds == [
        *("odd_row", "odd_row", "contradiction", "contradiction", "missing_file"),
    ]
    assert texts[0] == "Line 2 names no image and is not used."
    assert texts[1] == "Line 3 names no finding and is not used."
    assert texts[2].startswith("Reader R1 says that Mass is absent")
    assert texts[3].startswith("The table says that Mass is absent")
    assert [image.key for image in dataset.images] == ["a", "b", "gone"]


OF_IMAGES = f"{CORNERS},patient,view"


def test_that_a_patient_and_a_view_may_be_told_of_an_image(tmp_path: Path) -> None:
    dataset = _read(
        tmp_path,
        OF_IMAGES,
        "a,Mass,1,1,4,4,,7,PA",
        "a,Mass,2,2,5,5,,,",
        "b,Mass,1,1,4,4,,7,lateral",
        "c,,,,,,,8,",
        "d,Mass,1,1,4,4,,8,other",
        images="abcd",
    )
    a, b, c, d = dataset.images
    assert a.patient == b.patient != c.patient == d.patient
    views = [image.view for image in dataset.images]
    assert views == [View.FRONTAL, View.LATERAL, View.UNKNOWN, View.OTHER]
    assert [n.kind for n in dataset.notices] == ["unknown_view"]
    frontal = read_dataset("csv-boxes", tmp_path, "d", View.FRONTAL)
    assert [i.view for i in frontal.images] == [views[0], views[1], views[0], views[3]]


def test_that_a_patient_has_one_key_in_tables_and_in_dicom(tmp_path: Path) -> None:
    write_dicom(tmp_path / "b.dcm", patient_id="7", view_position="LL")
    dataset = _read(
        tmp_path, OF_IMAGES, "a,Mass,1,1,4,4,,7,PA", "b,Mass,1,1,4,4,,,AP", images="a"
    )
    a, b = dataset.images
    assert a.patient == b.patient
    assert b.view is View.FRONTAL
    assert dict(_told(dataset))["view_disagrees"] == (
        "Its table says frontal, its View Position lateral; the table is used."
    )


def test_that_no_view_is_guessed_and_each_patient_is_one_where_none_is_told(
    tmp_path: Path,
) -> None:
    rows = ("a,Mass,1,1,4,4,,7,oblique", "b,Mass,1,1,4,4,,,PA")
    _read(tmp_path, OF_IMAGES, *rows)
    dataset = read_dataset("csv-boxes", tmp_path, "d", View.FRONTAL)
    assert [i.view for i in dataset.images] == [View.UNKNOWN, View.FRONTAL]
    told = {notice.kind: notice.text for notice in dataset.notices}
    assert "the view 'oblique', which is not PA" in told["unknown_view"]
    assert told["unknown_patient"] == (
        "1 image says nothing about the patient; each counts as a separate patient."
    )


def test_that_rows_that_disagree_and_columns_that_are_not_read_are_told(
    tmp_path: Path,
) -> None:
    rows = ("a,Mass,1,1,4,4,,7,PA,61", "a,Mass,2,2,5,5,,8,PA,61")
    dataset = _read(tmp_path, f"{OF_IMAGES},age", *rows, images="a")
    assert _told(dataset) == [
        ("columns_not_read", "It has columns that are not read: age."),
        ("contradiction", "Its rows disagree about its patient; the first is used."),
    ]


def test_that_one_image_under_two_files_is_a_defect(tmp_path: Path) -> None:
    dataset = _read(
        tmp_path, CORNERS, "a.png,Mass,1,1,4,4,", "a.dcm,Edema,1,1,4,4,", images="a"
    )
    ((_, text),) = _told(dataset)
    assert "calls its file a.dcm, but an earlier line calls it a.png" in text
    assert list(dataset.images[0].boxes) == ["Mass"]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("image;finding;x1;y1;x2;y2", "image, finding, x1, y1, x2, y2 is missing"),
        ("image,label,x1,y1,x2,y2", "finding is missing"),
        ("image,finding,x,y,width", "height is missing"),
        ("image,finding,x1,y1,x2,y2,x,y,width,height", "corners and sizes"),
        ("image,finding,x1,y1,x2,y2,finding", "column finding more than once"),
    ],
)
def test_that_a_table_with_other_columns_is_two_sentences(
    tmp_path: Path, header: str, words: str
) -> None:
    table = tmp_path / "boxes.csv"
    table.write_text(header + "\n")
    with pytest.raises(UnreadableInputError, match=words) as error:
        read_dataset("csv-boxes", table, "d")
    assert error.value.how


def test_that_a_folder_without_a_table_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="no table of boxes below"):
        read_dataset("csv-boxes", tmp_path, "d")
