"""Every view of a run tells the same of each trial, in every study.

Graded, judged, refused, failed and unread answers: files, pages, the terminal, the
bundle and the comparison are held against one another, trial by trial.
"""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers.bundled_run import bundled_run
from tests.helpers.study_samples import STUDIES, item_run
from tests.unit.services.exporting.test_export_item_bundle import members_of, quiet
from viewer import api
from viewer.cli import run_command_line
from viewer.domain.report import Table
from viewer.results.frame import has_value
from viewer.results.records import numbers_in
from viewer.services.comparing.sides import sides_of_run, trial_lines
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.exporting.export_table import export_table
from viewer.services.inspecting.listing import run_rows
from viewer.services.inspecting.predictions.cases import cases_of
from viewer.services.inspecting.predictions.groups import grouped
from viewer.services.inspecting.predictions.view import By
from viewer.services.inspecting.runs import (
    run_list,
    run_table,
    trial_rows,
    trial_rows_at,
)
from viewer.services.inspecting.trial_detail import trial_detail
from viewer.services.reporting.records import items_of_run, records
from viewer.services.reporting.report_run import RunReport, report_data
from viewer.services.reporting.run_in_words import endings_in_words
from viewer.store import runs
from viewer.store.database import Store, open_store
from viewer.studies.catalog import OURS, PLACING, study_named
from viewer.writers.tables import csv_bytes
from viewer.writers.verify.comparing import read_csv
from viewer.writers.verify.main import verify

Key = tuple[str, str, int, str]
Told = tuple[str, str]
NAMES = ("item", "condition", "repeat", "model")
REFUSAL = "I cannot help with that."
GRADES = (
    "reader,model,item,image,process,execution,synthesis,language,"
    "image_content,image_style\n"
    "A,studied,s1|t1,,5,5,5,4,,\n"
    "B,studied,s1|t1,,5,5,5,5,,\n"
    "A,studied,s2|t1,,5,3,5,5,,\n"
)


def _asked(store: Store, folder: Path, study: str) -> int:
    if study == PLACING:
        return bundled_run(store, folder, n=2, grids=[8, 4], absent_findings=True)
    run = item_run(store, folder / "d", study, refuses=REFUSAL, unread="?")
    if study == "rubric_reading":
        (folder / "d" / "grades.csv").write_text(GRADES)
    fails = "UPDATE trial SET status = 'pending', score_id = NULL WHERE id = 2"
    with store.transaction():
        store.execute(fails)
    return run


@pytest.fixture(scope="module", params=sorted(OURS))
def path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Run 1 of a study; what people grade comes after the run, and no report does."""
    folder = tmp_path_factory.mktemp(request.param)
    with open_store(folder / "s.sqlite") as store:
        assert _asked(store, folder, request.param) == 1
    return folder / "s.sqlite"


@pytest.fixture(scope="module")
def report(path: Path) -> RunReport:
    with open_store(path) as store:
        return report_data(store, 1)


@pytest.fixture(scope="module")
def items(report: RunReport) -> Table:
    """The table that a report writes as items.csv."""
    return next(one for one in report.data.tables if one.name == "items")


def test_that_every_study_is_looked_at() -> None:
    assert {*STUDIES, PLACING} == set(OURS)


def _expected(store: Store) -> dict[Key, Told]:
    """Return status and reason of each trial as the frame of records has them."""
    frame = records(store, 1)
    keys = zip(*(frame[name] for name in NAMES), strict=True)
    ends = zip(frame["status"], frame["reason"], strict=True)
    return dict(zip(keys, ends, strict=True))


def test_that_predictions_read_first_tell_what_items_csv_tells(path: Path) -> None:
    by = (By.FINDING, By.VIEW, By.CONDITION, By.MODEL)
    view = grouped(path, by)
    counts = {key: view.tally(row) for row, key in enumerate(view.keys)}
    rows = [
        (told.trial, told.score)
        for row in range(len(view.keys))
        for told in trial_rows_at(path, cases_of(path, view, row).tolist())
    ]
    with open_store(path) as store:
        frame = records(store, 1)
    statuses = Counter(zip(*(frame[b.value] for b in by), frame["status"], strict=True))
    for key, tally in counts.items():
        assert tally.k == statuses[*key, "scored_correct"]
        assert tally.n_excluded == statuses[*key, "excluded"]
        assert tally.n_planned == sum(n for k, n in statuses.items() if k[:4] == key)
    assert sorted((t, s.status.value, s.reason) for t, s in rows) == sorted(
        zip(range(1, len(frame) + 1), frame["status"], frame["reason"], strict=True)
    )


def test_that_pages_and_files_tell_the_same_of_each_trial(
    path: Path, report: RunReport
) -> None:
    chosen = trial_rows(path, 1, finding="", view="", condition="", model="")
    with open_store(path) as store:
        expected = _expected(store)
        frame = records(store, 1)
        sides = [
            (one.item, one.condition, one.repeat, side.model, one.status)
            for side in sides_of_run(store, 1)
            for one in trial_lines(store, side)
        ]
    told = endings_in_words(report)
    strip = {
        (row.item, row.condition, row.repeat, row.model): (
            row.score.status.value,
            row.score.reason,
        )
        for row in chosen
    }
    assert strip == expected
    for row in {(row.model, row.score): row for row in chosen}.values():
        assert trial_detail(path, row.trial).score == row.score
    assert {tuple(one[:4]): one[4] for one in sides} == {
        key: status for key, (status, _) in expected.items()
    }
    statuses = Counter(status for status, _ in expected.values())
    assert run_list(path)[0].counts == statuses
    assert sum(told.values()) == len(expected)
    table = run_table(path, 1)
    places = {name: table.header.index(name) for name in ("k", "n_excluded")}
    whole = [row for row in table.rows if row[0] == "(micro)" and row[1] == "all"]
    if whole and "absent" not in "".join(frame["condition"]):
        counts = {name: [row[at] for row in whole] for name, at in places.items()}
        assert sum(int(str(n)) for n in counts["k"]) == statuses["scored_correct"]
        assert sum(int(str(n)) for n in counts["n_excluded"]) == statuses["excluded"]


def test_that_exported_answers_tell_the_same_of_each_trial(
    path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "answers.csv"
    words = ("export", "answers", "1", "--out", out, "--store", path)
    assert run_command_line([str(word) for word in words]) in {0, 1}
    with open_store(path) as store:
        expected = _expected(store)
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert rows
    for row in rows:
        item = row["item"] if "item" in row else f"{row['image']}|{row['finding']}"
        key = item, row["condition"], int(row["repeat"]), row["model"]
        assert row["status"] == expected[key][0]


def test_that_items_csv_has_what_the_frame_has_of_each_trial(
    path: Path, items: Table
) -> None:
    with open_store(path) as store:
        frame = records(store, 1, replies=True)
        words = study_named(runs.run_spec(store, 1).study).words
    assert {*words.columns, *numbers_in(frame)} <= {*items.header}
    for place, name in enumerate(items.header):
        wanted = [value if has_value(value) else None for value in frame[name]]
        if name == "correct":
            pairs = zip(wanted, frame["counted"], strict=True)
            wanted = [right if counted else None for right, counted in pairs]
        told = [row[place] for row in items.rows]
        assert told == wanted, name
        kind = items.kinds[name]
        assert {type(one) for one in told} <= {kind, type(None)}, name


def _printed(value: object) -> str:
    if value is None or value is pd.NA or value != value:
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def test_that_records_of_the_interface_are_items_csv_column_by_column(
    path: Path, items: Table
) -> None:
    with api.open_store(path) as store:
        frame = store.records("last")
        table = store.table("last", "items")
    header, *rows = read_csv(csv_bytes(items.header, items.rows))
    assert list(frame.columns) == header
    assert len(frame) == len(rows) > 1
    for place, name in enumerate(header):
        told = [_printed(value) for value in frame[name]]
        assert told == [row[place] for row in rows], name
    assert table.dataframe().equals(frame)


def test_that_a_parquet_file_of_the_trials_has_the_same_names_and_types(
    path: Path, tmp_path: Path
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    with open_store(path) as store:
        table = items_of_run(store, 1)
    export_table(table, tmp_path / "items.parquet")
    found = parquet.read_table(tmp_path / "items.parquet")
    kinds = {"string": str, "int64": int, "double": float, "bool": bool}
    types = {one.name: kinds[str(one.type)] for one in found.schema}
    assert types == {name: table.kinds[name] for name in table.header}
    assert [tuple(row.values()) for row in found.to_pylist()] == list(table.rows)


def test_that_the_bundle_tells_the_same_of_each_trial_and_holds(path: Path) -> None:
    with open_store(path) as store:
        expected = list(_expected(store).values())
        data = run_bundle(store, 1)
    lines = members_of(data)["trials.jsonl"].decode().splitlines()
    kept = [json.loads(line) for line in lines]
    assert [(one["status"], one["reason"]) for one in kept] == expected
    assert verify(data, quiet).wrong == []


VIEWS: Mapping[str, Callable[[Store], list[str]]] = {
    "records": lambda store: list(records(store, 1)["status"]),
    "runs": lambda store: [
        status
        for status, n in dict(run_rows(store, include_adhoc=False)[0]["counts"]).items()  # type: ignore[call-overload]
        for _ in range(n)
    ],
    "sides": lambda store: [
        line.status
        for side in sides_of_run(store, 1)
        for line in trial_lines(store, side)
    ],
    "report": lambda store: [r.score.status for r in report_data(store, 1).results],
    "page": lambda store: [
        row.score.status
        for row in trial_rows(
            store.path, 1, finding="", view="", condition="", model=""
        )
    ],
}


@pytest.mark.parametrize("view", VIEWS)
def test_that_whichever_view_is_read_first_tells_the_grades(
    view: str, tmp_path: Path
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        _asked(store, tmp_path, "rubric_reading")
        statuses = Counter(VIEWS[view](store))
    assert statuses["scored_correct"] == statuses["scored_wrong"] == 1
