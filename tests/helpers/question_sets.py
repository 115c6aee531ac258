"""A small benchmark with a question of each kind, written and read."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from tests.helpers.small_datasets import write_picture
from viewer.domain.case import Dataset
from viewer.readers.datasets.question_set import read

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
    return read(write_question_set(folder, patients), "questions")
