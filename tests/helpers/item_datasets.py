"""Small data sets of items: a question set, studies with reports, tissue tiles."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from tests.helpers.phantom_folders import write_phantom
from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset
from viewer.domain.geometry import SizePx
from viewer.domain.task_selection import (
    Answerable,
    Category,
    SelectedTask,
    selection_as_json,
)
from viewer.readers.datasets import pathmmu, question_set, report_studies
from viewer.services.synthetic.make_tiles import make_tiles

COLUMNS = {
    **{name: name for name in ("item", "question", "answer", "image", "patient")},
    **{name: name for name in ("options", "kind")},
}
TOML = """\
[columns]
{columns}
[answer]
kind = "choice"
match = "judged"
tolerance = 0.5
grid = "4"
within = 5

[report]
groups = ["organ", "sex"]
"""
ANSWERS: Mapping[str, object] = {
    "yes_no": "yes",
    "number": 12,
    "text": "Pleura",
    "cell": "B2",
    "point": [20, 30],
    "box": [10, 10, 30, 40],
    "boxes": [[10, 10, 30, 40], [40, 5, 60, 25]],
}


def rows(patients: int = 5) -> Iterator[dict[str, object]]:
    """Yield the rows: of each patient's image a choice, yes or no, and another kind."""
    others = [kind for kind in ANSWERS if kind != "yes_no"]
    for i in range(patients):
        about: dict[str, object] = {
            "image": f"image{i}.png",
            "patient": f"patient {i}",
            "organ": ("lung", "heart")[i % 2],
            "sex": "FM"[i % 2],
            "options": [],
        }
        options = [f"finding {n}" for n in range(4)]
        kinds = ("yes_no", *others[i::patients])
        yield {
            **about,
            "item": f"q{i}-choice",
            "kind": "choice",
            "question": f"Which finding is it, {i}?",
            "options": options,
            "answer": options[i % 4],
        }
        for kind in kinds:
            question = f"What is asked for as {kind}, {i}?"
            yield {
                **about,
                "item": f"q{i}-{kind}",
                "kind": kind,
                "question": question,
                "answer": ANSWERS[kind],
            }


def write_question_set(folder: Path, patients: int = 5) -> Path:
    """Write images of 60 × 80 pixels, table and TOML file; return the folder."""
    rng = np.random.default_rng(5)
    for i in range(patients):
        pixels = rng.integers(0, 255, (60, 80), dtype=np.uint8)
        write_picture(folder / "images" / f"image{i}.png", pixels)
    table = "".join(json.dumps(row) + "\n" for row in rows(patients))
    (folder / "questions.jsonl").write_text(table)
    columns = "".join(f'{name} = "{of}"\n' for name, of in COLUMNS.items())
    (folder / "question_set.toml").write_text(TOML.format(columns=columns))
    return folder


def question_set_dataset(folder: Path, patients: int = 5) -> Dataset:
    """Write a benchmark and return it as the data set ``questions``."""
    return question_set.read(write_question_set(folder, patients), "questions")


TASKS = (
    SelectedTask("s1", "t1", "Describe all pleural abnormalities.", Category.BROAD),
    SelectedTask(
        "s1",
        "t2",
        "Assess effusion size compared to prior.",
        Category.MEASUREMENT,
        temporal=True,
    ),
    SelectedTask("s2", "t1", "Gather evidence of heart failure.", Category.REASONING),
    SelectedTask(
        "s2",
        "t2",
        "Measure the serum sodium.",
        Category.MEASUREMENT,
        answerable=Answerable.NO,
    ),
)
"""Two tasks for each of two studies; only the first has a prior."""


def report_folder(root: Path, tasks: tuple[SelectedTask, ...] = TASKS) -> Path:
    """Write studies s1 (PA, lateral, prior AP) and s2 (AP) with their tasks."""
    files = ("s1/pa", "s1/lateral", "s1/old", "s2/ap")
    for grey, name in enumerate(files, 90):
        path = root / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.full((30, 20), grey, np.uint8)
        pixels[5:9, 4:8] += 60
        Image.fromarray(pixels).save(path)
    first = {
        "patient": "p1",
        "date": "2020-02-01",
        "indication": "Cough.",
        "findings": "There is a small left pleural effusion.",
        "images": [
            {"file": "pa.png", "view": "PA"},
            {"file": "lateral.png", "view": "LATERAL"},
        ],
        "prior": {"date": "2020-01-02", "images": [{"file": "old.png", "view": "AP"}]},
    }
    second = {"patient": "p2", "images": [{"file": "ap.png", "view": "AP"}]}
    for name, case in (("s1", first), ("s2", second)):
        (root / name / "case.json").write_text(json.dumps(case), encoding="utf-8")
    (root / "tasks.json").write_bytes(selection_as_json(tasks))
    return root


def report_dataset(root: Path, name: str = "studies") -> Dataset:
    """Write the folder and return its data set."""
    return report_studies.read(report_folder(root), name)


def tiles_dataset(folder: Path, count: int = 10) -> Dataset:
    """Write tiles of 128 × 128 pixels and return them as a data set, ``tiles``."""
    write_phantom(make_tiles, folder, count, 3, SizePx(128, 128))
    return pathmmu.read(folder, "tiles")
