"""A benchmark of anybody's, from its files to a card and a bundle that verifies."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.item_datasets import ANSWERS, write_question_set
from tests.helpers.markdown_pages import read_page
from tests.stories.conftest import rows_of
from viewer.cli import run_command_line
from viewer.services.inspecting.trial_detail import trial_detail
from viewer.services.synthetic.phantoms import phantom_for

Overread = Callable[..., Any]
STUDY = """
study = "question_set"
dataset = "set"
models = ["right", "wrong"]
[params]
judge = "strict"
[[model]]
name = "right"
adapter = "scripted"
answers_file = "right.json"
[[model]]
name = "wrong"
adapter = "scripted"
answers_file = "wrong.json"
[[model]]
name = "strict"
adapter = "scripted"
answer = "Yes"
answers_file = "strict.json"
"""
RIGHT = {
    "yes_no": "Yes, it is.",
    "number": "It is 12.4 cm wide.",
    "text": "The pleura.",
    "cell": "The answer is B2.",
    "point": '{"point": [275, 533]}',
    "box": '{"box": [125, 167, 375, 667]}',
    "boxes": (
        '{"boxes": [{"box": [500, 83, 750, 417]}, {"box": [125, 167, 375, 667]}]}'
    ),
}
WRONG = {
    "yes_no": "no",
    "number": "13",
    "text": "The liver.",
    "cell": "A1",
    "point": '{"point": [0, 0]}',
    "box": '{"box": [0, 0, 100, 100]}',
    "boxes": '{"boxes": []}',
}
"""Of an image of 60 × 80 pixels, in thousandths."""
TRIALS = 2 * (16 * 5 + 5 * 2)
"""Two models, five controls of each question and two more of each with options."""


@pytest.fixture
def asked(overread: Overread, tmp_path: Path) -> tuple[Path, list[dict[str, Any]]]:
    """Return a store with a run of every kind of answer, and the items asked."""
    store = ["--store", tmp_path / "s.sqlite"]
    write_question_set(tmp_path / "set")
    told = overread("import", "question-set", tmp_path / "set", *store)
    items: list[dict[str, Any]] = overread("cases", "set", *store)["items"]
    assert told["items"] == len(items) == 16
    for name, said in (("right", RIGHT), ("wrong", WRONG)):
        answers: dict[str, str] = {}
        for one in items:
            key, truth = one["item"], one["reference"]
            if "option" in truth:
                place = truth["option"] if name == "right" else truth["option"] - 1
                answers[key] = f"finding {place % 4}"
                continue
            answers[key] = said[one["facts"]["answer_kind"]]
        (tmp_path / f"{name}.json").write_text(json.dumps(answers))
    text = next(i["item"] for i in items if i["facts"]["answer_kind"] == "text")
    strict = {f"{text}|image|0": "Yes"}
    (tmp_path / "strict.json").write_text(json.dumps(strict))
    (tmp_path / "study.toml").write_text(STUDY)
    run = overread("run", tmp_path / "study.toml", *store)
    assert run["status"] == "finished"
    return tmp_path / "s.sqlite", items


def test_that_answers_of_every_kind_are_read_judged_and_verified(
    overread: Overread,
    asked: tuple[Path, list[dict[str, Any]]],
    tmp_path: Path,
) -> None:
    path, _ = asked
    store = ["--store", path]
    overread("report", "last", "--out", tmp_path / "report", *store)
    rows = rows_of(tmp_path / "report" / "items.csv")
    kinds = {"choice", *ANSWERS}
    assert {row["answer_kind"] for row in rows} == kinds
    by_model = {
        (row["model"], row["answer_kind"]): row["status"]
        for row in rows
        if row["condition"] == "image"
    }
    for kind in kinds:
        assert by_model["right", kind] == "scored_correct", kind
        judged = "scored_correct" if kind == "text" else "scored_wrong"
        assert by_model["wrong", kind] == judged, kind
    (error,) = {r["absolute_error"] for r in rows if r["model"] == "right"} - {""}
    assert float(error) == pytest.approx(0.4)
    means = {
        (row["model"], row["kind"]): float(row["with_image"])
        for row in rows_of(tmp_path / "report" / "image_dependence_scores.csv")
    }
    assert means == {
        **{("right", kind): 1.0 for kind in ("text", "boxes")},
        ("right", "box"): pytest.approx(1.0, abs=0.002),
        ("wrong", "text"): 1.0,
        **{("wrong", kind): 0.0 for kind in ("box", "boxes")},
    }
    bundle = str(tmp_path / "b.zip")
    words = ["export", "bundle", "last", "--out", bundle, "--store", str(path)]
    assert run_command_line(words) == 0
    assert run_command_line(["verify", bundle]) == 0
    overread("rescore", "last", *store)
    out = tmp_path / "answers.csv"
    overread("export", "answers", "last", "--out", out, *store)
    assert {row["kind"] for row in rows_of(out)} >= {"choice", "point", "boxes", "cell"}


def test_that_scores_are_drawn_in_a_figure_of_their_own(
    asked: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    path, _ = asked
    out = tmp_path / "pack"
    words = ["pack", "question_set", "--run", "last", "--out", str(out)]
    assert run_command_line([*words, "--store", str(path)]) == 0
    bars = rows_of(out / "figures" / "image_dependence_scores.csv")
    drawn = {
        (bar["panel"], bar["series"]): float(bar["rate"])
        for bar in bars
        if bar["kind"] == "bar" and bar["group"] == "with the image"
    }
    assert drawn == {
        ("Words: share judged right", "right"): 1.0,
        ("Words: share judged right", "wrong"): 1.0,
        ("Box: intersection over union", "right"): pytest.approx(1.0, abs=0.002),
        ("Box: intersection over union", "wrong"): 0.0,
        ("Boxes: F1 of boxes found", "right"): 1.0,
        ("Boxes: F1 of boxes found", "wrong"): 0.0,
    }
    assert (out / "figures" / "image_dependence_scores.svg").is_file()


def test_that_a_case_of_every_kind_can_be_looked_at(
    asked: tuple[Path, list[dict[str, Any]]],
) -> None:
    path, _ = asked
    details = [trial_detail(path, trial) for trial in range(1, TRIALS + 1)]
    assert all(detail.steps and detail.words for detail in details)
    drawn = {
        (detail.trial.view, detail.trial.condition.name)
        for detail in details
        if detail.is_marked
    }
    assert drawn == {
        (kind, shown)
        for kind in ("box", "boxes")
        for shown in ("image", "noise", "other_image")
    }


def test_that_the_page_shows_the_description_that_the_phantom_writes(
    tmp_path: Path,
) -> None:
    from viewer.domain.geometry import SizePx

    docs = Path(__file__).parents[2] / "docs" / "studies" / "question_set.md"
    (code,) = (one for one in read_page(docs).blocks if one.language == "toml")
    phantom = phantom_for("question_set")
    phantom.write(tmp_path / "q", 4, 0, SizePx(120, 96), lambda *_: None)
    written = (tmp_path / "q" / "question_set.toml").read_text(encoding="utf-8")
    assert tomllib.loads(code.text) == tomllib.loads(written)


def test_that_items_that_need_the_image_can_be_imported_alone(
    overread: Overread, tmp_path: Path
) -> None:
    store = ["--store", tmp_path / "s.sqlite"]
    made = ["--study", "question_set", "--n", 12, "--size", "96x120"]
    overread("phantom", *made, "--out", tmp_path / "q")
    overread("import", "question-set", tmp_path / "q", *store)
    overread("run", tmp_path / "q" / "study.toml", *store)
    overread("report", "last", "--out", tmp_path / "report", *store)
    needing = {row["item"] for row in rows_of(tmp_path / "report" / "needs_image.csv")}
    (tmp_path / "q" / "needs_image.csv").write_bytes(
        (tmp_path / "report" / "needs_image.csv").read_bytes()
    )
    toml = tmp_path / "q" / "question_set.toml"
    only = 'only = "needs_image.csv"\n\n[columns]'
    toml.write_text(toml.read_text().replace("\n[columns]", only))
    overread("import", "question-set", tmp_path / "q", "--name", "needing", *store)
    items = overread("cases", "needing", *store)["items"]
    assert {one["item"] for one in items} == needing
    assert 0 < len(needing) < 12
