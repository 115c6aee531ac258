"""The absent-finding arm, from the plan to the table."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.tiny_study import (
    D4,
    a_spec,
    plan_and_finish,
    tables_of,
    write_images,
)
from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.exchange import ModelProfile
from viewer.readers.datasets.catalog import read_dataset
from viewer.readers.datasets.files import content_sha256
from viewer.services.reporting.rescore import Rescored, rescore_run
from viewer.store import cases, runs, trials
from viewer.store.database import Store

ABSENT = ("Cardiomegaly", "Pneumothorax")
PARAMS = {"grids": [8], "absent_findings": True, "replicates": 20}
Row = dict[str, str]


def labelled(folder: Path, name: str, n: int = 4) -> Dataset:
    """Return images with Edema, of which two other findings are labelled absent."""
    found = read_dataset("folder", write_images(folder, n), name)
    labels = {"Edema": True, **dict.fromkeys(ABSENT, False)}
    images = [replace(image, labels=labels) for image in found.images]
    return replace(found, images=tuple(images), root_sha256=content_sha256(images))


def oracle(folder: Path, dataset: Dataset) -> ModelProfile:
    """Return a model that names a cell where the finding is and else denies it."""
    answers = {
        f"{image.key}|{finding}": "D4"
        if finding == "Edema"
        else f"There is no {finding.lower()}."
        for image in dataset.images
        for finding in ("Edema", *ABSENT)
    }
    path = folder / "oracle.json"
    path.write_text(json.dumps(answers))
    return ModelProfile("oracle", "scripted", {"answers_file": str(path)})


def asked(store: Store, folder: Path, **params: object) -> int:
    dataset = labelled(folder / "d", "tiny")
    cases.add_dataset(store, dataset)
    refuses = ModelProfile("refuses", "scripted", {"answer": "", "refusal": "No."})
    models = (D4, oracle(folder, dataset), refuses)
    return plan_and_finish(store, a_spec(models, params={**PARAMS, **params}))


def table(text: str) -> list[Row]:
    return list(csv.DictReader(text.splitlines()))


@pytest.mark.statement("E000-32")
def test_that_who_always_answers_capitulates_always_and_who_knows_never(
    store: Store, tmp_path: Path
) -> None:
    tables = tables_of(store, asked(store, tmp_path))
    rows = {
        (r["finding"], r["model"]): r
        for r in table(tables["absent.csv"])
        if r["view"] == "all"
    }
    for finding in (*ABSENT, "(macro)", "(micro)"):
        always, knows = rows[finding, "says-d4"], rows[finding, "oracle"]
        assert (always["capitulation_rate"], knows["capitulation_rate"]) == (
            "1.0",
            "0.0",
        )
        assert always["n_capitulated"] == always["n_planned"]
        assert knows["n_denied"] == knows["n_planned"]
        refused = rows[finding, "refuses"]
        assert refused["n_refused"] == refused["n_planned"]
        assert refused["capitulation_rate"] == "0.0"
    hits = {
        (r["finding"], r["model"]): r["hit_rate"]
        for r in table(tables["results.csv"])
        if r["view"] == "all"
    }
    assert set(hits) == {
        (f, m)
        for f in ("Edema", "(macro)", "(micro)")
        for m in ("says-d4", "oracle", "refuses")
    }
    assert rows["(macro)", "oracle"]["hit_rate"] == hits["(macro)", "oracle"]
    assert hits["Edema", "oracle"] == hits["Edema", "says-d4"]


@pytest.mark.statement("E000-32", "X-01")
def test_that_statuses_of_the_absent_arm_add_up_and_are_in_no_hit_rate(
    store: Store, tmp_path: Path
) -> None:
    run = asked(store, tmp_path)
    tables = tables_of(store, run)
    parts = ("excluded", "pending", "failed", "refused", "unparsed", "denied")
    for row in table(tables["absent.csv"]):
        total = sum(int(row[f"n_{part}"]) for part in (*parts, "capitulated"))
        assert total == int(row["n_planned"])
    counts = runs.run_summary(store, run).counts
    items = table(tables["items.csv"])
    assert sum(counts.values()) == len(items) == 3 * 4 * 3
    present = [r for r in items if r["condition"] == "grid=8"]
    whole = [
        r
        for r in table(tables["results.csv"])
        if (r["finding"], r["view"]) == ("(micro)", "all")
    ]
    assert sum(int(r["n_planned"]) for r in whole) == len(present) == 12


@pytest.mark.statement("E000-32")
def test_that_the_prompt_says_of_an_absent_finding_that_it_is_there(
    store: Store, tmp_path: Path
) -> None:
    run = asked(store, tmp_path)
    scored = trials.scored_trials(store, run)
    one = next(s for s in scored if s.trial.finding == "Cardiomegaly")
    document = trials.sent_request(store, one.request_sha256).document
    words = json.dumps(document, ensure_ascii=False)
    assert "‘Cardiomegaly’ is confirmed to be present in this image" in words


@pytest.mark.statement("E000-32")
def test_that_nothing_absent_is_asked_about_unless_it_is_wanted(
    store: Store, tmp_path: Path
) -> None:
    run = asked(store, tmp_path, absent_findings=False)
    found = {s.trial.finding for s in trials.scored_trials(store, run)}
    assert found == {"Edema"}
    assert "absent.csv" not in tables_of(store, run)


def test_that_the_absent_arm_is_scored_again_as_it_was(
    store: Store, tmp_path: Path
) -> None:
    run = asked(store, tmp_path)
    before = [(s.id, s.score) for s in trials.scored_trials(store, run)]
    assert rescore_run(store, run) == Rescored(len(before), 0)
    kinds = {s.status for _, s in before}
    assert kinds == {Status.SCORED_CORRECT, Status.SCORED_WRONG, Status.REFUSED}
