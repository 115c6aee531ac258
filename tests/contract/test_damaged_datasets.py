"""What every data-set format keeps to where something is wrong in the folder."""

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.small_datasets import (
    SmallChexlocalize,
    coded,
    square,
    write_dicom,
    write_picture,
)
from viewer.domain.box_reference import referenced
from viewer.domain.case import Dataset
from viewer.readers.datasets.catalog import FORMATS, read_dataset

A = "patient00001_study1_view1_frontal"
B = "patient00002_study1_view1_frontal"
GONE = "patient00003_study1_view1_frontal"


def _chexlocalize(root: Path) -> None:
    data = SmallChexlocalize(root)
    data.picture(A)
    write_dicom(data.image_path(B, ".dcm"), view_position="LL")
    entry = {"Edema": coded(square()), "Cardiomegaly": coded(square(9))}
    data.segment({A: entry, GONE: {"Edema": {"size": [1, 1], "counts": "?"}}})


def _folder(root: Path) -> None:
    write_picture(root / "a_pa.png")
    write_picture(root / "a_pa.Edema.png", square().astype(np.uint8))
    write_picture(root / "a_pa.Cardiomegaly.png", square(9).astype(np.uint8))
    write_dicom(root / "sub" / "b.dcm", patient_id="MRN 4711")
    (root / "c.dcm").write_text("no radiograph")


def _coco(root: Path) -> None:
    for name in ("a_pa", "b_pa"):
        write_picture(root / f"{name}.png")
    box = {"category_id": 1, "bbox": [1, 1, 3, 3]}
    content = {
        "images": [
            {"id": 1, "file_name": "a_pa.png", "height": 6, "width": 8},
            {"id": 2, "file_name": "b_pa.png", "height": 9, "width": 8},
            {"id": 3, "file_name": "gone.png"},
        ],
        "categories": [{"id": 1, "name": "Edema"}, {"id": 2, "name": "Mass"}],
        "annotations": [
            {"image_id": 1, **box, "segmentation": [[1, 1, 4, 1, 4, 4, 1, 4]]},
            {"image_id": 1, "category_id": 2, "bbox": [1, 1, 0, 3]},
            {"image_id": 2, **box},
            {"image_id": 3, **box},
        ],
    }
    (root / "instances.json").write_text(json.dumps(content))


def _csv(name: str, *lines: str) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        for image in ("a", "b"):
            write_picture(root / f"{image}.png")
        (root / name).write_text("\n".join(lines) + "\n")

    return write


_VINDR = _csv(
    "train.csv",
    "image_id,class_name,rad_id,x_min,y_min,x_max,y_max",
    "a,Edema,R1,1,1,4,4",
    "a,Mass,R1,4,4,1,1",
    "b,Edema,R1,90,90,95,95",
    "gone,Edema,R1,1,1,4,4",
)
_CSV_BOXES = _csv(
    "boxes.csv",
    "image,finding,x1,y1,x2,y2,reader",
    "a.png,Edema,1,1,4,4,R1",
    "a.png,Mass,4,4,1,1,R1",
    "b,Edema,90,90,95,95,R1",
    "gone,Edema,1,1,4,4,R1",
)
_NIH = _csv(
    "BBox_List_2017.csv",
    "Image Index,Finding Label,Bbox [x,y,w,h],,,",
    "a.png,Edema,1,1,3,3",
    "b.png,Mass,4,4,0,3",
    "gone.png,Edema,1,1,3,3",
)
_RSNA = _csv(
    "labels.csv",
    "patientId,x,y,width,height,Target",
    "a,1,1,3,3,1",
    "b,,,,,1",
    "gone,1,1,3,3,1",
)
_SIIM = (
    "train-rle.csv",
    "ImageId,EncodedPixels",
)


def _pathmmu(root: Path) -> None:
    write_picture(root / "images" / "a.png")
    asked = {"question": "What?", "options": ["A) this", "B) that"]}
    listed = [
        {"No": 1, "img": "a.png", **asked, "answer": "B) that"},
        {"No": 2, "img": "gone.png", **asked, "answer": "A"},
        {"No": 3, "img": "a.png", **asked, "answer": "C) more"},
    ]
    (root / "data.json").write_text(json.dumps({"PubMed": {"test": listed}}))


def _heal(root: Path) -> None:
    write_picture(root / "a.png", np.full((30, 20), 90, dtype=np.uint8))
    mask = np.zeros((30, 20), dtype=np.bool_)
    mask[5:25, 5:15] = True
    asked = {"question": "Does Heart have Edema", "answer": "Yes"}
    whole = {"Heart": coded(mask)}
    listed = [
        {"image": "a.png", "location": whole, **asked},
        {"image": "gone.png", "location": "Heart", **asked},
        {"image": "a.png", "location": {"Aorta": {"size": [2, 2]}}, **asked},
        {"image": "", "location": "", **asked},
    ]
    (root / "test.json").write_text(json.dumps(listed))


def _report_studies(root: Path) -> None:
    write_picture(root / "a" / "pa.png")
    for name, images in (("a", [{"file": "pa.png"}, {"file": "gone.png"}]), ("b", [])):
        (root / name).mkdir(exist_ok=True)
        (root / name / "case.json").write_text(json.dumps({"images": images}))


def _medsyn(root: Path) -> None:
    shown = {"type": "CT", "finding": "Nodes."}
    listed = [{**shown, "images": [name]} for name in ("a.png", "gone.png", "c.png")]
    case = {
        "language": "en",
        "specialty": "Neurology",
        "history": "A man fell.",
        "options": ["a", "b", "c", "d"],
        "diagnosis": "b",
    }
    for name, evidence in (("good", listed), ("bad", listed[:1])):
        write_picture(root / name / "a.png")
        write_picture(root / name / "c.png")
        text = json.dumps({**case, "evidence": evidence})
        (root / name / "case.json").write_text(text)


def _vlmevalkit(root: Path) -> None:
    rows = [
        "index\tquestion\tA\tB\tanswer\timage\timage_path",
        "0\tWhat?\tthis\tthat\tB\t\tgone.png",
        f"1\tWhat?\tthis\tthat\tA\t{'no image ' * 9}\t",
        "2\tWhat?\tthis\tthat\tC\t1\t",
    ]
    root.mkdir(parents=True)
    (root / "tiles_val.tsv").write_text("\n".join(rows) + "\n")


def _labelled_tiles(root: Path) -> None:
    write_picture(root / "TUM" / "a.png")
    write_picture(root / "NORM" / "b.png")
    (root / "NORM" / "c.png").write_text("no image")


def _captioned_tiles(root: Path) -> None:
    write_picture(root / "images" / "a.png")
    (root / "images" / "b.png").write_text("no image")
    rows = ("image,caption", "a.png,Glands.", "b.png,Fat.", "gone.png,Bone.", "a.png,")
    (root / "captions.csv").write_text("\n".join(rows) + "\n")


def _question_set(root: Path) -> None:
    write_picture(root / "images" / "a.png")
    (root / "images" / "b.png").write_text("no image")
    rows = ("image,asked,right", "a.png,One?,yes", "b.png,Two?,no", "gone.png,3?,yes")
    (root / "rows.csv").write_text("\n".join(rows) + "\n")
    columns = 'question = "asked"\nanswer = "right"\nimage = "image"\n'
    text = f'[columns]\n{columns}[answer]\nkind = "yes_no"\n'
    (root / "question_set.toml").write_text(text)


def _yolo(root: Path) -> None:
    write_picture(root / "images" / "a.png")
    (root / "images" / "b.png").write_text("no image")
    (root / "labels").mkdir()
    (root / "labels" / "a.txt").write_text("0 0.5 0.5 0.5 0.5\n7 0.5 0.5 0.5 0.5\n")
    (root / "labels" / "b.txt").write_text("0 0.5 0.5 0.5 0.5\n")
    (root / "labels" / "gone.txt").write_text("")
    (root / "classes.txt").write_text("Edema\n")


EXAMPLES: Mapping[str, Callable[[Path], None]] = {
    "chexlocalize": _chexlocalize,
    "folder": _folder,
    "coco": _coco,
    "vindr": _VINDR,
    "csv-boxes": _CSV_BOXES,
    "nih-chestxray14": _NIH,
    "rsna": _RSNA,
    "siim": _csv(*_SIIM, "a,7 2 4 2", "b,1 2 x", "gone,7 2 4 2"),
    "siim-relative": _csv(*_SIIM, "a,7 2 4 2", "b,40 90", "gone,7 2 4 2"),
    "siim-absolute": _csv(*_SIIM, "a,7 2 14 2", "b,40 90", "gone,7 2"),
    "pathmmu": _pathmmu,
    "vlmevalkit": _vlmevalkit,
    "labelled-tiles": _labelled_tiles,
    "captioned-tiles": _captioned_tiles,
    "report-studies": _report_studies,
    "mimic-cxr": _csv(
        "metadata.csv",
        "dicom_id,subject_id,study_id,ViewPosition,StudyDate",
        "a,10,50,PA,21800101",
        "gone,4711,51,,",
    ),
    "medsyn": _medsyn,
    "question-set": _question_set,
    "yolo": _yolo,
    "heal": _heal,
    "heal-columns": _heal,
    "heal-rows": _heal,
}


@pytest.fixture(params=sorted(FORMATS))
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Dataset:
    """A data set of each format, with something wrong in it."""
    EXAMPLES[request.param](tmp_path / "data")
    return read_dataset(request.param, tmp_path / "data", "example")


def test_that_every_format_has_an_example() -> None:
    assert set(EXAMPLES) == set(FORMATS)


def test_that_a_file_hash_is_that_of_the_bytes_and_empty_without_a_file(
    example: Dataset,
) -> None:
    for image in example.images:
        path = image.ref.path
        known = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
        assert image.sha256 == known


def test_that_usable_masks_are_not_empty_and_fit_their_image(example: Dataset) -> None:
    images = referenced(example, "any").images
    masks = [(image, m) for image in images for m in image.masks.values()]
    assert masks or example.items
    for image, mask in masks:
        assert mask.size == image.size
        assert mask.array().any()


def test_that_a_finding_is_usable_empty_or_defect_but_only_one_of_them(
    example: Dataset,
) -> None:
    for image in example.images:
        usable = {*image.masks, *image.boxes}
        kinds = [usable, set(image.zero_masks), set(image.defects)]
        assert sum(map(len, kinds)) == len(set.union(*kinds))


def test_that_every_defect_has_a_notice_of_its_image(example: Dataset) -> None:
    noticed = {notice.subject for notice in example.notices}
    defective = {image.key for image in example.images if image.defects}
    assert defective
    assert defective <= noticed


def test_that_a_notice_is_one_sentence_without_patient_data(example: Dataset) -> None:
    for notice in example.notices:
        assert notice.kind.isidentifier()
        assert notice.text.endswith(".")
        assert "4711" not in notice.text
