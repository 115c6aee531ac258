"""Scripts of tables print what the tables hold, with pandas alone."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.studies.pathology_mcq.small import item, result
from viewer.domain.answer import Status
from viewer.domain.report import Table
from viewer.domain.result import TrialResult
from viewer.results.evaluate import evaluate_all
from viewer.results.records import number_names, records
from viewer.results.spec import TRIALS, Cell, Key, ListSpec, Spec, TableSpec
from viewer.studies.tables import trial_specs
from viewer.writers.table_script import table_script
from viewer.writers.tables import csv_bytes


def trials() -> list[TrialResult]:
    statuses = tuple(Status)
    made = [
        result(
            item(f"{subset}-{split}-{i}"),
            statuses[(i + 2 * len(model)) % len(statuses)],
            condition,
            model,
        )
        for model in ("m", "=second, model")
        for condition in ("plain", "text_only")
        for subset, split in (("PubMed", "val"), ("PubMed", "test"), ("Atlas", "val"))
        for i in range(9 if model == "m" else 4)
    ]
    return [
        replace(one, score=replace(one.score, numbers=(("points", i / 7),)))
        if i % 3
        else one
        for i, one in enumerate(made)
    ]


def as_csv(table: Table) -> str:
    return csv_bytes(table.header, table.rows).decode()


def printed(script: str, folder: Path) -> str:
    path = folder / "table.py"
    path.write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", path], cwd=folder, capture_output=True, check=True
    )
    return done.stdout.decode()


def told_by_items(specs: Sequence[Spec]) -> tuple[Spec, ...]:
    """Return the specifications without chance, which no column of items.csv tells."""
    items, results = specs
    assert isinstance(results, TableSpec)
    cells = tuple(cell for cell in results.cells if cell.names != ("chance",))
    return items, replace(results, cells=cells)


def test_that_the_script_of_the_results_prints_them(tmp_path: Path) -> None:
    specs = told_by_items(trial_specs(number_names(trials())))
    items, results = evaluate_all(specs, {TRIALS: records(trials())})
    (tmp_path / "items.csv").write_text(as_csv(items), encoding="utf-8")
    script = table_script(specs[1], "results", tmp_path / "store", 3)
    assert "viewer" not in script
    assert len(results.rows) == 2 * 2 * (1 + 2 + 2)
    assert printed(script, tmp_path) == as_csv(results)


def test_that_a_view_alone_has_no_rows_of_its_own(tmp_path: Path) -> None:
    some = [one for one in trials() if one.view == "val" and one.model == "m"]
    specs = told_by_items(trial_specs(number_names(some), means=False))
    items, results = evaluate_all(specs, {TRIALS: records(some)})
    (tmp_path / "items.csv").write_text(as_csv(items), encoding="utf-8")
    script = table_script(specs[1], "results", tmp_path / "store", 3)
    assert printed(script, tmp_path) == as_csv(results)


RATES = TableSpec("rates", (Key("model"),), (Cell("share", ("share",), ("correct",)),))


@pytest.mark.parametrize(
    "spec",
    [
        None,
        ListSpec("rates"),
        replace(RATES, frame="answers"),
        replace(RATES, where={"view": ("val",)}),
        replace(RATES, keys=(Key("model", ascending=True),)),
        replace(RATES, cells=(Cell("chance", ("random",), ("options",)),)),
        replace(RATES, cells=(Cell("mean", ("x",), ("a",), against={"model": None}),)),
    ],
)
def test_that_what_needs_overread_calls_it(spec: Spec | None) -> None:
    script = table_script(spec, "rates", Path("it's"), 3)
    assert "run_table(STORE, 3, 'rates')" in script
    compile(script, "rates.py", "exec")
    assert "run_table" not in table_script(RATES, "rates", Path("x"), 3)
