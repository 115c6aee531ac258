"""CheXlocalize folders, whole and damaged."""

import hashlib
import json
import os
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_datasets import (
    COLUMNS,
    ROWS,
    SmallChexlocalize,
    coded,
    square,
    write_dicom,
    write_picture,
)
from viewer.domain.case import Dataset, DatasetImage, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import SizePx
from viewer.readers.datasets import files
from viewer.readers.datasets.chexlocalize import read

A = "patient00001_study1_view1_frontal"
B = "patient00001_study1_view2_lateral"
C = "patient00002_study1_view1_frontal"
EMPTY = np.zeros((ROWS, COLUMNS), dtype=bool)


@pytest.fixture
def small(tmp_path: Path) -> SmallChexlocalize:
    """Three images, two of them segmented, all labelled and in agreement."""
    data = SmallChexlocalize(tmp_path)
    data.picture(A)
    data.picture(B, ".png")
    write_dicom(data.image_path(C, ".dcm"), view_position="PA")
    data.segment(
        {
            A: {"Cardiomegaly": coded(square()), "Edema": coded(EMPTY)},
            B: {"Airspace Opacity": coded(square(side=3))},
        }
    )
    data.label(
        {
            A: ("1.0", "0.0", "0.0", ""),
            B: ("0.0", "1.0", "0.0", ""),
            C: ("0.0", "0.0", "0.0", "1.0"),
        }
    )
    return data


def _image(dataset: Dataset, key: str) -> DatasetImage:
    return next(image for image in dataset.images if image.key == key)


def _kinds(dataset: Dataset) -> list[tuple[str, str]]:
    return [(notice.kind, notice.subject) for notice in dataset.notices]


def test_that_a_sound_folder_is_read_without_a_notice(small: SmallChexlocalize) -> None:
    dataset = read(small.root, "small")
    assert _kinds(dataset) == []
    assert [image.key for image in dataset.images] == [A, B, C]
    assert [image.patient for image in dataset.images] == [
        "patient00001",
        "patient00001",
        "patient00002",
    ]
    assert [image.view for image in dataset.images] == [
        View.FRONTAL,
        View.LATERAL,
        View.FRONTAL,
    ]
    assert (dataset.name, dataset.format) == ("small", "chexlocalize")


@pytest.mark.statement("E000-01")
def test_that_masks_and_file_hashes_are_those_of_the_files(
    small: SmallChexlocalize,
) -> None:
    image = _image(read(small.root, "small"), A)
    assert np.array_equal(image.masks["Cardiomegaly"].array(), square())
    assert image.zero_masks == {"Edema"}
    assert image.size == SizePx(ROWS, COLUMNS)
    bytes_on_disk = small.image_path(A).read_bytes()
    assert image.sha256 == hashlib.sha256(bytes_on_disk).hexdigest()


@pytest.mark.statement("E000-02")
def test_that_lung_opacity_of_the_labels_is_airspace_opacity(
    small: SmallChexlocalize,
) -> None:
    image = _image(read(small.root, "small"), B)
    assert image.labels["Airspace Opacity"] is True
    assert "Lung Opacity" not in set(image.labels)


def test_that_an_image_absent_from_the_mask_file_is_kept_without_masks(
    small: SmallChexlocalize,
) -> None:
    image = _image(read(small.root, "small"), C)
    assert (dict(image.masks), image.zero_masks) == ({}, frozenset())


@pytest.mark.parametrize("split", ["val", "valid", "test"])
def test_that_each_split_is_found(tmp_path: Path, split: str) -> None:
    data = SmallChexlocalize(tmp_path, split)
    data.picture(A)
    data.segment({A: {"Edema": coded(square())}})
    data.label({A: ("", "", "1.0", "")})
    dataset = read(tmp_path, "x")
    assert _kinds(dataset) == []
    assert dataset.split == {"valid": "val"}.get(split, split)


def test_that_masks_of_val_belong_to_images_of_valid(tmp_path: Path) -> None:
    data = SmallChexlocalize(tmp_path, "valid")
    data.picture(A)
    data.segment({A: {"Edema": coded(square())}})
    data.masks.rename(data.masks.with_name("gt_segmentations_val.json"))
    data.label({A: ("", "", "1", "")}, prefix="CheXpert-v1.0-small/valid")
    data.table.rename(data.root / "valid.csv")
    dataset = read(tmp_path, "x")
    assert _kinds(dataset) == []
    assert _image(dataset, A).labels == {"Edema": True}


@pytest.mark.statement("E000-02")
def test_that_a_flat_folder_of_joined_names_is_read(tmp_path: Path) -> None:
    write_picture(tmp_path / f"{A}.png")
    mask_file = tmp_path / "gt_segmentations_val.json"
    mask_file.write_text(json.dumps({A: {"Edema": coded(square())}, C: {}}))
    dataset = read(tmp_path, "x")
    assert set(_image(dataset, A).masks) == {"Edema"}
    assert _image(dataset, C).ref.path == tmp_path / f"{C}.png"
    assert _kinds(dataset) == [("no_label_table", "val"), ("missing_file", C)]


def test_that_images_of_train_are_left_alone(small: SmallChexlocalize) -> None:
    write_picture(small.root / "CheXpert/train/patient00009/study1/view1_frontal.jpg")
    assert len(read(small.root, "x").images) == 3


def test_that_segmentation_objects_beside_images_are_no_images(
    small: SmallChexlocalize,
) -> None:
    write_dicom(small.root / "seg" / f"{A}.dcm")
    dataset = read(small.root, "x")
    assert _image(dataset, A).ref.path == small.image_path(A)
    assert _kinds(dataset) == []


def test_that_two_splits_are_read_as_one_and_said(small: SmallChexlocalize) -> None:
    other = SmallChexlocalize(small.root, "val")
    key = "patient00003_study1_view1_frontal"
    other.picture(key)
    other.segment({key: {"Edema": coded(square())}})
    other.label({key: ("", "", "1.0", "")})
    dataset = read(small.root, "x")
    assert len(dataset.images) == 4
    assert _kinds(dataset) == [("several_splits", "test, val")]
    assert dataset.split == ""
    alone = read(other.masks, "x")
    assert alone.split == "val"
    assert [image.key for image in alone.images] == [key]
    assert _kinds(alone) == []


def test_that_the_largest_of_several_files_of_an_image_is_read(
    small: SmallChexlocalize,
) -> None:
    large = np.random.default_rng(0).integers(0, 255, (60, 80), np.uint8)
    write_picture(small.image_path(A, ".png"), large)
    dataset = read(small.root, "x")
    assert _image(dataset, A).size == SizePx(60, 80)
    assert ("several_files", A) in _kinds(dataset)


def test_that_a_mask_of_another_size_is_a_defect(small: SmallChexlocalize) -> None:
    small.segment({A: {"Cardiomegaly": coded(square(ROWS + 1))}, B: {}})
    image = _image(read(small.root, "x"), A)
    assert image.defects == {"Cardiomegaly": "mask_size"}
    assert "Cardiomegaly" not in image.masks


def test_that_the_sizes_are_named_in_the_notice(small: SmallChexlocalize) -> None:
    small.segment({A: {"Cardiomegaly": coded(square(7))}})
    texts = [n.text for n in read(small.root, "x").notices if n.kind == "mask_size"]
    said = "The mask of Cardiomegaly is 8 × 7, but the image is 8 × 6; it is not used."
    assert texts == [said]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"size": [ROWS, COLUMNS], "counts": "X"}, "cut short"),
        ({"size": [ROWS, COLUMNS], "counts": "\x7f"}, "alphabet"),
        ({"size": [ROWS, COLUMNS], "counts": [10, -2, 40]}, "negative run"),
        ({"size": [ROWS, COLUMNS], "counts": [10, 2]}, "its size says 6 × 8"),
        ({"size": [-6, -8], "counts": [48]}, "not two positive"),
        ({"size": [ROWS], "counts": [48]}, "no size"),
        ({"size": [ROWS, COLUMNS]}, "no run-length code"),
        ({"counts": "o1"}, "no size"),
        ([1, 2], "no size"),
    ],
)
def test_that_a_broken_mask_is_a_defect_and_named(
    small: SmallChexlocalize, entry: object, words: str
) -> None:
    small.segment({A: {"Cardiomegaly": entry, "Edema": coded(EMPTY)}})
    dataset = read(small.root, "x")
    assert _image(dataset, A).defects == {"Cardiomegaly": "mask_unreadable"}
    texts = [n.text for n in dataset.notices if n.kind == "mask_unreadable"]
    assert len(texts) == 1
    assert words in texts[0]


@pytest.mark.statement("E000-01")
def test_that_a_list_of_runs_is_read_like_their_code(small: SmallChexlocalize) -> None:
    runs = [0, 2, 4, 2, 40]
    small.segment({A: {"Cardiomegaly": {"size": [ROWS, COLUMNS], "counts": runs}}})
    mask = _image(read(small.root, "x"), A).masks["Cardiomegaly"]
    assert np.array_equal(mask.array(), square())


def test_that_an_entry_that_is_no_object_is_named(small: SmallChexlocalize) -> None:
    small.segment({A: "oops"})
    assert ("mask_unreadable", A) in _kinds(read(small.root, "x"))


def test_that_json_cut_short_is_named_with_its_place(small: SmallChexlocalize) -> None:
    text = small.masks.read_text(encoding="utf-8")
    small.masks.write_text(text[: len(text) // 2], encoding="utf-8")
    with pytest.raises(UnreadableInputError, match=r"line 1, column \d+"):
        read(small.root, "x")


@pytest.mark.parametrize("content", [b"[]", b"\xff\xfe\x00", b"[" * 100_000])
def test_that_a_mask_file_that_is_no_object_is_refused(
    small: SmallChexlocalize, content: bytes
) -> None:
    small.masks.write_bytes(content)
    with pytest.raises(UnreadableInputError, match="gt_segmentations_test"):
        read(small.root, "x")


def test_that_a_missing_image_stays_with_its_masks(small: SmallChexlocalize) -> None:
    path = small.image_path(A)
    path.unlink()
    dataset = read(small.root, "x")
    image = _image(dataset, A)
    assert image.defects == {"*": "missing_file"}
    assert (image.size, image.sha256) == (SizePx(ROWS, COLUMNS), "")
    assert image.ref.path.with_suffix("") == path.with_suffix("")
    assert _kinds(dataset) == [("missing_file", A)]


def test_that_a_missing_image_known_by_its_label_stays(
    small: SmallChexlocalize,
) -> None:
    small.image_path(C, ".dcm").unlink()
    dataset = read(small.root, "x")
    assert _image(dataset, C).defects == {"*": "missing_file"}
    assert _image(dataset, C).size == SizePx(0, 0)


def test_that_a_text_file_named_as_an_image_is_unreadable_but_kept(
    small: SmallChexlocalize,
) -> None:
    small.image_path(C, ".dcm").write_text("no radiograph")
    small.image_path(A).write_bytes(b"")
    dataset = read(small.root, "x")
    assert _image(dataset, C).defects == {"*": "unreadable"}
    assert _image(dataset, A).defects == {"*": "unreadable"}
    assert set(_image(dataset, A).masks) == {"Cardiomegaly"}
    assert Counter(kind for kind, _ in _kinds(dataset)) == {"unreadable": 2}


@pytest.mark.statement("E000-05")
def test_that_positive_labels_without_any_masks_are_named(
    small: SmallChexlocalize,
) -> None:
    small.segment({A: {"Cardiomegaly": coded(square())}})
    dataset = read(small.root, "x")
    assert _kinds(dataset) == [("image_without_masks", B)]
    assert _image(dataset, B).labels["Airspace Opacity"] is True
    assert "Airspace Opacity" in dataset.notices[0].text


@pytest.mark.statement("E000-04")
def test_that_labels_and_masks_that_disagree_are_named(
    small: SmallChexlocalize,
) -> None:
    small.label(
        {
            A: ("0.0", "0.0", "1.0", ""),
            B: ("1.0", "1.0", "0.0", ""),
            C: ("0.0", "0.0", "0.0", ""),
        }
    )
    dataset = read(small.root, "x")
    assert _kinds(dataset) == [
        ("label_without_mask", A),
        ("mask_without_label", A),
        ("label_without_mask", B),
    ]
    assert "its mask is empty" in dataset.notices[0].text
    assert "has no mask" in dataset.notices[2].text


def test_that_only_one_point_zero_is_positive_and_uncertain_is_listed(
    small: SmallChexlocalize,
) -> None:
    small.label(
        {
            A: ("1.0", "-1.0", "", "maybe"),
            B: ("0", "1", "0", "0"),
            C: ("", "", "", ""),
        }
    )
    dataset = read(small.root, "x")
    assert _image(dataset, A).labels == {"Cardiomegaly": True}
    assert _kinds(dataset) == [("uncertain_label", A), ("odd_label", A)]


def test_that_a_row_of_no_patient_and_a_repeated_row_are_named(
    small: SmallChexlocalize,
) -> None:
    text = small.table.read_text(encoding="utf-8")
    last = text.splitlines()[-1]
    small.table.write_text(f"{text}{last}\nelsewhere.jpg,1,1,1,1\n", encoding="utf-8")
    assert _kinds(read(small.root, "x")) == [
        ("repeated_label_row", C),
        ("odd_label_row", "test_labels.csv"),
    ]


def test_that_an_image_without_a_row_is_named(small: SmallChexlocalize) -> None:
    small.label({A: ("1", "0", "0", ""), B: ("0", "1", "0", "")})
    assert _kinds(read(small.root, "x")) == [("no_labels", C)]


@pytest.mark.parametrize("content", [b"Image,Edema\nx,1\n", b"", b"\xff\xfe\x00\xd8"])
def test_that_a_table_without_paths_is_refused(
    small: SmallChexlocalize, content: bytes
) -> None:
    small.table.write_bytes(content)
    with pytest.raises(UnreadableInputError, match="test_labels"):
        read(small.root, "x")


def test_that_a_view_position_that_disagrees_with_the_id_is_named(
    small: SmallChexlocalize,
) -> None:
    write_dicom(small.image_path(C, ".dcm"), view_position="LL")
    dataset = read(small.root, "x")
    assert _image(dataset, C).view is View.FRONTAL
    assert _kinds(dataset) == [("view_disagrees", C)]


def test_that_anatomy_masks_are_read_and_a_wrong_size_named(
    small: SmallChexlocalize,
) -> None:
    anatomy = {A: {"heart": coded(square()), "left_lung": coded(square(9))}}
    small.masks.with_name("anatomy_test.json").write_text(json.dumps(anatomy))
    dataset = read(small.root, "x")
    assert set(_image(dataset, A).anatomy) == {"heart"}
    assert _kinds(dataset) == [("anatomy_size", A)]


@pytest.mark.statement("E000-05")
def test_that_human_points_and_masks_are_compared_by_name(
    small: SmallChexlocalize,
) -> None:
    points = small.masks.with_name("hb_salient_pt_test.json")
    points.write_text(json.dumps({A: {}, C: {"Edema": [[1, 2]]}}))
    assert _kinds(read(small.root, "x")) == [
        ("human_points_without_masks", C),
        ("masks_without_human_points", B),
    ]
    points.write_text("{")
    assert _kinds(read(small.root, "x")) == [
        ("human_points_unreadable", "hb_salient_pt_test.json")
    ]


def test_that_the_content_hash_follows_content_and_not_the_place(
    small: SmallChexlocalize, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first = read(small.root, "x").root_sha256
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "copy"
    shutil.copytree(small.root, elsewhere)
    assert read(elsewhere, "another name").root_sha256 == first
    small.label({A: ("1", "0", "0", ""), B: ("0", "1", "1", ""), C: ("", "", "", "")})
    assert read(small.root, "x").root_sha256 != first


def test_that_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="no gt_segmentations"):
        read(tmp_path, "x")
    with pytest.raises(UnreadableInputError, match="no folder"):
        read(tmp_path / "absent", "x")
    other = tmp_path / "notes.json"
    other.write_text("{}")
    with pytest.raises(UnreadableInputError, match=r"notes\.json"):
        read(other, "x")


def test_that_progress_is_told_file_by_file(small: SmallChexlocalize) -> None:
    told: list[tuple[int, int]] = []
    read(small.root, "x", progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_that_a_second_mask_file_of_a_split_repeats_what_the_first_said(
    small: SmallChexlocalize,
) -> None:
    copy = small.root / "older" / small.masks.name
    copy.parent.mkdir()
    copy.write_text(json.dumps({A: {"Edema": coded(square())}}))
    dataset = read(small.root, "x")
    assert set(_image(dataset, A).masks) == {"Cardiomegaly"}
    assert _kinds(dataset) == [("repeated_masks", A)]


def test_that_an_id_without_a_view_takes_the_files_or_the_persons(
    small: SmallChexlocalize,
) -> None:
    folder = small.image_path(A).parent
    write_dicom(folder / "view8.dcm", view_position="LL")
    write_picture(folder / "view9.png")
    eight, nine = "patient00001_study1_view8", "patient00001_study1_view9"
    dataset = read(small.root, "x")
    assert _image(dataset, eight).view is View.LATERAL
    assert _image(dataset, nine).view is View.UNKNOWN
    assert ("unknown_view", nine) in _kinds(dataset)
    named = read(small.root, "x", View.FRONTAL)
    assert _image(named, eight).view is View.LATERAL
    assert _image(named, nine).view is View.FRONTAL


def test_that_a_file_of_several_frames_is_said(small: SmallChexlocalize) -> None:
    write_dicom(small.image_path(C, ".dcm"), view_position="PA", frames=3)
    assert _kinds(read(small.root, "x")) == [("several_frames", C)]


def test_that_a_missing_image_of_an_odd_id_has_a_place_too(
    small: SmallChexlocalize,
) -> None:
    small.segment({A: {"Cardiomegaly": coded(square())}, "patient00007": {}})
    dataset = read(small.root, "x")
    missing = _image(dataset, "patient00007")
    assert missing.ref.path == small.root / "patient00007.jpg"
    assert missing.patient == missing.study == "patient00007"


def test_that_an_image_that_may_not_be_read_is_kept(
    small: SmallChexlocalize, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> str:
        raise PermissionError(13, "Permission denied", path.name)

    monkeypatch.setattr(files, "file_sha256", refuse)
    image = _image(read(small.root, "x"), A)
    assert (image.sha256, image.defects["*"]) == ("", "unreadable")


def test_that_a_folder_that_may_not_be_listed_is_refused(
    small: SmallChexlocalize, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UnreadableInputError, match="cannot be listed: Permission"):
        read(small.root, "x")
