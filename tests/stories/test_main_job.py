"""From a folder to a scored table, the ways that must all give the same."""

import csv
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.helpers.tabled import lasting_csv
from viewer.domain.geometry import SizePx
from viewer.domain.reference import Mask
from viewer.results.item_columns import ITEM_COLUMNS

Overread = Callable[..., Any]

STUDY = """
study = "grid_localization"
dataset = "phantom"
seed = 3
repeats = 2
models = ["uniform", "asymmetry", "frequent_cell", "says-d4"]
[params]
grids = [8, "8x10"]
findings = ["Airspace Opacity", "Atelectasis", "Lung Lesion", "Pleural Effusion"]
[[model]]
name = "says-d4"
adapter = "scripted"
answer = "D4"
"""

ITEMS_HEADER = ",".join(one.name for one in ITEM_COLUMNS)
RESULTS_HEADER = (
    "finding,view,condition,model,n_planned,n_scored,n_failed,n_refused,n_unparsed,"
    "n_excluded,n_pending,k,hit_rate,bootstrap_sd,ci_low,ci_high,ci_method,"
    "random_baseline,location_prior,gain,gain_low,gain_high,partial"
)


def reported(
    overread: Overread, phantom: Path, folder: Path, *options: object
) -> dict[str, bytes]:
    """Import, run and report into a fresh store; return the report's files."""
    folder.mkdir()
    store = ["--store", folder / "s.sqlite"]
    (folder / "study.toml").write_text(STUDY)
    overread("import", "chexlocalize", phantom, "--name", "phantom", *store)
    overread("run", folder / "study.toml", *store, *options)
    overread("report", "last", "--out", folder / "out", *store)
    files = [p for p in (folder / "out").rglob("*") if p.is_file()]
    return {p.relative_to(folder / "out").as_posix(): p.read_bytes() for p in files}


@pytest.mark.parametrize(
    "ways",
    [
        pytest.param({"one": (1,), "worker": (4, "--worker")}, id="worker"),
        pytest.param(
            {"one": (1,), "four": (4,)}, id="threads", marks=pytest.mark.proof
        ),
    ],
)
def test_that_worker_or_not_and_any_number_of_threads_give_the_same_tables(
    overread: Overread,
    phantom: Path,
    tmp_path: Path,
    ways: Mapping[str, tuple[object, ...]],
) -> None:
    reports = [
        reported(overread, phantom, tmp_path / name, "--threads", *way)
        for name, way in ways.items()
    ]
    assert len({report["results.csv"] for report in reports}) == 1
    first, other = (lasting_csv(report["items.csv"]) for report in reports)
    assert other == first
    assert reports[0]["items.csv"].splitlines()[0].decode() == ITEMS_HEADER
    assert reports[0]["results.csv"].splitlines()[0].decode() == RESULTS_HEADER
    check_manifest(reports[0])
    check_rows(reports[0])
    check_coverage(phantom, reports[0])
    check_rescored(overread, tmp_path / "one")


def check_rescored(overread: Overread, folder: Path) -> None:
    store = ["--store", folder / "s.sqlite"]
    assert overread("rescore", "last", *store)["changed"] == 0
    overread("report", "last", "--out", folder / "again", *store)
    again = (folder / "again" / "items.csv").read_bytes()
    assert again == (folder / "out" / "items.csv").read_bytes()


def check_manifest(report: dict[str, bytes]) -> None:
    manifest = json.loads(report["manifest.json"])
    for name, sha256 in manifest["files"].items():
        assert hashlib.sha256(report[name]).hexdigest() == sha256
    assert set(manifest["files"]) == set(report) - {"manifest.json"}
    assert manifest["incomplete"] is False
    assert len(manifest["manifest_sha256"]) == 64


def check_rows(report: dict[str, bytes]) -> None:
    items = list(csv.DictReader(report["items.csv"].decode().splitlines()))
    keys = [(r["item"], r["condition"], int(r["repeat"]), r["model"]) for r in items]
    assert len(set(keys)) == len(keys)
    results = list(csv.DictReader(report["results.csv"].decode().splitlines()))
    for row in results:
        if row["model"] == "says-d4":
            # one patient has no location prior
            assert row["gain"] in {"0.0", ""}
        assert int(row["n_planned"]) == sum(
            int(row[f"n_{c}"])
            for c in ("scored", "failed", "refused", "unparsed", "excluded", "pending")
        )
    one = next(r for r in results if r["finding"] == "(micro)" and r["view"] == "all")
    same = [
        r for r in items
        if r["condition"] == one["condition"] and r["model"] == one["model"]
    ]  # fmt: skip
    hits = sum(r["status"] == "scored_correct" for r in same)
    assert (len(same), hits) == (int(one["n_planned"]), int(one["k"]))


def check_coverage(phantom: Path, report: dict[str, bytes]) -> None:
    """Compare the coverage in the table with what counting pixels gives."""
    truth = json.loads(
        (phantom / "CheXlocalize" / "gt_segmentations_test.json").read_text()
    )
    rows = csv.DictReader(report["items.csv"].decode().splitlines())
    checked = 0
    for row in rows:
        if row["condition"] != "grid=8" or not row["answer"]:
            continue
        coded = truth[row["image"]][row["finding"]]
        mask = Mask(SizePx(*coded["size"]), coded["counts"]).array()
        expected = brute_force_coverage(mask, row["answer"])
        assert float(row["coverage"]) == pytest.approx(expected, abs=1e-12)
        checked += 1
    assert checked > 50


def brute_force_coverage(mask: np.ndarray[Any, Any], cell: str) -> float:
    """Crop, resize to 256 by nearest neighbour and count, one pixel at a time."""
    height, width = mask.shape
    side = min(height, width)
    top, left = (height - side) // 2, (width - side) // 2
    row, column = ord(cell[0]) - ord("A"), int(cell[1:]) - 1
    inside = 0
    for y in range(row * 32, row * 32 + 32):
        for x in range(column * 32, column * 32 + 32):
            source_y = top + int((y + 0.5) * side / 256)
            source_x = left + int((x + 0.5) * side / 256)
            inside += bool(mask[source_y, source_x])
    return inside / 1024


def test_that_an_unfinished_run_goes_on_and_a_finished_one_prints_its_table(
    overread: Overread, phantom: Path, tmp_path: Path
) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    first = overread("run", tmp_path / "study.toml", "--limit", 2)
    again = overread("run", tmp_path / "study.toml", "--limit", 2)
    assert first == again
    other = overread("run", tmp_path / "study.toml", "--limit", 2, "--new")
    assert other["run"] == first["run"] + 1
    assert other["counts"] == first["counts"]
    runs = overread("runs")
    assert [r["id"] for r in runs] == [first["run"], other["run"]]
    assert {r["status"] for r in runs} == {"finished"}
    assert runs[0]["models"] == ["uniform", "asymmetry", "frequent_cell", "says-d4"]


def test_that_one_question_is_answered_drawn_and_kept_apart(
    overread: Overread, phantom: Path, tmp_path: Path
) -> None:
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    truth = json.loads(
        (phantom / "CheXlocalize" / "gt_segmentations_test.json").read_text()
    )
    image = next(iter(truth))
    path = (
        phantom / "CheXpert" / "test" / Path(*image.split("_", 2)).with_suffix(".dcm")
    )
    finding = next(
        name
        for name, coded in truth[image].items()
        if not Mask(SizePx(*coded["size"]), coded["counts"]).is_empty
    )
    out = tmp_path / "overlay.png"
    answer = overread("ask", path, "--finding", finding, "--out", out)
    assert answer["model"] == "asymmetry"
    assert answer["view"] in ("frontal", "lateral")
    with Image.open(out) as picture:
        assert picture.mode == "RGB"
        assert len(np.unique(np.asarray(picture))) > 100
    assert overread("runs") == []
    assert [r["adhoc"] for r in overread("runs", "--all")] == [True]


def test_that_lists_are_json_where_asked_for(overread: Overread, phantom: Path) -> None:
    overread("import", "chexlocalize", phantom, "--name", "phantom")
    assert overread("cases")[0]["name"] == "phantom"
    assert len(overread("cases", "phantom")["images"]) == 12
    assert {m["name"] for m in overread("models")} >= {
        "uniform",
        "frequent_cell",
        "asymmetry",
    }
    assert all(row["state"] for row in overread("doctor"))
