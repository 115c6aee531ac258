"""What the terminal says of a run: in its study's words, and never wrongly left out."""

from pathlib import Path

import pytest

from viewer.cli import run_command_line
from viewer.services.inspecting.runs import run_results
from viewer.services.reporting import run_in_words
from viewer.services.reporting.report_run import RunReport, report_data
from viewer.services.reporting.run_in_words import (
    endings_in_words,
    rows_in_words,
    rows_of,
)
from viewer.store.database import open_store


def overread(*words: object) -> None:
    assert run_command_line([str(word) for word in words]) == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two synthetic studies with tasks and grades, imported, not asked yet."""
    store = ["--store", tmp_path / "s.sqlite"]
    where = ["--out", tmp_path / "cases", "--n", 2, "--size", "100x125"]
    overread("phantom", "--study", "rubric_reading", *where)
    overread("import", "report-studies", tmp_path / "cases", *store)
    return tmp_path


def asked(folder: Path) -> RunReport:
    overread("run", folder / "cases" / "study.toml", "--store", folder / "s.sqlite")
    with open_store(folder / "s.sqlite") as store:
        return report_data(store, 1)


def test_that_graded_answers_are_no_excluded_ones(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = asked(folder)
    said = capsys.readouterr().out
    planned = sum(report.summary.counts.values())
    told = endings_in_words(report)
    assert "excluded" not in report.summary.counts
    by_category = [r for r in rows_of(report) if r["finding"] != "(micro)"]
    everywhere = [row for row in by_category if row["view"] == "all"]
    assert told["right"] == sum(row["k"] for row in everywhere)
    assert told["right"] + told["wrong"] == sum(row["n_scored"] for row in everywhere)
    assert sum(told.values()) == planned
    assert f"right {told['right']}, wrong {told['wrong']}" in said
    assert "task category" in said
    assert "share with Content 5" in said
    assert "All trials together" in said


def test_that_answers_nobody_graded_are_called_so(folder: Path) -> None:
    (folder / "cases" / "grades.csv").unlink()
    told = endings_in_words(asked(folder))
    assert {"right", "wrong", "excluded"}.isdisjoint(told)
    assert told["not graded"] > 0


def test_that_many_rows_are_told_by_condition(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = asked(folder)
    every = rows_in_words(report)
    monkeypatch.setattr(run_in_words, "_MOST_ROWS", len(every) - 1)
    few = rows_in_words(report)
    assert 0 < len(few) < len(every)
    assert {row["task category"] for row in few} == {"All trials together"}
    assert {row["model"] for row in few} == {row["model"] for row in every}


@pytest.mark.statement("E001-02", "E003-15", "E004-03")
@pytest.mark.parametrize(
    ("study", "imported", "file", "title", "made"),
    [
        (
            "rubric_reading",
            "report-studies",
            "curation",
            "Proposed tasks",
            "with tasks",
        ),
        (
            "pathology_mcq",
            "captioned-tiles",
            "building",
            "Questions made",
            "with questions",
        ),
        ("evidence_diagnosis", "medsyn", "prepare", "Reports", "prepared"),
    ],
)
def test_that_a_run_that_makes_something_says_what(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    study: str,
    imported: str,
    file: str,
    title: str,
    made: str,
) -> None:
    store, data = ["--store", tmp_path / "s.sqlite"], tmp_path / "data"
    size = ["--size", "100x125"] if study == "rubric_reading" else []
    overread("phantom", "--study", study, "--out", data, "--n", 2, *size)
    name = ["--name", "data-captions"] if imported == "captioned-tiles" else []
    overread("import", imported, data, *name, *store)
    overread("run", data / f"{file}.toml", *store)
    said = capsys.readouterr().out
    assert f"\n{title}. " in said
    assert f"\nRun 1: {made} " in said
    assert "excluded" not in said
    overread("runs", *store)
    listed = capsys.readouterr().out
    assert f"{made} " in listed
    assert "excluded" not in listed
    results = run_results(tmp_path / "s.sqlite", 1)
    assert results.made.startswith("In run 1, ")
    assert results.unjudged == ()
