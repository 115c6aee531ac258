"""From captioned tiles to questions that few guess, on the command line (PathMMU)."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from viewer.cli import run_command_line

Overread = Callable[..., Any]
GUESSING = """
study = "pathology_mcq"
dataset = "built"
models = ["first", "second", "third"]
[params]
arms = ["text_only"]
"""
MODEL = """
[[model]]
name = "{name}"
adapter = "scripted"
answer = "{letter}"
"""


@pytest.mark.statement("E003-08", "E003-15")
def test_that_captions_become_questions_that_too_few_models_guess(
    overread: Overread, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiles, store = tmp_path / "tiles", ["--store", tmp_path / "s.sqlite"]
    words = ["--out", tiles, "--n", 6, "--size", "128x128"]
    overread("phantom", "--study", "pathology_mcq", *words)
    named = ["--name", "tiles-captions"]
    overread("import", "captioned-tiles", tiles, *named, *store)
    ran = overread("run", tiles / "building.toml", *store)
    assert ran["counts"] == {"excluded": 6}
    made = ["export", "questions", "last", "--out", str(tiles / "built.json")]
    assert run_command_line([*made, *map(str, store)]) == 0
    assert "18 questions about 6 of 6 images" in capsys.readouterr().out
    told = overread(
        "import", "pathmmu", tiles / "built.json", "--name", "built", *store
    )
    assert (told["items"], told["images"]) == (18, 6)
    about = [text for _, subject, text in told["notices"] if subject == "experts.csv"]
    assert about == ["Its 8 rows are about other questions; none is used."]
    _check_against_truth(tiles)
    letters = zip(("first", "second", "third"), "AAA", strict=True)
    models = "".join(MODEL.format(name=n, letter=one) for n, one in letters)
    (tmp_path / "guess.toml").write_text(GUESSING + models, encoding="utf-8")
    overread("run", tmp_path / "guess.toml", *store)
    kept = ["export", "questions", "last", "--out", str(tiles / "kept.json")]
    assert run_command_line([*kept, *map(str, store)]) == 0
    listed = list(_questions(tiles / "kept.json"))
    assert 0 < len(listed) < 18
    assert all(not one["answer"].startswith("A") for one in listed)
    assert f"{len(listed)} of 18 questions kept" in capsys.readouterr().out


def _check_against_truth(tiles: Path) -> None:
    """Every question that was made has the answer that the tile was generated with."""
    truth = json.loads((tiles / "truth.json").read_text(encoding="utf-8"))
    for one in _questions(tiles / "built.json"):
        of = truth[one["img"]]
        right = one["answer"].partition(") ")[2]
        wanted = {
            "Which tissue does this field show?": of["tissue"],
            "How many glands are there?": str(of["glands"]),
            "How many mitotic figures are there?": str(of["nuclei"]["mitosis"]),
        }
        assert right == wanted[one["question"]]
    with (tiles / "captions.csv").open(encoding="utf-8", newline="") as stream:
        assert [row["image"] for row in csv.DictReader(stream)] == list(truth)


def _questions(path: Path) -> list[dict[str, Any]]:
    table = json.loads(path.read_text(encoding="utf-8"))
    return [
        one for splits in table.values() for rows in splits.values() for one in rows
    ]
