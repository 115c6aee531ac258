"""Reports are prepared by a model, reviewed by a person, and imported as cases."""

import csv
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.stories.conftest import Overread, Said, rows_of

FREE = "A 34-year-old teacher has had fever for six weeks. The chest is clear."


def write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def decided(row: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, str]:
    """Return a row as a person fills it in: with these texts, else accepted."""
    text = texts.get(row["field"])
    if text == "":
        return {**row, "verdict": "reject", "reader": "Dr. A"}
    if text is not None:
        return {**row, "verdict": "edit", "text": text, "reader": "Dr. A"}
    return {**row, "verdict": "accept" if row["proposed"] else "", "reader": "Dr. A"}


@pytest.fixture
def folder(tmp_path: Path, overread: Overread) -> Path:
    """Two reports with images, a free text, and a half-made case."""
    made = ["--out", tmp_path / "cases", "--n", 3, "--size", "128x128"]
    overread("phantom", "--study", "evidence_diagnosis", *made)
    root = tmp_path / "reports"
    for n in (1, 2):
        shutil.copytree(tmp_path / "cases" / f"report-000{n}", root / f"report-000{n}")
    (root / "half").mkdir()
    shutil.copy(root / "report-0001" / "ct_1.png", root / "half")
    (root / "free").mkdir()
    (root / "free" / "report.txt").write_text(FREE, encoding="utf-8")
    return tmp_path


@pytest.mark.statement("E004-03", "E004-23", "E004-26")
def test_that_reports_are_prepared_reviewed_and_imported_without_editing_json(
    folder: Path, overread: Overread, say: Said
) -> None:
    store = ["--store", folder / "s.sqlite"]
    told = overread("import", "medsyn", folder / "reports", *store)
    assert told["items"] == 3
    sentences = str(told["notices"])
    assert "The report 'free' has no sections" in sentences
    assert "The folder 'half' has images, but neither" in sentences
    study = (folder / "cases" / "prepare.toml").read_text(encoding="utf-8")
    mine = folder / "cases" / "mine.toml"
    text = study.replace('dataset = "cases"', 'dataset = "reports"')
    mine.write_text(text, encoding="utf-8")
    run = overread("run", mine, *store, code=1)  # nobody answers about the text
    assert run["counts"]["excluded"] >= 6

    export = ["export", "cases", str(run["run"]), "--out", folder / "mine", *store]
    assert "write accept, edit or reject" in say(*export)[1]
    table = folder / "mine" / "review.csv"
    rows = rows_of(table)
    images = {r["field"]: r["proposed"] for r in rows if r["case"] == "report-0001"}
    assert images["Laboratory images"] == "laboratory_1.png"
    assert images["CT images"] == "ct_1.png; ct_2.png"
    edits = {
        "report-0001": {
            "specialty": "Respiratory medicine",
            "examination": "The lungs are clear.",
            "Microscopy finding": "",
            "Microscopy images": "",
        },
        "report-0002": {
            "specialty": "Haematology",
            "Laboratory images": "nowhere.png",
        },
    }
    write_rows(table, [decided(row, edits.get(row["case"], {})) for row in rows])
    code, out, _ = say(*export)
    assert code == 0
    assert "The case 'report-0002' names the image 'nowhere.png', which is" in out
    assert "The case 'free' is not finished: 6 of 6 fields have no verdict." in out
    assert "1 case written" in out
    assert {p.parent.name for p in (folder / "mine").glob("*/case.json")} == {
        "report-0001"
    }
    document = json.loads((folder / "mine" / "report-0001" / "case.json").read_text())
    assert [one["type"] for one in document["evidence"]] == [
        "Laboratory",
        "CT",
        "X-ray",
    ]
    assert document["options"] == sorted(document["options"])
    assert document["diagnosis"] in document["options"]

    told = overread("import", "medsyn", folder / "mine", *store)
    assert (told["items"], told["images"]) == (1, 4)
