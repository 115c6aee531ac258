"""Masks of anatomies beside a data set of any format, and YOLO's boxes."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_datasets import (
    COLUMNS,
    ROWS,
    coded,
    square,
    write_picture,
)
from viewer.domain.case import Dataset
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx
from viewer.domain.reference import Mask
from viewer.readers.datasets.catalog import read_dataset

MASK = square()


def _white(path: Path, mask: np.ndarray = MASK) -> None:
    write_picture(path, mask.astype(np.uint8) * 255)


def _folder(root: Path) -> Path:
    for name in "ab":
        write_picture(root / "images" / f"{name}.png")
    (root / "boxes.csv").write_text(
        "image,finding,x1,y1,x2,y2\na,Mass,1,1,4,4\nb.png,,,,,\n"
    )
    return root


def _told(dataset: Dataset) -> list[tuple[str, str]]:
    skipped = {"unknown_patient", "unknown_view"}
    return [(n.kind, n.text) for n in dataset.notices if n.kind not in skipped]


@pytest.mark.statement("E002-01")
@pytest.mark.parametrize(
    "named",
    ["a.right_lower_lung.png", "a/Right Lower Lung.png", "right_lower_lung/a.png"],
)
def test_that_pictures_are_masks_of_the_anatomy_in_their_name(
    named: str, tmp_path: Path
) -> None:
    root = _folder(tmp_path)
    _white(root / "anatomy_masks" / named)
    dataset = read_dataset("csv-boxes", root, "d")
    a, b = dataset.images
    assert [*a.anatomy] == ["Right lower lung"]
    assert (a.anatomy["Right lower lung"].array() == MASK).all()
    assert (b.anatomy, _told(dataset)) == ({}, [])
    assert a.ref.path == root / "images" / "a.png"
    folder = read_dataset("folder", root, "d")
    assert [(i.key, len(i.anatomy)) for i in folder.images] == [
        ("images/a", 1),
        ("images/b", 0),
    ]


@pytest.mark.statement("E002-01")
def test_that_a_table_holds_masks_as_run_length_codes(tmp_path: Path) -> None:
    root, code = _folder(tmp_path), Mask.of_array(MASK).counts
    runs = "[0,2,4,2,40]"
    lines = [
        "image,anatomy,mask_rows,mask_columns,mask_rle",
        f"a,Heart,{ROWS},{COLUMNS},{code}",
        f'b.png,heart,{ROWS},{COLUMNS},"{runs}"',
        f"b.png,Aorta,{ROWS},{COLUMNS},[3]",
        f"b.png,Trachea,{COLUMNS},{ROWS},{code}",
        f",Heart,{ROWS},{COLUMNS},{code}",
        f"gone,Heart,{ROWS},{COLUMNS},{code}",
    ]
    (root / "anatomy.csv").write_text("\n".join(lines) + "\n")
    (root / "anatomy_notes.csv").write_text("image,note\na,well centred\n")
    dataset = read_dataset("csv-boxes", root, "d")
    assert [[*image.anatomy] for image in dataset.images] == [["Heart"], ["Heart"]]
    for image in dataset.images:
        assert (image.anatomy["Heart"].array() == MASK).all()
    columns = "image, anatomy, mask_rows, mask_columns, mask_rle"
    unread = "A mask cannot be read: its runs cover 3 pixels, but its size says 6 × 8."
    other = "Its mask of Trachea is 6 × 8, but the image is 8 × 6; it is not used."
    assert _told(dataset) == [
        ("odd_row", "Line 6 names no image or no anatomy and is not used."),
        ("table_not_read", f"It lacks one of the columns {columns} and is not read."),
        ("anatomy_unreadable", f"Aorta cannot be used: {unread}"),
        ("anatomy_size", other),
        (
            "anatomy_without_image",
            "There is anatomy of 1 image that no row of the tables names.",
        ),
    ]


def test_that_a_picture_of_no_use_is_one_sentence_and_the_rest_is_used(
    tmp_path: Path,
) -> None:
    root = _folder(tmp_path)
    masks = root / "anatomy_masks"
    _white(masks / "a.Heart.png")
    _white(masks / "b.Heart.png", square(4, 4))
    write_picture(masks / "b.Aorta.png", np.full((ROWS, COLUMNS), 3, np.uint8) + MASK)
    _white(masks / "aorta.png")
    (root / "anatomy.json").write_text(json.dumps({"a": {"Heart": coded(~MASK)}}))
    dataset = read_dataset("csv-boxes", root, "d")
    assert [[*image.anatomy] for image in dataset.images] == [["Heart"], []]
    assert (dataset.images[0].anatomy["Heart"].array() == ~MASK).all()
    texts = [text for _, text in _told(dataset)]
    neither = "3 and 4, neither of which is 0"
    assert texts == [
        "a.Heart.png has another mask of Heart; the first is used.",
        "Its name says no image and anatomy: write IMAGE.ANATOMY.png.",
        f"Aorta cannot be used: b.Aorta.png contains the values {neither}.",
        "Its mask of Heart is 4 × 4, but the image is 8 × 6; it is not used.",
    ]


def test_that_a_rare_name_almost_like_a_frequent_one_is_told_and_used(
    tmp_path: Path,
) -> None:
    root = _folder(tmp_path)
    for name in "cdefg":
        write_picture(root / "images" / f"{name}.png")
    rows = [f"{name},Mass,1,1,4,4\n" for name in "abcdefg"]
    (root / "boxes.csv").write_text("image,finding,x1,y1,x2,y2\n" + "".join(rows))
    for name in "abcdef":
        for anatomy in ("Heart", "Left upper lung"):
            _white(root / "anatomy_masks" / f"{name}.{anatomy}.png")
    for odd in ("Hart", "Left lower lung", "Right upper lung", "Upper lung"):
        _white(root / "anatomy_masks" / f"g.{odd}.png")
    dataset = read_dataset("csv-boxes", root, "d")
    ((kind, text),) = _told(dataset)
    assert (kind, text.split(":")[0]) == (
        "anatomy_rare",
        "It is on 1 image and Heart on 6",
    )
    assert "Hart" in dataset.images[-1].anatomy


def _yolo(root: Path, names: str = "names: ['Mass', 'lung_opacity']\n") -> Path:
    for name in "ab":
        write_picture(root / "images" / f"{name}.png")
    (root / "labels").mkdir()
    (root / "labels" / "a.txt").write_text("1 0.5 0.5 0.5 1.0 0.31\n")
    (root / "data.yaml").write_text(names)
    return root


@pytest.mark.statement("E002-01")
@pytest.mark.parametrize(
    "names",
    [
        "train: images\nnames: ['Mass', \"lung_opacity\"]\n",
        "names:\n  - Mass\n  - lung_opacity\nnc: 2\n",
        "nc: 2\nnames:\n  0: Mass\n  1: lung_opacity\n",
    ],
)
def test_that_yolo_s_shares_become_boxes_in_pixels(names: str, tmp_path: Path) -> None:
    dataset = read_dataset("yolo", _yolo(tmp_path, names), "d")
    a, b = dataset.images
    assert [box.box for box in a.boxes["Lung Opacity"]] == [BoxPx(2, 0, 6, 6)]
    assert a.labels == {"Mass": False, "Lung Opacity": True}
    assert (b.boxes, b.labels) == ({}, {"Mass": False, "Lung Opacity": False})
    assert _told(dataset) == [
        (
            "no_label_file",
            "1 image without a label file, such as images/b: taken to have no finding.",
        ),
        ("no_positives", "No image has Mass: every label of it is negative."),
    ]


def test_that_a_line_that_is_no_box_is_told_and_the_rest_is_used(
    tmp_path: Path,
) -> None:
    root = _yolo(tmp_path)
    lines = "0 0.5 0.5 0.5 0.5\n2 0 0 1 1\n\n0 left 0 1 1\n1 1.5 0.5 0.1 0.1\n"
    (root / "labels" / "a.txt").write_text(lines)
    (root / "labels" / "b.txt").write_bytes(b"\xff\xfe\xff")
    dataset = read_dataset("yolo", root, "d")
    assert [*dataset.images[0].boxes] == ["Mass"]
    assert [text for _, text in _told(dataset)][:4] == [
        "Line 2 of a.txt is not the box of a class.",
        "Line 4 of a.txt is not the box of a class.",
        "Its boxes of Lung Opacity contain no pixel of the image.",
        "b.txt cannot be read as text.",
    ]


def test_that_classes_without_names_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match=r"'data\.yaml' names no classes"):
        read_dataset("yolo", _yolo(tmp_path, "nc: 2\n"), "d")
    with pytest.raises(UnreadableInputError, match="has no folder 'labels'"):
        read_dataset("yolo", tmp_path / "images", "d")


@pytest.mark.statement("E002-01")
def test_that_yolo_s_boxes_join_mimic_s_images_and_reports(tmp_path: Path) -> None:
    root = _yolo(tmp_path)
    (root / "metadata.csv").write_text(
        "dicom_id,subject_id,study_id,ViewPosition,StudyDate\n"
        "a,10,50,PA,21800101\nb,11,51,AP,21800101\n"
    )
    dataset = read_dataset("mimic-cxr", root, "d")
    assert [[*image.boxes] for image in dataset.images] == [["Lung Opacity"], []]
    assert len(dataset.items) == 2
