"""A newcomer runs every study with nothing but what the phantom command wrote."""

import csv
import json
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.proof_params import always
from tests.stories.conftest import rows_of
from viewer.cli import run_command_line

Overread = Callable[..., Any]
SMALL: Mapping[str, tuple[int, str]] = {
    "rubric_reading": (5, "100x125"),
    "grounded_vqa": (6, "96x120"),
    "pathology_mcq": (7, "128x128"),
    "evidence_diagnosis": (3, "128x128"),
}
"""How many of each collection, and their size in pixels."""
BLINDED = frozenset({"text_only", "noise", "mismatch"})
"""Conditions in which even the model that knows is not shown what it needs."""


def _followed(
    overread: Overread, study: str, folder: Path
) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Run the commands that a collection's own closing lines name, but the pack's.

    Return the run, and the rows of its report's items.
    """
    n, size = SMALL[study]
    where = ["--out", folder / "new data", "--n", n, "--size", size]
    told = overread("phantom", "--study", study, *where)
    store = ["--store", folder / "s.sqlite"]
    *asking, packing = (shlex.split(command) for command in told["next"])
    assert packing[1] == "pack"
    run: dict[str, Any] = {}
    for program, *words in asking:
        assert program == "overread"
        run = overread(*words, *store)
    overread("report", "last", "--out", folder / "report", *store)
    path = folder / "report" / "items.csv"
    return run, rows_of(path)


@pytest.mark.parametrize(
    "study", always({"pathology_mcq"}, ["grounded_vqa", "pathology_mcq"])
)
def test_that_who_looks_has_full_marks_and_who_errs_has_not(
    study: str, overread: Overread, tmp_path: Path
) -> None:
    run, rows = _followed(overread, study, tmp_path)
    assert run["status"] == "finished"
    assert set(run["counts"]) <= {"scored_correct", "scored_wrong", "excluded"}
    said = Counter(
        (row["model"], row["status"])
        for row in rows
        if row["condition"] not in BLINDED and row["status"] != "excluded"
    )
    assert said["knows", "scored_correct"] > 20
    assert said["knows", "scored_wrong"] == 0
    assert said["errs", "scored_wrong"] > 0
    assert said["errs", "scored_correct"] > 0


def test_that_who_lists_the_diagnosis_may_still_choose_wrongly(
    overread: Overread, tmp_path: Path
) -> None:
    run, rows = _followed(overread, "evidence_diagnosis", tmp_path)
    assert run["status"] == "finished"
    said = {(row["model"], row["finding"], row["status"]) for row in rows}
    tasks = ("ddx", "fdx", "open_fdx")
    both = {(m, t) for m in ("knows", "errs") for t in tasks}
    assert said == {
        *((*asked, "scored_correct") for asked in both),
        *((*asked, "scored_wrong") for asked in both - {("knows", "fdx")}),
    }


@pytest.mark.statement("E004-03", "E004-23")
def test_that_reports_beside_the_cases_are_prepared(
    overread: Overread, tmp_path: Path
) -> None:
    out, store = tmp_path / "cases", ["--store", tmp_path / "s.sqlite"]
    words = ["--out", out, "--n", 5, "--size", "128x128"]
    overread("phantom", "--study", "evidence_diagnosis", *words)
    assert overread("import", "medsyn", out, *store)["items"] == 9
    run = overread("run", out / "prepare.toml", *store)
    assert run["counts"] == {"excluded": 12}
    folder = tmp_path / "report"
    overread("report", "last", "--out", folder, *store)
    made = rows_of(folder / "preparation.csv")
    assert {row["reason"] for row in made} == {"prepared"}
    assert [row["json"] for row in made if not json.loads(row["json"])] == []
    invented = [row["report"] for row in made if float(row["invented"])]
    assert set(invented) == {"report-0003"}
    (chunk,) = rows_of(folder / "invented.csv")
    assert chunk["text"] == "Nothing of this stands in the report."
    chinese = next(
        json.loads(row["json"])
        for row in made
        if (row["report"], row["task"]) == ("report-0004", "distractors")
    )
    assert chinese["distractors"] == ["脑脓肿", "多发性硬化", "脑转移瘤"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Pieces that do not appear in their report" in page


@pytest.mark.usefixtures("undrawn")
def test_that_answers_to_tasks_have_the_marks_that_readers_gave(
    overread: Overread, tmp_path: Path
) -> None:
    run, rows = _followed(overread, "rubric_reading", tmp_path)
    assert run["status"] == "finished"
    said = Counter((row["model"], row["status"]) for row in rows)
    assert said == {
        ("knows", "scored_correct"): 10,
        ("draws", "scored_wrong"): 10,
        ("writes", "scored_wrong"): 8,
        ("writes", "truncated"): 2,
    }
    out = tmp_path / "pack"
    words = ["--run", "last", "--out", out, "--store", tmp_path / "s.sqlite"]
    overread("pack", "rexecution2025", *words)
    first = (out / "tables" / "table_1.csv").read_text(encoding="utf-8")
    means = {
        row["model"]: float(row["mean"])
        for row in csv.DictReader(first.splitlines())
        if row["metric"] == "Content"
    }
    assert means["knows"] == 5.0
    assert means["draws"] == 2.95


def test_that_the_same_arguments_give_the_same_answers_and_study(
    overread: Overread, tmp_path: Path
) -> None:
    for parent in ("one", "two"):
        out = tmp_path / parent / "cases"
        words = ["--out", out, "--n", 2, "--size", "128x128"]
        overread("phantom", "--study", "evidence_diagnosis", *words)
    one, two = tmp_path / "one", tmp_path / "two"
    files = [p.relative_to(one) for p in one.rglob("*") if p.is_file()]
    assert Path("cases/study.toml") in files
    assert all((one / f).read_bytes() == (two / f).read_bytes() for f in files)
    said = json.loads((one / "cases/answers/knows.json").read_text(encoding="utf-8"))
    assert max(said["case-0001|fdx|raw|0|answer"]["posterior"]) == 0.94


def test_that_the_next_commands_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "chests"
    words = ["phantom", "--study", "grid_localization", "--out", str(out), "--n", "1"]
    assert run_command_line([*words, "--size", "80x100"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"1 patient, 2 images in {out}; next:"
    assert said[1] == f"  overread import chexlocalize {out}"
    assert said[2].startswith("  overread pack grid2025 --dataset chests ")
