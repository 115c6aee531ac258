"""Bundles whose tables need what people graded, chose and scored hold as well."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.study_samples import SAMPLES, item_run
from tests.unit.services.exporting.test_export_item_bundle import (
    members_of,
    quiet,
    resealed,
)
from viewer.domain.case import Dataset
from viewer.services.exporting.export_bundle import run_bundle
from viewer.store.database import open_store
from viewer.writers.verify.comparing import Report
from viewer.writers.verify.main import verify

BOX = '{"image": 1, "box": [100, 100, 500, 500], "label": "effusion"}'
DRAWS = f'A small left effusion. {{"boxes": [{BOX}]}}'
HEADER = (
    "reader,model,item,image,process,execution,synthesis,language,"
    "image_content,image_style,codes,abstained"
)
GRADES = (
    "Grauammer,studied,s1|t1,,5,5,5,4,,,,no",
    "Heckenbraunelle,studied,s1|t1,,5,4,5,4,,,verbose,yes",
    "Grauammer,draws,s1|t1,,3,2,4,4,,,box_too_large,",
    "Heckenbraunelle,draws,s1|t1,,2,2,4,3,,,,",
    "Grauammer,draws,s1|t1,1,,,,,2,5,,",
    "Heckenbraunelle,draws,s1|t1,1,,,,,3,4,,",
    "Grauammer,draws,s1|t1,9,,,,,2,5,,",
    "Grauammer,studied,s1|t2,,5,5,5,5,,,,",
    "Grauammer,draws,s1|t2,,1,2,3,4,,,,yes",
)


def worked(found: Report) -> set[str]:
    """Return the tables of which every row was worked out again."""
    told = (one for one in found.done if "rows computed again" in one)
    return {one.partition(".csv")[0].removeprefix("tables/") for one in told}


def test_that_every_table_of_grades_is_worked_out_again(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        folder = tmp_path / "d"
        run = item_run(store, folder, "rubric_reading", draws=DRAWS)
        text = "\n".join([HEADER, *GRADES]) + "\n"
        (folder / "grades.csv").write_text(text, encoding="utf-8")
        data = run_bundle(store, run)
    found = verify(data, quiet)
    assert (found.wrong, found.left) == ([], [])
    assert "8 grades of readers were counted again." in found.done
    assert worked(found) >= {
        *("outputs", "table_1", "table_2", "tests", "shares", "images"),
        *("content_orders", "figure_3", "table_3", "agreement", "agreement_of_all"),
        *("figure_5", "figure_5_points", "style_by_content", "abstention"),
        "failure_codes",
    }
    members = members_of(data)
    rows = csv.DictReader(io.StringIO(members["tables/outputs.csv"].decode()))
    drawn = {row["model"]: row["n_annotated_images"] for row in rows}
    assert int(drawn["draws"]) > int(drawn["studied"]) == 0
    grades = json.loads(members["grades.json"])
    said = [grade for grade in grades["grades"] if grade["abstained"]]
    next(one for one in said if one["model"] == "studied")["abstained"] = False
    members["grades.json"] = json.dumps(grades).encode()
    (wrong, *_) = verify(resealed(members), quiet).wrong
    assert wrong.startswith("tables/abstention.csv, row 2 (studied, yes, ")


def with_people(folder: Path) -> Dataset:
    """Return cases that physicians answered, and people scored the judge's answers."""
    made = SAMPLES["evidence_diagnosis"].make(folder)
    more = {
        "physicians": [
            *(["Ann", ["gout"], 0], ["Bob", ["lupus"], None]),
            ["Consensus", ["gout", "lupus"], 0],
        ],
        "judge_labels": [["ddx", "studied", 3], ["open_fdx", "studied", 4]],
    }
    items = (replace(i, reference={**i.reference, **more}) for i in made.items)
    return replace(made, items=tuple(items))


@pytest.mark.parametrize(
    "context", ["all", pytest.param("single", marks=pytest.mark.proof)]
)
def test_that_physicians_labels_and_sensitivities_are_worked_out_again(
    context: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = with_people(tmp_path / "d")
    sample = replace(SAMPLES["evidence_diagnosis"], make=lambda _: made)
    monkeypatch.setitem(SAMPLES, "evidence_diagnosis", sample)
    params = {
        "sensitivity": True,
        "estimator": "monte_carlo",
        "draws": 3,
        "cyclic_orders": False,
        "arms": ["raw", "expert", "refined"],
        "context": context,
        "differential_arms": ["raw"],
    }
    with open_store(tmp_path / "s.sqlite") as store:
        run = item_run(store, tmp_path, "evidence_diagnosis", params, other="B")
        data = run_bundle(store, run)
    found = verify(data, quiet)
    assert (found.wrong, found.left) == ([], [])
    assert worked(found) >= {
        *("table_02", "table_12", "table_13", "table_05", "sensitivity"),
        "judge_calibration",
    }
    members = members_of(data)
    for name in ("Ann", "Bob", "gout", "lupus"):
        assert name.encode() not in members["people.json"]
    table = csv.DictReader(io.StringIO(members["tables/table_02.csv"].decode()))
    rows, n = list(table)[:4], len(made.items)
    assert [row["model"] for row in rows] == [
        *("R00001", "R00002", "consensus of readers", "mean of individual readers")
    ]
    assert [int(row["ddx_all_n"]) for row in rows] == [n, n, n, 2 * n]
    assert {row["rank_all"] for row in rows} == {""}
    people = json.loads(members["people.json"])
    people["physicians"][0][2] = 2
    members["people.json"] = json.dumps(people).encode()
    wrong = verify(resealed(members), quiet).wrong
    assert any(one.startswith("tables/table_02.csv, row ") for one in wrong)


@pytest.mark.statement("E003-11", "E003-12")
def test_that_experts_score_no_item_that_a_review_rejects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SAMPLES["pathology_mcq"].make(tmp_path / "d")
    read = {"experts": [["I", "Ann", 0], ["II", "Bob", 1]]}
    out = {"reviews": [["R1", ["answerable_without_image"]]]}
    references = ({**one.reference, **read} for one in made.items)
    items = [
        replace(one, reference=own)
        for one, own in zip(made.items, references, strict=True)
    ]
    items[0] = replace(items[0], reference={**items[0].reference, **out})
    sample = replace(
        SAMPLES["pathology_mcq"], make=lambda _: replace(made, items=tuple(items))
    )
    monkeypatch.setitem(SAMPLES, "pathology_mcq", sample)
    with open_store(tmp_path / "s.sqlite") as store:
        run = item_run(store, tmp_path, "pathology_mcq", {}, other="B")
        data = run_bundle(store, run)
    found = verify(data, quiet)
    assert (found.wrong, found.left) == ([], [])
    assert "experts" in worked(found)
    experts, models = (
        [*csv.DictReader(io.StringIO(members_of(data)[f"tables/{name}.csv"].decode()))]
        for name in ("experts", "accuracy_paper")
    )
    plain = [row for row in models if row["condition"] == "plain"]
    assert {row["n_excluded"] for row in plain} == {"0", "1"}
    of = {(row["part"], row["subset"]): row["n"] for row in plain}
    groups = [row for row in experts if row["group"] != "mean"]
    assert [r["answered"] for r in groups] == [
        of[r["part"], r["subset"]] for r in groups
    ]
