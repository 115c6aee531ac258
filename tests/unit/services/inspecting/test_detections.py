"""Boxes of several readers, from the tables of a data set to those of a report."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.tiny_study import a_spec, plan_and_finish
from viewer.domain.answer import MaskAnswer
from viewer.domain.answer_json import answer_as_json
from viewer.domain.case import ImageRef
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.reference import Mask
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.inspecting.answers import answers_about
from viewer.services.reporting.figures import write_report
from viewer.store.database import open_store

SIDE = 80
_RATES = ("0.125", "0.25", "0.5")
TABLE = """\
image_id,rad_id,class_name,x_min,y_min,x_max,y_max
one,R1,Mass,10,10,30,30
one,R2,Mass,10,10,30,50
one,R3,No finding,,,,
two,R1,Mass,50,50,70,70
two,R2,No finding,,,,
two,R3,No finding,,,,
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vindr"
    root.mkdir()
    for grey, name in enumerate(("one", "two")):
        pixels = np.full((SIDE, SIDE), 90 + grey, dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"{name}.png")
    (root / "train.csv").write_text(TABLE)
    return root


def _boxes(*corners: tuple[int, int, int, int]) -> str:
    scaled = [[round(1000 * n / SIDE) for n in box] for box in corners]
    return json.dumps([{"bbox_2d": box} for box in scaled])


def _report(
    root: Path, tmp_path: Path, rule: str
) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    answers = tmp_path / "answers.json"
    first, second = _boxes((10, 10, 30, 30)), _boxes((0, 0, 8, 8), (50, 50, 70, 70))
    answers.write_text(json.dumps({"one|Mass": first, "two|Mass": second}))
    settings = {"answers_file": str(answers), "convention": "qwen3_vl"}
    return _run(root, tmp_path, rule, ModelProfile("draws", "scripted", settings))


def _run(
    root: Path,
    tmp_path: Path,
    rule: str,
    model: ModelProfile,
    *,
    absent: bool = False,
    reads: str = "vindr",
) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    with open_store(tmp_path / f"{rule}.sqlite") as store:
        import_dataset(store, reads, root, "boxes")
        spec = a_spec(
            [model],
            dataset="boxes",
            params={
                "findings": ["Mass"],
                "reader_rule": rule,
                "absent_findings": absent,
                "grids": [8],
            },
        )
        run = plan_and_finish(store, spec)
        write_report(store, run, tmp_path / rule)
    items, detection = (
        list(csv.DictReader(io.StringIO(path.read_text()))) if path.exists() else []
        for path in (tmp_path / rule / f"{n}.csv" for n in ("items", "detection"))
    )
    return items, detection


def _at(rows: list[dict[str, str]], reader: str, metric: str, at: str = "") -> str:
    of_mass = [r for r in rows if r["finding"] == "Mass" and r["metric"] == metric]
    found = [r for r in of_mass if r["reader"] == reader and r["at"] == at]
    assert len(found) == 1
    return f"{found[0]['k']}/{found[0]['n']}" if found[0]["k"] else found[0]["value"]


def test_that_any_readers_boxes_make_the_reference(root: Path, tmp_path: Path) -> None:
    items, detection = _report(root, tmp_path, "any")
    assert [item["status"] for item in items] == ["scored_correct"] * 2
    assert _at(detection, "(by rule)", "box_hit", "0.5") == "2/2"
    assert _at(detection, "(by rule)", "box_hit", "0.6") == "1/2"
    assert _at(detection, "(by rule)", "area_hit", "0.5") == "2/2"
    assert float(_at(detection, "(by rule)", "mean_iou")) == pytest.approx(
        (0.5 + 400 / 464) / 2
    )
    assert _at(detection, "R1", "box_hit", "0.75") == "2/2"
    assert _at(detection, "R2", "box_hit", "0.5") == "1/1"
    assert not [row for row in detection if (row["reader"], row["k"]) == ("R3", "1")]
    per_item = _at(detection, "(by rule)", "sensitivity_at_fp", "0.5")
    assert float(per_item) == 1.0


def test_that_a_majority_excludes_what_one_of_three_marked(
    root: Path, tmp_path: Path
) -> None:
    items, detection = _report(root, tmp_path, "majority")
    ends = {item["image"]: (item["status"], item["reason"]) for item in items}
    assert ends == {
        "one": ("scored_correct", ""),
        "two": ("excluded", "no_majority"),
    }
    assert _at(detection, "(by rule)", "box_hit", "0.75") == "1/1"
    page = (tmp_path / "majority" / "report.html").read_text()
    assert "No pixel was marked by half of the image" in page


def test_that_a_readers_own_boxes_are_the_reference_where_he_is_chosen(
    root: Path, tmp_path: Path
) -> None:
    items, detection = _report(root, tmp_path, "R2")
    ends = {item["image"]: (item["status"], item["reason"]) for item in items}
    assert ends["two"] == ("excluded", "not_by_reader")
    assert _at(detection, "(by rule)", "box_hit", "0.5") == "1/1"
    assert _at(detection, "(by rule)", "box_hit", "0.6") == "0/1"


def test_that_a_reader_who_read_nothing_is_a_sentence(
    root: Path, tmp_path: Path
) -> None:
    with pytest.raises(WrongUseError, match="no boxes by reader 'R9'") as error:
        _report(root, tmp_path, "R9")
    assert "R1, R2, R3" in error.value.how


@pytest.mark.parametrize(
    ("confidences", "at_half"),
    [([0.2, 0.9], 1.0), ([0.9, 0.2], 0.0), ([], 0.0)],
)
def test_that_confidences_order_the_boxes_of_a_free_response_curve(
    root: Path, tmp_path: Path, confidences: list[float], at_half: float
) -> None:
    items, detection = _sure(root, tmp_path, confidences)
    assert [item["status"] for item in items] == ["scored_correct"] * 2
    found = _at(detection, "(by rule)", "sensitivity_at_fp", "0.5")
    assert float(found) == at_half


@pytest.mark.parametrize("kind", ["boxes", "mask"])
def test_that_the_reference_as_the_answer_is_found_entirely_across_the_crops_edge(
    tmp_path: Path, kind: str
) -> None:
    root = tmp_path / "wide"
    root.mkdir()
    grey = np.full((40, 70), 90, dtype=np.uint8)
    Image.fromarray(grey).save(root / "p_frontal.png")
    mask = np.zeros((40, 70), dtype=np.uint8)
    mask[10:20, 5:25] = mask[12:16, 50:66] = 255
    boxes = [[5, 10, 25, 20], [50, 12, 66, 16], [0, 0, 9, 9]]
    if kind == "boxes":
        rows = "".join(
            f"p_frontal,R1,Mass,{','.join(map(str, b))}\n" for b in boxes[:2]
        )
        (root / "train.csv").write_text(TABLE.splitlines()[0] + "\n" + rows)
        sure = {"confidences": [0.5, 0.6, 0.9]}
        body = json.dumps({"type": "boxes", "boxes": boxes, **sure})
    else:
        Image.fromarray(mask).save(root / "p_frontal.Mass.png")
        body = answer_as_json(MaskAnswer(Mask.of_array(mask > 0)))
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({"p_frontal|Mass": body}))
    settings = {"answers_file": str(answers), "convention": "native"}
    model = ModelProfile("same", "scripted", settings)
    reads = "vindr" if kind == "boxes" else "folder"
    _, detection = _run(root, tmp_path, "any", model, reads=reads)
    assert _at(detection, "(by rule)", "box_hit", "0.75") == "1/1"
    ordered = ["ap"] if kind == "boxes" else []
    for metric in ("mean_iou", "mean_dice", "froc_score", *ordered):
        assert float(_at(detection, "(by rule)", metric)) == 1.0
    whole = float(_at(detection, "(by rule)", "mean_iou_uncropped"))
    assert whole == pytest.approx(264 / 345 if kind == "boxes" else 1.0)


@pytest.mark.parametrize("confidences", [[0.9], [0.9, float("nan")]])
def test_that_boxes_without_a_confidence_each_are_not_read(
    root: Path, tmp_path: Path, confidences: list[float]
) -> None:
    items, detection = _sure(root, tmp_path, confidences)
    assert [item["status"] for item in items] == ["unparsed"] * 2
    assert detection == []


def _sure(
    root: Path, tmp_path: Path, confidences: list[float]
) -> tuple[list[dict[str, str]], list[dict[str, str]]]:
    """Answer with a stray box and one that hits, about each of two images."""
    boxes = {"one": [[60, 60, 64, 64], [10, 10, 30, 50]]}
    boxes["two"] = [[0, 0, 4, 4], [50, 50, 70, 70]]
    body = {"type": "boxes", **({"confidences": confidences} if confidences else {})}
    table = {f"{k}|Mass": json.dumps({**body, "boxes": b}) for k, b in boxes.items()}
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps(table))
    settings = {"answers_file": str(answers), "convention": "native"}
    drawn = ModelProfile("draws", "scripted", settings)
    return _run(root, tmp_path, "any", drawn)


@pytest.mark.parametrize(
    ("rule", "cells"), [("any", 4 * 2), ("majority", 2 * 2), ("R2", 4 * 2)]
)
def test_that_the_window_shows_the_reference_that_the_run_was_scored_by(
    root: Path, tmp_path: Path, rule: str, cells: int
) -> None:
    items, _ = _report(root, tmp_path, rule)
    (gold,) = [json.loads(i["gold"]) for i in items if i["image"] == "one"]
    about = answers_about(tmp_path / f"{rule}.sqlite", ImageRef(root / "one.png"))
    assert len(about) == 1
    assert list(about[0].reference_cells) == gold["cells"]
    assert len(about[0].reference_cells) == cells
    assert about[0].measures is not None


@pytest.mark.statement("E000-32")
def test_that_boxes_drawn_where_nobody_saw_the_finding_count_against_a_model(
    root: Path, tmp_path: Path
) -> None:
    Image.fromarray(np.full((SIDE, SIDE), 70, dtype=np.uint8)).save(root / "none.png")
    nobody = "".join(f"none,R{n},No finding,,,,\n" for n in (1, 2, 3))
    (root / "train.csv").write_text(TABLE + nobody)
    answers = tmp_path / "answers.json"
    places = {
        "one": (10, 10, 30, 30),
        "two": (50, 50, 70, 70),
        "none": (5, 5, 20, 20),
    }
    table = {f"{image}|Mass": _boxes(place) for image, place in places.items()}
    answers.write_text(json.dumps(table))
    settings = {"answers_file": str(answers), "convention": "qwen3_vl"}
    model = ModelProfile("draws", "scripted", settings)
    items, detection = _run(root, tmp_path, "any", model, absent=True)
    assert [item["condition"] for item in items].count("grid=8 absent") == 1
    for reader, having, without in (
        *(("(by rule)", 2, 1), ("R1", 2, 1), ("R2", 1, 2), ("R3", 0, 3)),
    ):
        (ap,) = [
            r
            for r in detection
            if (r["finding"], r["reader"], r["metric"]) == ("Mass", reader, "ap")
        ]
        counted = (ap["n_with_finding"], ap["n_without_finding"])
        assert counted == (str(having), str(without))
    found = [_at(detection, "(by rule)", "sensitivity_at_fp", at) for at in _RATES]
    assert found == ["0.0", "0.0", "1.0"]
