import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from pycocotools import mask as coco_mask

from tests.helpers.small_datasets import write_picture
from viewer.domain import rle
from viewer.domain.case import Dataset, ReferenceBox, View
from viewer.domain.errors import UnreadableInputError
from viewer.domain.geometry import BoxPx, SizePx
from viewer.readers.datasets.catalog import read_dataset
from viewer.readers.datasets.coco_shapes import mask_maker, shape_of

SIDE = 60


def _read(
    root: Path, annotations: Sequence[Mapping[str, object]], **more: object
) -> Dataset:
    for name in ("a", "b"):
        grey = np.full((SIDE, SIDE), 90, dtype=np.uint8)
        write_picture(root / f"{name}_pa.png", grey)
    content = {
        "images": [
            {"id": 7, "file_name": "a_pa.png", "height": SIDE, "width": SIDE},
            {"id": 8, "file_name": "b_pa.png", "height": SIDE, "width": SIDE},
        ],
        "categories": [{"id": 1, "name": "Edema"}, {"id": 2, "name": "Mass"}],
        "annotations": list(annotations),
        **more,
    }
    (root / "instances.json").write_text(json.dumps(content))
    return read_dataset("coco", root, "d")


def _kinds(dataset: Dataset) -> list[str]:
    return [n.kind for n in dataset.notices if n.kind != "unknown_patient"]


def _box(image: int, category: int, *numbers: float) -> dict[str, object]:
    return {"image_id": image, "category_id": category, "bbox": list(numbers)}


def test_that_boxes_become_boxes_of_their_finding(tmp_path: Path) -> None:
    dataset = _read(tmp_path, [_box(7, 1, 2, 3, 10, 20.5), _box(8, 2, 0, 0, 60, 60)])
    a, b = dataset.images
    assert a.boxes == {"Edema": (ReferenceBox(BoxPx(2, 3, 12, 23.5)),)}
    assert b.boxes == {"Mass": (ReferenceBox(BoxPx(0, 0, 60, 60)),)}
    assert (a.labels, a.masks, a.readers) == ({"Edema": True}, {}, ())
    assert _kinds(dataset) == []


@pytest.mark.parametrize("compressed", [True, False])
def test_that_both_codes_are_what_pycocotools_decodes(
    tmp_path: Path, compressed: bool
) -> None:
    rng = np.random.default_rng(4)
    mask = np.asfortranarray(rng.random((SIDE, SIDE)) < 0.3, dtype=np.uint8)
    coded = coco_mask.encode(mask)
    runs = [0] if mask.T.ravel()[0] else []
    flat = mask.T.ravel()
    edges = np.flatnonzero(np.diff(flat)) + 1
    runs += np.diff([0, *edges, flat.size]).tolist()
    counts = coded["counts"].decode() if compressed else runs
    shape = {"size": [SIDE, SIDE], "counts": counts}
    row = {**_box(7, 1, 0, 0, SIDE, SIDE), "segmentation": shape}
    image = _read(tmp_path, [row]).images[0]
    assert np.array_equal(image.masks["Edema"].array(), mask.astype(bool))


@pytest.mark.parametrize("seed", range(10))
def test_that_outlines_fill_exactly_what_pycocotools_fills(seed: int) -> None:
    rng = np.random.default_rng(seed)
    outlines = [
        rng.uniform(-20, SIDE + 20, 2 * corners).tolist() for corners in (3, 7, 12)
    ]
    found = mask_maker([shape_of({"segmentation": outlines})])(SizePx(SIDE, SIDE))
    coded = coco_mask.merge(coco_mask.frPyObjects(outlines, SIDE, SIDE))
    theirs = rle.decode(coded["counts"].decode(), SIDE, SIDE)
    assert np.array_equal(found.array(), theirs)


def test_that_an_outline_far_outside_the_image_is_refused() -> None:
    outline = [0, 0, 1e9, 0, 1e9, 1e9]
    with pytest.raises(UnreadableInputError, match="far outside the image"):
        shape_of({"segmentation": [outline]})


def test_that_two_outlines_and_a_box_of_a_finding_are_one_mask(tmp_path: Path) -> None:
    square = [10, 10, 20, 10, 20, 20, 10, 20]
    other = [30, 10, 40, 10, 40, 20, 30, 20]
    rows = [
        {"image_id": 7, "category_id": 1, "segmentation": [square, other]},
        _box(7, 1, 50, 50, 5, 5),
    ]
    image = _read(tmp_path, rows).images[0]
    expected = np.zeros((SIDE, SIDE), dtype=bool)
    expected[10:20, 10:20] = expected[10:20, 30:40] = expected[50:55, 50:55] = True
    assert np.array_equal(image.masks["Edema"].array(), expected)
    boxes = [b.box for b in image.boxes["Edema"]]
    assert boxes == [BoxPx(10, 10, 40, 20), BoxPx(50, 50, 55, 55)]


def test_that_a_crowd_is_part_of_the_mask_but_no_box(tmp_path: Path) -> None:
    mask = np.asfortranarray(np.eye(SIDE), dtype=np.uint8)
    coded = coco_mask.encode(mask)
    shape = {"size": [SIDE, SIDE], "counts": coded["counts"].decode()}
    row = {**_box(7, 1, 0, 0, 60, 60), "iscrowd": 1, "segmentation": shape}
    dataset = _read(tmp_path, [row, _box(8, 2, 1, 1, 5, 5)])
    assert dataset.images[0].boxes == {}
    assert dataset.images[0].masks["Edema"].array().sum() == SIDE
    assert _kinds(dataset) == ["crowd"]


@pytest.mark.parametrize(
    ("patient", "view"),
    [
        ("patient_id", "view"),
        ("patient", "view_position"),
        ("subject_id", "ViewPosition"),
    ],
)
def test_that_an_image_may_tell_its_patient_and_view(
    tmp_path: Path, patient: str, view: str
) -> None:
    told: list[dict[str, object]] = [
        {patient: 7, view: "PA"},
        {patient: "7", view: "LL"},
        {patient: "9"},
    ]
    images = [
        {"id": n, "file_name": f"{n}.png", "height": 6, "width": 8, **said}
        for n, said in enumerate(told)
    ]
    for n in range(3):
        write_picture(tmp_path / f"{n}.png")
    dataset = _read(tmp_path, [_box(0, 1, 2, 3, 1, 1)], images=images)
    one, two, three = (image for image in dataset.images)
    assert one.patient == two.patient != three.patient
    views = [image.view for image in dataset.images]
    assert views == [View.FRONTAL, View.LATERAL, View.UNKNOWN]
    assert "unknown_patient" not in {notice.kind for notice in dataset.notices}


def test_that_ids_that_do_not_exist_are_said(tmp_path: Path) -> None:
    rows = [_box(7, 1, 1, 1, 5, 5), _box(99, 1, 1, 1, 5, 5), _box(8, 9, 1, 1, 5, 5)]
    dataset = _read(tmp_path, rows)
    assert _kinds(dataset) == ["unknown_image", "unknown_category", "no_positives"]
    texts = " ".join(notice.text for notice in dataset.notices)
    assert "not in the file (99)" in texts
    assert "not in the file (9)" in texts
    assert dataset.images[1].labels == {}


def test_that_an_annotation_listed_twice_is_one(tmp_path: Path) -> None:
    rows = [_box(7, 1, 1, 1, 5, 5), _box(7, 1, 1, 1, 5, 5), _box(8, 2, 1, 1, 5, 5)]
    dataset = _read(tmp_path, rows)
    assert len(dataset.images[0].boxes["Edema"]) == 1
    assert _kinds(dataset) == ["repeated_box"]


def test_that_an_image_listed_twice_is_the_first(tmp_path: Path) -> None:
    images = [
        {"id": 7, "file_name": "a_pa.png"},
        {"id": 7, "file_name": "b_pa.png"},
    ]
    rows = [_box(7, 1, 1, 1, 5, 5), _box(7, 2, 1, 1, 5, 5)]
    dataset = _read(tmp_path, rows, images=images)
    assert [image.key for image in dataset.images] == ["a_pa"]
    assert _kinds(dataset) == ["repeated_image", "not_in_tables"]


def test_that_no_place_is_used_of_an_image_of_another_size(tmp_path: Path) -> None:
    images = [
        {"id": 7, "file_name": "a_pa.png", "height": 30, "width": 30},
        {"id": 8, "file_name": "b_pa.png", "height": SIDE, "width": SIDE},
    ]
    rows = [_box(7, 1, 1, 1, 5, 5), _box(8, 2, 1, 1, 5, 5)]
    dataset = _read(tmp_path, rows, images=images)
    assert dataset.images[0].boxes == {}
    assert dataset.images[0].defects == {"Edema": "mask_size"}
    assert "30 × 30, but its file is 60 × 60" in dataset.notices[0].text


def test_that_a_mask_of_another_size_is_said(tmp_path: Path) -> None:
    shape = {"size": [2, 2], "counts": [0, 4]}
    row = {**_box(7, 1, 1, 1, 5, 5), "segmentation": shape}
    dataset = _read(tmp_path, [row, _box(8, 2, 1, 1, 5, 5)])
    assert dataset.images[0].defects == {"Edema": "mask_size"}
    assert dataset.images[0].boxes == {}
    assert dataset.notices[0].text.endswith("its mask is 2 × 2, the image 60 × 60.")


@pytest.mark.parametrize(
    "broken",
    [
        {"bbox": [1, 1, 0, 5]},
        {"bbox": [1, 1, 5]},
        {"bbox": "all of it"},
        {"bbox": [1, 1, float("inf"), 5]},
        {},
        {"segmentation": [[1, 1, 2, 2]]},
        {"segmentation": [[1, 1, 2, 2, "x", 3]]},
        {"segmentation": "all of it"},
        {"segmentation": {"size": [SIDE, SIDE], "counts": [1, 2]}},
    ],
)
def test_that_half_a_reference_is_none(
    tmp_path: Path, broken: Mapping[str, object]
) -> None:
    rows = [
        _box(7, 1, 1, 1, 5, 5),
        {"image_id": 7, "category_id": 1, **broken},
        _box(8, 2, 1, 1, 5, 5),
    ]
    dataset = _read(tmp_path, rows)
    assert dataset.images[0].defects == {"Edema": "reference_unreadable"}
    assert (dataset.images[0].boxes, dataset.images[0].masks) == ({}, {})
    assert dataset.images[0].labels == {"Edema": True}
    assert _kinds(dataset) == ["reference_unreadable"]


def test_that_a_box_beyond_the_image_is_cut_and_one_outside_is_of_no_use(
    tmp_path: Path,
) -> None:
    dataset = _read(tmp_path, [_box(7, 1, 50, 50, 20, 5), _box(8, 2, 70, 1, 5, 5)])
    assert dataset.images[0].boxes["Edema"][0].box == BoxPx(50, 50, 60, 55)
    assert dataset.images[1].defects == {"Mass": "box_outside"}
    assert _kinds(dataset) == ["box_clipped", "box_outside"]


def test_that_two_files_of_a_folder_are_read_and_one_alone_by_its_name(
    tmp_path: Path,
) -> None:
    _read(tmp_path, [_box(7, 1, 1, 1, 5, 5)])
    other = {
        "images": [{"id": 1, "file_name": "b_pa.png"}],
        "categories": [{"id": 1, "name": "Nodule"}],
        "annotations": [_box(1, 1, 1, 1, 5, 5)],
    }
    (tmp_path / "instances_test.json").write_text(json.dumps(other))
    (tmp_path / "notes.json").write_text("{}")
    (tmp_path / "broken.json").write_text("{")
    both = read_dataset("coco", tmp_path, "d")
    assert [image.key for image in both.images] == ["a_pa", "b_pa"]
    alone = read_dataset("coco", tmp_path / "instances_test.json", "d")
    assert [image.key for image in alone.images] == ["b_pa"]
    assert alone.split == "test"
    with pytest.raises(UnreadableInputError, match="not complete JSON"):
        read_dataset("coco", tmp_path / "broken.json", "d")
    with pytest.raises(UnreadableInputError, match="holds no COCO"):
        read_dataset("coco", tmp_path / "notes.json", "d")
