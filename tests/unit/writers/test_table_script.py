"""Scripts of tables print what the tables hold, with pandas alone."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.line_process import ScriptProcess
from tests.helpers.study_samples import STUDIES, item_run
from tests.helpers.tiny_study import tables_of
from tests.unit.studies.pathology_mcq.small import item, result
from viewer.domain.answer import Status
from viewer.domain.report import Table
from viewer.domain.result import TrialResult
from viewer.results.evaluate import evaluate
from viewer.results.records import number_names, records
from viewer.results.spec import TRIALS, Cell, Key, ListSpec, Spec, TableSpec
from viewer.services.inspecting.runs import run_table_script
from viewer.store.database import open_store
from viewer.studies.tables import results_spec
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
        replace(
            one,
            score=replace(one.score, numbers=(("points", i / 7),) if i % 3 else ()),
            gold=json.dumps({"options": ["one", "other", "third"][: 2 + i % 2]}),
        )
        for i, one in enumerate(made)
    ]


def as_csv(table: Table) -> str:
    return csv_bytes(table.header, table.rows).decode()


def rates_of(some: Sequence[TrialResult], spec: Spec, folder: Path) -> Table:
    """Write what is known of some trials as items.csv; return their rates."""
    frames = {TRIALS: records(some)}
    items = as_csv(evaluate(ListSpec("items"), frames))
    (folder / "items.csv").write_text(items, encoding="utf-8")
    return evaluate(spec, frames)


@pytest.fixture(scope="module")
def run_script() -> Iterator[ScriptProcess]:
    """Return a process in which scripts have pandas, and not Overread."""
    with ScriptProcess("pandas", "scipy.stats") as process:
        yield process


def printed(run_script: ScriptProcess, script: str, folder: Path) -> str:
    """Return what a script prints where Overread cannot be imported."""
    (folder / "table.py").write_text(script, encoding="utf-8")
    return run_script(folder / "table.py")


def test_that_the_script_of_the_results_prints_them(
    tmp_path: Path, run_script: ScriptProcess
) -> None:
    spec = results_spec(number_names(trials()))
    results = rates_of(trials(), spec, tmp_path)
    script = table_script(spec, "results", tmp_path / "store", 3)
    assert "viewer" not in script
    assert len(results.rows) == 2 * 2 * (1 + 2 + 2)
    assert printed(run_script, script, tmp_path) == as_csv(results)


def test_that_a_view_alone_has_no_rows_of_its_own(
    tmp_path: Path, run_script: ScriptProcess
) -> None:
    some = [one for one in trials() if one.view == "val" and one.model == "m"]
    spec = results_spec(number_names(some), means=False)
    results = rates_of(some, spec, tmp_path)
    script = table_script(spec, "results", tmp_path / "store", 3)
    assert printed(run_script, script, tmp_path) == as_csv(results)


@pytest.mark.parametrize("study", STUDIES)
def test_that_what_is_copied_prints_the_results_of_a_report(
    study: str, tmp_path: Path, run_script: ScriptProcess
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = item_run(store, tmp_path / "sample", study, second="Answer: B")
        tables = tables_of(store, run)
    (tmp_path / "items.csv").write_text(tables["items.csv"], encoding="utf-8")
    script = run_table_script(tmp_path / "s.sqlite", run)
    found = numbers_in(printed(run_script, script, tmp_path))
    for row, other in zip(found, numbers_in(tables["results.csv"]), strict=True):
        assert row == pytest.approx(other)  # SciPy's quantiles and ours


def numbers_in(table: str) -> Iterator[dict[str, object]]:
    for row in csv.DictReader(io.StringIO(table)):
        yield {
            name: float(text) if text[:1].isdecimal() else text
            for name, text in row.items()
        }


def test_that_chance_is_told_where_every_trial_tells_of_it(
    tmp_path: Path, run_script: ScriptProcess
) -> None:
    some = [replace(one, gold="") if one.view == "val" else one for one in trials()]
    spec = results_spec((), means=False)
    results = rates_of(some, spec, tmp_path)
    script = table_script(spec, "results", tmp_path / "store", 3)
    assert printed(run_script, script, tmp_path) == as_csv(results)
    told = {row["view"]: row["chance"] for row in results.records()}
    assert told["val"] is told["all"] is None
    assert 1 / 3 <= told["test"] <= 1 / 2


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
