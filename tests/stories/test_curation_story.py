"""A newcomer has tasks proposed, picks and edits them, and asks them, by commands."""

import csv
import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from viewer.cli import run_command_line
from viewer.domain.escapes import unguarded
from viewer.settings import HOME_VARIABLE

Overread = Callable[..., Any]
STUDIES = 5
SUMS = {0: (20, 20), 1: (19, 15), 2: (17, 12), 3: (14, 14), 4: (8, None)}
"""By rank: the sum of the scores, and the one that the model writes."""


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def curated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Studies with proposed tasks, reported, and the draft of a selection."""
    folder = tmp_path_factory.mktemp("curated")
    cases, store = folder / "cases", ["--store", folder / "s.sqlite"]
    where = ["--out", cases, "--n", STUDIES, "--size", "100x125"]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(HOME_VARIABLE, str(folder / "home"))
        for words in (
            ["phantom", "--study", "rubric_reading", *where],
            ["import", "report-studies", cases, *store],
            ["run", cases / "curation.toml", *store],
            ["report", "last", "--out", folder / "curation", *store],
            ["export", "tasks", "last", "--out", folder / "tasks.json", *store],
        ):
            assert run_command_line([str(word) for word in words]) == 0
    return folder


@pytest.mark.statement("E001-02", "E001-03", "E001-04", "E001-06")
def test_that_five_tasks_of_each_study_are_scored_summed_and_tagged(
    curated: Path,
) -> None:
    asked = rows(curated / "curation" / "items.csv")
    assert [row["status"] for row in asked] == ["excluded"] * STUDIES
    found = rows(curated / "curation" / "candidates.csv")
    assert Counter(row["item"] for row in found) == Counter(
        {f"study{n:05d}": 5 for n in range(1, STUDIES + 1)}
    )
    assert len({row["category"] for row in found}) == 3
    for row in found:
        rank = int(row["rank"]) % 5
        total, conclusion = SUMS[rank]
        assert row["total"] == str(total)
        assert row["conclusion"] == ("" if conclusion is None else str(conclusion))
        assert bool(row["disagreement"]) == (conclusion != total)
        assert row["risk"] == str(rank == 0)
    histogram = rows(curated / "curation" / "quality_histogram.csv")
    counted = {int(r["total"]): int(r["candidates"]) for r in histogram}
    assert {total: n for total, n in counted.items() if n} == dict.fromkeys(
        (8, 14, 17, 19, 20), STUDIES
    )
    broad = [row for row in found if row["category"].startswith("broad")]
    assert {row["tag_imaging_finding"] for row in broad} == {"Multiple"}


def test_that_what_was_proposed_is_verified(
    curated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle, store = str(curated / "curation.zip"), str(curated / "s.sqlite")
    words = ["export", "bundle", "last", "--out", bundle, "--store", store]
    assert run_command_line(words) == 0
    assert run_command_line(["verify", bundle]) == 0
    said = capsys.readouterr().out
    for name in ("quality_histogram", "proposed"):
        assert f"tables/{name}.csv: " in said
    but = "25 rows computed again, but for disagreement."
    assert f"tables/candidates.csv: {but}" in said


@pytest.mark.statement("E001-05")
def test_that_a_draft_is_edited_imported_and_asked(
    curated: Path, overread: Overread, tmp_path: Path
) -> None:
    curated = shutil.copytree(curated, tmp_path / "curated")
    store = ["--store", curated / "s.sqlite"]
    draft = json.loads((curated / "tasks.json").read_text(encoding="utf-8"))
    assert len(draft["tasks"]) == STUDIES
    draft["tasks"][0]["task"] += " Say how sure you are."
    cases = curated / "cases"
    (cases / "tasks.json").write_text(json.dumps(draft), encoding="utf-8")
    (cases / "grades.csv").unlink()
    overread("import", "report-studies", cases, "--name", "selected", *store)
    study = (cases / "study.toml").read_text(encoding="utf-8")
    asked = cases / "asked.toml"
    asked.write_text(study.replace('dataset = "cases"', 'dataset = "selected"'))
    overread("run", asked, *store)
    overread("report", "last", "--out", curated / "asked", *store)
    selection = rows(curated / "asked" / "selection.csv")
    origins = [row["origin"] for row in selection]
    assert origins == ["edited", *["selected"] * (STUDIES - 1)]
    changes = unguarded(selection[0]["changes"])
    assert changes == "+ Say; + how; + sure; + you; + are."
    covered = rows(curated / "asked" / "coverage.csv")
    assert [row["paper_percent"] for row in covered][:4] == ["37", "15", "14", "11"]
    regions = Counter(
        region
        for task in draft["tasks"]
        for region in task["tags"]["tag_anatomical_region"]
    )
    counted = {row["region"]: int(row["tasks"]) for row in covered}
    assert {region: n for region, n in counted.items() if n} == dict(regions)
    assert (curated / "asked" / "figures" / "coverage.svg").is_file()
    overread("pack", "rexecution2025", "--run", 1, "--out", curated / "pack", *store)
    drawn = {path.stem for path in (curated / "pack" / "figures").glob("*.svg")}
    assert drawn == {
        *("figure_2", "supplementary_1a", "supplementary_1b", "proposed_quality"),
    }
