"""What holds for every data-set format of the catalogue."""

import base64
import json
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from PIL import Image

from tests.helpers.tiny_study import write_images
from viewer.domain.box_reference import referenced
from viewer.domain.case import View
from viewer.domain.errors import OverreadError, WrongUseError
from viewer.domain.reference import Mask
from viewer.readers.datasets.catalog import FORMATS, formats_of, read_dataset
from viewer.store import cases
from viewer.store.database import open_store


def write_chexlocalize(root: Path) -> Path:
    mask = np.zeros((120, 100), dtype=bool)
    mask[10:40, 20:60] = True
    truth = {}
    for i in (1, 2):
        folder = root / "CheXpert" / "test" / f"patient{i:05d}" / "study1"
        folder.mkdir(parents=True)
        Image.new("L", (100, 120), 90 + i).save(folder / "view1_frontal.png")
        coded = Mask.of_array(mask)
        truth[f"patient{i:05d}_study1_view1_frontal"] = {
            "Edema": {"size": [120, 100], "counts": coded.counts}
        }
    (root / "CheXlocalize").mkdir()
    path = root / "CheXlocalize" / "gt_segmentations_test.json"
    path.write_text(json.dumps(truth))
    return root


def images_of(root: Path) -> tuple[str, str]:
    """Write two images, which every table below names."""
    (root / "images").mkdir(parents=True)
    for name, grey in (("one", 90), ("two", 91)):
        Image.new("L", (100, 120), grey).save(root / "images" / f"{name}.png")
    return "one", "two"


def write_coco(root: Path) -> Path:
    names = images_of(root)
    mask = np.zeros((120, 100), dtype=bool)
    mask[10:40, 20:60] = True
    (root / "instances_test.json").write_text(
        json.dumps(
            {
                "images": [
                    {"id": i, "file_name": f"{n}.png", "width": 100, "height": 120}
                    for i, n in enumerate(names)
                ],
                "categories": [{"id": 5, "name": "Edema"}],
                "annotations": [
                    {
                        "id": i,
                        "image_id": i,
                        "category_id": 5,
                        "bbox": [20, 10, 40, 30],
                        "segmentation": {
                            "size": [120, 100],
                            "counts": Mask.of_array(mask).counts,
                        },
                    }
                    for i in range(2)
                ],
            }
        )
    )
    return root


def write_csv(root: Path, name: str, *lines: str) -> Path:
    images_of(root)
    (root / name).write_text("\n".join(lines) + "\n")
    return root


def write_vindr(root: Path) -> Path:
    return write_csv(
        root,
        "train.csv",
        "image_id,class_name,rad_id,x_min,y_min,x_max,y_max",
        "one,Edema,R1,20,10,60,40",
        "two,Edema,R2,20,10,60,40",
    )


def write_csv_boxes(root: Path) -> Path:
    return write_csv(
        root,
        "boxes.csv",
        "image,finding,x,y,width,height",
        "one,Edema,20,10,40,30",
        "two.png,Edema,20,10,40,30",
    )


def write_nih(root: Path) -> Path:
    for name, grey in (("one", 90), ("two", 91)):
        (root / "images_001" / "images").mkdir(parents=True, exist_ok=True)
        path = root / "images_001" / "images" / f"{name}.png"
        Image.new("L", (1024, 1024), grey).save(path)
    header = "Image Index,Finding Label,Bbox [x,y,w,h],,,"
    boxes = (f"{name}.png,Edema,20,10,40,30" for name in ("one", "two"))
    (root / "BBox_List_2017.csv").write_text("\n".join((header, *boxes)) + "\n")
    return root


def write_rsna(root: Path) -> Path:
    return write_csv(
        root,
        "stage_2_train_labels.csv",
        "patientId,x,y,width,height,Target",
        "one,20,10,40,30,1",
        "two,20,10,40,30,1",
    )


def write_siim(root: Path) -> Path:
    relative = "2410 30 90 30 90 30"
    return write_csv(
        root,
        "train-rle.csv",
        "ImageId, EncodedPixels",
        f"one, {relative}",
        f"two, {relative}",
    )


def write_siim_absolute(root: Path) -> Path:
    absolute = "2411 30 2531 30 2651 30"
    return write_csv(
        root,
        "train-rle.csv",
        "ImageId,EncodedPixels",
        f"one,{absolute}",
        f"two,{absolute}",
    )


def write_pathmmu(root: Path) -> Path:
    asked = {
        "question": "What?",
        "options": ["A) this", "B) that"],
        "answer": "B) that",
    }
    listed = [
        {"No": i, "img": f"{n}.png", **asked} for i, n in enumerate(images_of(root))
    ]
    (root / "data.json").write_text(json.dumps({"PubMed": {"test": listed}}))
    return root


def write_question_set(root: Path) -> Path:
    asked = {"question": "What?", "options": ["this", "that"], "answer": "that"}
    rows = [{"image": f"{name}.png", **asked} for name in images_of(root)]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (root / "questions.jsonl").write_text(lines)
    names = ("question", "answer", "image", "options")
    columns = "".join(f'{name} = "{name}"\n' for name in names)
    text = f'[columns]\n{columns}[answer]\nkind = "choice"\n'
    (root / "question_set.toml").write_text(text)
    return root


def write_heal(root: Path, order: Literal["C", "F"] = "F") -> Path:
    mask = np.zeros((120, 100), dtype=bool)
    mask[10:40, 20:60] = True
    flat = mask.ravel(order=order)
    edges = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    runs = np.diff([0, *edges, flat.size]).tolist()
    rows = [
        {
            "image": f"{name}.png",
            "question": "Does Heart have Edema",
            "answer": "Yes",
            "location": {"Heart": {"size": [120, 100], "counts": runs}},
        }
        for name in images_of(root)
    ]
    (root / "test.json").write_text(json.dumps(rows))
    return root


def write_report_studies(root: Path) -> Path:
    for name, grey in (("one", 90), ("two", 91)):
        (root / name).mkdir(parents=True)
        Image.new("L", (100, 120), grey).save(root / name / "pa.png")
        case = {"images": [{"file": "pa.png", "view": "PA"}], "findings": "Edema."}
        (root / name / "case.json").write_text(json.dumps(case))
    return root


def write_mimic_cxr(root: Path) -> Path:
    return write_csv(
        root,
        "metadata.csv",
        "dicom_id,subject_id,study_id,ViewPosition,StudyDate",
        "one,10,50,PA,21800101",
        "two,11,51,AP,21800101",
    )


def write_medsyn(root: Path) -> Path:
    evidence = []
    for i, name in enumerate(("one", "two")):
        (root / "case").mkdir(parents=True, exist_ok=True)
        Image.new("L", (100, 120), 90 + i).save(root / "case" / f"{name}.png")
        shown = {"type": "CT", "images": [f"{name}.png"], "finding": "Nodes."}
        evidence.append(shown)
    case = {
        "language": "en",
        "specialty": "Neurology",
        "history": "A man fell.",
        "options": ["a", "b", "c", "d"],
        "diagnosis": "b",
        "evidence": evidence,
    }
    (root / "case" / "case.json").write_text(json.dumps(case))
    return root


def write_vlmevalkit(root: Path) -> Path:
    rows = ["index\tquestion\tA\tB\tanswer\tcategory\timage"]
    for i, name in enumerate(images_of(root / "first")):
        data = (root / "first" / "images" / f"{name}.png").read_bytes()
        text = base64.b64encode(data).decode()
        rows.append(f"{i}\tWhat?\tthis\tthat\tB\tPubMed\t{text}")
    (root / "tiles.tsv").write_text("\n".join(rows) + "\n")
    return root


def write_labelled_tiles(root: Path) -> Path:
    names = images_of(root)
    for name in names:
        (root / "images" / f"{name}.png").rename(_folder(root / name) / "tile.png")
    return root


def write_captioned_tiles(root: Path) -> Path:
    rows = ("one.png,Glands.", "two.png,Fat.")
    return write_csv(root, "captions.csv", "image,caption", *rows)


def write_yolo(root: Path) -> Path:
    names = images_of(root)
    (root / "labels").mkdir()
    for name in names:
        (root / "labels" / f"{name}.txt").write_text("1 0.4 0.208333333 0.4 0.25 0.9\n")
    (root / "classes.txt").write_text("Mass\nEdema\n")
    return root


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


WRITERS = {
    "medsyn": write_medsyn,
    "report-studies": write_report_studies,
    "mimic-cxr": write_mimic_cxr,
    "heal": write_heal,
    "heal-columns": write_heal,
    "heal-rows": lambda root: write_heal(root, "C"),
    "folder": lambda root: write_images(root, 2),
    "chexlocalize": write_chexlocalize,
    "coco": write_coco,
    "vindr": write_vindr,
    "csv-boxes": write_csv_boxes,
    "nih-chestxray14": write_nih,
    "rsna": write_rsna,
    "siim": write_siim,
    "siim-relative": write_siim,
    "siim-absolute": write_siim_absolute,
    "pathmmu": write_pathmmu,
    "vlmevalkit": write_vlmevalkit,
    "labelled-tiles": write_labelled_tiles,
    "captioned-tiles": write_captioned_tiles,
    "question-set": write_question_set,
    "yolo": write_yolo,
}
OF_QUESTIONS = frozenset(
    {
        *("pathmmu", "heal", "heal-columns", "heal-rows"),
        *("vlmevalkit", "labelled-tiles", "captioned-tiles"),
        *("report-studies", "mimic-cxr", "medsyn", "question-set"),
    }
)
"""Formats whose truth is the answers of questions and no place on an image."""
FINDING = {
    "rsna": "Pneumonia",
    **dict.fromkeys(("siim", "siim-relative", "siim-absolute"), "Pneumothorax"),
}
SIZE = {"nih-chestxray14": (1024, 1024)}
VIEW = dict.fromkeys(("coco", "csv-boxes", "yolo"), View.FRONTAL)
formats = pytest.mark.parametrize("name", sorted(FORMATS))


@formats
def test_that_a_format_reads_a_small_example(name: str, tmp_path: Path) -> None:
    root = WRITERS[name](tmp_path / "d")
    dataset = referenced(read_dataset(name, root, "small", VIEW.get(name)), "any")
    finding = FINDING.get(name, "Edema")
    assert (dataset.name, dataset.format) == ("small", name)
    assert len(dataset.images) == 2
    keys = [image.key for image in dataset.images]
    assert keys == sorted(set(keys))
    for image in dataset.images:
        tiles = {"pathmmu", "vlmevalkit", "labelled-tiles", "captioned-tiles"}
        other = name in {"medsyn", "question-set", *tiles}
        assert image.view is (View.OTHER if other else View.FRONTAL)
        size = SIZE.get(name, (120, 100))
        assert (image.size.rows, image.size.columns) == size
        assert image.ref.path.is_file()
        assert len(image.sha256) == 64
        if name in OF_QUESTIONS:
            assert any(image.key in item.images for item in dataset.items)
            continue
        assert list(image.masks) == [finding]
        expected = np.zeros(size, dtype=bool)
        expected[10:40, 20 : 60 if "siim" not in name else 23] = True
        found = image.masks[finding].array()
        assert found.any() if name == "folder" else np.array_equal(found, expected)


@formats
def test_that_a_format_knows_its_own_example_by_looking(
    name: str, tmp_path: Path
) -> None:
    root = WRITERS[name](tmp_path / "d")
    family = name.partition("-")[0]
    asked = {"siim": "siim", "heal": "heal", "labelled": "folder"}.get(family, name)
    assert formats_of(root)[0] == asked
    assert formats_of(root)[-1] == "folder"
    assert formats_of(root / "nothing here") == ()


@formats
def test_that_the_content_hash_does_not_depend_on_where_the_folder_lies(
    name: str, tmp_path: Path
) -> None:
    here = read_dataset(name, WRITERS[name](tmp_path / "here"), "small")
    there = read_dataset(name, WRITERS[name](tmp_path / "far" / "there"), "small")
    assert here.root_sha256 == there.root_sha256
    assert len(here.root_sha256) == 64


@formats
def test_that_a_changed_image_changes_the_content_hash(
    name: str, tmp_path: Path
) -> None:
    before = read_dataset(name, WRITERS[name](tmp_path / "d"), "small")
    path = before.images[0].ref.path
    Image.new("L", (100, 120), 7).save(path)
    after = read_dataset(name, tmp_path / "d", "small")
    assert after.root_sha256 != before.root_sha256


@formats
def test_that_a_data_set_survives_the_store(name: str, tmp_path: Path) -> None:
    dataset = read_dataset(name, WRITERS[name](tmp_path / "d"), "small")
    with open_store(tmp_path / "s.sqlite") as store:
        cases.add_dataset(store, dataset)
        assert cases.dataset_named(store, "small") == dataset


@formats
def test_that_a_broken_image_is_kept_and_named(name: str, tmp_path: Path) -> None:
    root = WRITERS[name](tmp_path / "d")
    victim = read_dataset(name, root, "small").images[1]
    victim.ref.path.write_bytes(b"not an image any more")
    dataset = read_dataset(name, root, "small")
    assert [image.key for image in dataset.images][1] == victim.key
    assert dataset.images[1].defects.get("*")
    assert any(victim.key in notice.subject for notice in dataset.notices)


@formats
def test_that_a_folder_that_is_not_there_is_one_sentence(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(OverreadError, match="nowhere") as error:
        read_dataset(name, tmp_path / "nowhere", "small")
    assert error.value.how


def test_that_an_unknown_format_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(WrongUseError, match="chexlocalize, coco, csv-boxes, folder"):
        read_dataset("parquet", tmp_path, "small")


def test_that_every_format_has_an_example_here() -> None:
    assert set(WRITERS) == set(FORMATS)
