import csv
import io
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.tiny_study import D4, UNIFORM, a_spec, finish, planned
from viewer.domain.answer import Status
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.result import Outcome
from viewer.services.inspecting.runs import (
    TrialRow,
    run_list,
    run_table,
    run_table_script,
    trial_rows,
)
from viewer.services.reporting.figures import write_report
from viewer.store.database import open_store

ODD = ModelProfile("mumbles", "scripted", {"answer": "somewhere"})
PARAMS = {"grids": [8, 4]}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "s.sqlite"
    with open_store(path) as opened:
        spec = a_spec([D4, UNIFORM, ODD], params=PARAMS)
        finish(opened, planned(opened, tmp_path / "d", spec, n=6))
    return path


def rows(store: Path, **chosen: str) -> tuple[TrialRow, ...]:
    everything = {"finding": "all", "view": "all", "condition": "all", "model": "all"}
    return trial_rows(store, 1, **{**everything, **chosen})


def test_that_runs_are_listed_newest_first(store: Path, tmp_path: Path) -> None:
    with open_store(store) as opened:
        planned(opened, tmp_path / "d", a_spec([D4]), n=6)
    newest, oldest = run_list(store)
    assert (newest.id, oldest.id) == (2, 1)
    assert newest.counts == {"pending": 6}
    assert oldest.n_planned == 36


def test_that_the_table_is_that_of_results_csv(store: Path, tmp_path: Path) -> None:
    table = run_table(store, 1)
    with open_store(store) as opened:
        write_report(opened, 1, tmp_path / "out")
    written = list(csv.reader(io.StringIO((tmp_path / "out/results.csv").read_text())))
    assert list(table.header) == written[0]
    shown = [["" if v is None else str(v) for v in row] for row in table.rows]
    assert shown == written[1:]


def test_that_the_tables_script_prints_it(store: Path, tmp_path: Path) -> None:
    script = tmp_path / "results.py"
    script.write_text(run_table_script(store, 1))
    with open_store(store) as opened:
        write_report(opened, 1, tmp_path)
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout == (tmp_path / "results.csv").read_bytes()


def test_that_a_table_that_is_not_there_is_refused(store: Path) -> None:
    with pytest.raises(WrongUseError, match=r"has no table 'tab'.*It has items, res"):
        run_table_script(store, 1, "tab")


def test_that_a_new_verdict_changes_the_table(store: Path, tmp_path: Path) -> None:
    with open_store(store) as opened:
        run = planned(opened, tmp_path / "d", a_spec([D4]), n=6)
        before = run_table(store, run)
        finish(opened, run)
    pending = before.header.index("n_pending")
    assert before.rows[0][pending] == 6
    assert run_table(store, run).rows[0][pending] == 0


def test_that_misses_come_first_and_hits_after_the_unreadable(store: Path) -> None:
    def kind(row: TrialRow) -> int:
        if row.score.outcome is Outcome.PARTIAL:
            return 1
        order = [Status.SCORED_WRONG, None, Status.UNPARSED, Status.SCORED_CORRECT]
        return order.index(row.score.status)

    kinds = [kind(row) for row in rows(store)]
    assert kinds == sorted(kinds)
    assert len(kinds) == 36
    assert set(kinds) >= {0, 2}
    assert kinds.count(2) == 12


def test_that_a_rows_trials_are_those_it_counts(store: Path) -> None:
    table = run_table(store, 1)
    at = {name: table.header.index(name) for name in table.header}
    keys = ("finding", "view", "condition", "model")
    for row in table.rows:
        chosen = {key: str(row[at[key]]) for key in keys}
        found = rows(store, **chosen)
        assert len(found) == row[at["n_planned"]], chosen
        hits = Counter(r.score.status for r in found)[Status.SCORED_CORRECT]
        assert hits == row[at["k"]]


def test_that_a_trial_row_leads_to_its_image(store: Path, tmp_path: Path) -> None:
    row = rows(store, model="mumbles", condition="grid=4")[0]
    assert row.places
    assert row.ref is not None
    assert row.ref.path.parent == tmp_path / "d"
    assert row.item == f"{row.ref.path.stem}|Edema"
    assert (row.model, row.condition, row.repeat) == ("mumbles", "grid=4", 0)


def test_that_an_unknown_run_is_refused(store: Path) -> None:
    with pytest.raises(WrongUseError, match="no run 9"):
        run_table(store, 9)
    with pytest.raises(WrongUseError, match="no run 9"):
        trial_rows(store, 9, finding="all", view="all", condition="all", model="all")
