"""The bundle of a run with boxes of several readers: all of it is worked out again."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers.boxed_run import READERS, boxed_run
from tests.unit.services.exporting.test_export_item_bundle import (
    members_of,
    quiet,
    resealed,
)
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.report_run import report_data
from viewer.store.database import open_store
from viewer.writers.tables import csv_bytes
from viewer.writers.verify.main import verify

OF_BOXES = ("geometry", "rules", "detection", "froc")
Members = dict[str, bytes]


@pytest.fixture(scope="module", params=["any", "majority", READERS[1]])
def bundled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int, bytes]:
    path, run = boxed_run(tmp_path_factory.mktemp("boxed"), request.param)
    with open_store(path) as store:
        return path, run, run_bundle(store, run)


def test_that_every_number_of_boxes_is_worked_out_again(
    bundled: tuple[Path, int, bytes],
) -> None:
    found, members = verify(bundled[2], quiet), members_of(bundled[2])
    assert found.wrong == []
    named = json.loads(members["manifest.json"])["recomputed_tables"]
    assert {*OF_BOXES} <= {*named}
    done = "\n".join(found.done)
    for name in OF_BOXES:
        rows = members[f"tables/{name}.csv"].decode().count("\n") - 1
        assert rows > 5
        assert f"tables/{name}.csv: {rows} rows computed again." in done


def test_that_readers_go_by_pseudonyms_and_numbers_stay(
    bundled: tuple[Path, int, bytes],
) -> None:
    path, run, data = bundled
    members = members_of(data)
    assert not [name for name, of in members.items() if b"Specht" in of]
    with open_store(path) as store:
        tables = {table.name: table for table in report_data(store, run).data.tables}
    for name in OF_BOXES[1:]:
        mine = csv_bytes(tables[name].header, tables[name].rows).decode()
        for i, reader in enumerate(READERS, 1):
            mine = mine.replace(reader, f"R{i:05d}")
        assert members[f"tables/{name}.csv"].decode() == mine


def change_number(table: str, metric: str, column: str) -> Callable[[Members], str]:
    """Return what changes a number of a table, and names it as the verifier does."""

    def change(members: Members) -> str:
        text = members[f"tables/{table}.csv"].decode()
        rows = [*csv.DictReader(io.StringIO(text))]
        at = next(
            i
            for i, row in enumerate(rows)
            if row[column] not in {"", "0.0"} and row.get("metric", metric) == metric
        )
        rows[at][column] = repr(float(rows[at][column]) / 2)
        told = csv_bytes([*rows[0]], [[*row.values()] for row in rows])
        members[f"tables/{table}.csv"] = told
        return f"tables/{table}.csv, row {at + 2}"

    return change


def move_reference(members: Members) -> str:
    images = json.loads(members["references.json"])
    for to_find in (of for one in images.values() for of in one["to_find"].values()):
        for boxes in to_find.values():
            boxes[:] = [[1.0, 1.0, 4.0, 4.0] for _ in boxes]
    members["references.json"] = json.dumps(images).encode()
    return "tables/detection.csv, row"


def move_answer(members: Members) -> str:
    lines = [json.loads(line) for line in members["trials.jsonl"].splitlines()]
    trial = next(
        one
        for one in lines
        if one["status"] == "scored_correct" and '"boxes"' in one["parsed"]
    )
    parsed = json.loads(trial["parsed"])
    parsed["boxes"] = [[0.0, 0.0, 2.0, 2.0] for _ in parsed["boxes"]]
    trial["parsed"] = json.dumps(parsed)
    members["trials.jsonl"] = b"".join(json.dumps(o).encode() + b"\n" for o in lines)
    return "tables/geometry.csv, row"


@pytest.mark.parametrize("bundled", ["majority"], indirect=True)
@pytest.mark.parametrize(
    "change",
    [
        change_number("detection", "ap", "value"),
        change_number("detection", "ap_at_iou", "value"),
        change_number("detection", "froc_score", "value"),
        change_number("detection", "box_hit", "low"),
        change_number("detection", "mean_dice_uncropped", "value"),
        change_number("froc", "", "sensitivity"),
        change_number("geometry", "", "iou"),
        change_number("geometry", "", "distance_px"),
        change_number("rules", "", "median_iou"),
        move_reference,
        move_answer,
    ],
)
def test_that_a_changed_number_box_or_reference_is_found(
    bundled: tuple[Path, int, bytes], change: Callable[[Members], str]
) -> None:
    members = members_of(bundled[2])
    sentence = change(members)
    assert any(
        one.startswith(sentence) for one in verify(resealed(members), quiet).wrong
    )
