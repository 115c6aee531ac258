"""Others' data sets from the command line: imported, asked about, reported."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from viewer.cli import run_command_line

SIDE = 64
STUDY = """
study = "grid_localization"
dataset = "{name}"
models = ["says-d4"]
[params]
findings = {findings}
[[model]]
name = "says-d4"
adapter = "scripted"
answer = "D4"
"""


def _pictures(root: Path, *names: str) -> None:
    root.mkdir()
    for grey, name in enumerate(names):
        pixels = np.full((SIDE, SIDE), 90 + grey, dtype=np.uint8)
        Image.fromarray(pixels).save(root / f"{name}.png")


def _run(home: Path, name: str, *findings: str) -> int:
    text = STUDY.format(name=name, findings=json.dumps(findings))
    (home / "study.toml").write_text(text)
    return run_command_line(["run", str(home / "study.toml")])


def _reported(home: Path, name: str, *findings: str) -> list[dict[str, str]]:
    """Run the study and report; return items.csv."""
    assert _run(home, name, *findings) == 0
    assert run_command_line(["report", "1", "--out", str(home / "report")]) == 0
    text = (home / "report" / "items.csv").read_text()
    return list(csv.DictReader(text.splitlines()))


def test_that_a_single_patient_and_a_finding_without_positives_are_told_and_reported(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = home / "one"
    _pictures(root, "patient00001_a_pa", "patient00001_b_pa")
    box = {"category_id": 1, "bbox": [24, 24, 16, 16]}
    content = {
        "images": [
            {"id": 1, "file_name": "patient00001_a_pa.png"},
            {"id": 2, "file_name": "patient00001_b_pa.png"},
        ],
        "categories": [{"id": 1, "name": "Mass"}, {"id": 2, "name": "Nodule"}],
        "annotations": [
            {"image_id": 1, **box},
            {"image_id": 1, **box},
            {"image_id": 2, **box},
            {"image_id": 3, **box},
        ],
    }
    (root / "instances.json").write_text(json.dumps(content))
    assert run_command_line(["import", "auto", str(root)]) == 0
    said = capsys.readouterr()
    assert "'one' (coco): 2 images, 1 patient, 2 references, 4 notices" in said.out
    for sentence in (
        "All images are of one patient",
        "No image has Nodule",
        "names an image that is not in the file (3)",
        "A box of Mass is listed 2 times",
    ):
        assert sentence in said.err
    assert _run(home, "one", "Nodule") == 2
    assert "The finding 'Nodule' is not known" in capsys.readouterr().err
    items = _reported(home, "one", "Mass")
    assert [item["status"] for item in items] == ["scored_correct"] * 2


def test_that_what_is_wrong_with_a_readers_table_excludes_items_by_name(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = home / "vindr"
    _pictures(root, "a", "b", "c")
    (root / "train.csv").write_text(
        "image_id,rad_id,class_name,x_min,y_min,x_max,y_max\n"
        "a,R1,Mass,24,24,40,40\n"
        "b,R1,Mass,500,500,600,600\n"
        "c,R1,Mass,30,30,20,40\n"
        "c,R1,Nodule,0,0,8,8\n"
        "gone,R1,Nodule,0,0,8,8\n"
    )
    assert run_command_line(["import", "vindr", str(root)]) == 0
    assert "b: Mass cannot be used" in capsys.readouterr().err
    items = _reported(home, "vindr", "Mass", "Nodule")
    assert {item["item"]: (item["status"], item["reason"]) for item in items} == {
        "a|Mass": ("scored_correct", ""),
        "b|Mass": ("excluded", "box_outside"),
        "c|Mass": ("excluded", "reference_unreadable"),
        "c|Nodule": ("scored_wrong", ""),
        "gone|Nodule": ("excluded", "missing_file"),
    }
