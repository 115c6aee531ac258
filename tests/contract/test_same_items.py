"""In each row of each table a rate and its chance are of the same trials (X-08, X-09).

Estimators are looked over the shoulder while a run of every study is reported, of
which some trials are pending, left out, refused or not readable.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.helpers.bundled_run import bundled_run
from tests.helpers.study_samples import item_run
from viewer.results import evaluate
from viewer.results.estimators import ESTIMATORS, Seen
from viewer.results.spec import Cell, Line, TableSpec
from viewer.services.reporting.report_run import report_data
from viewer.store.database import Store, open_store
from viewer.studies.catalog import OURS, PLACING
from viewer.studies.grid_localization.estimators import GAIN, RANDOM_CELL

BASELINES = {"chance level", "chance", "constant answer", RANDOM_CELL, GAIN}
"""Estimators of what somebody reaches who sees nothing."""
RATES = {"rate", "share", "nested mean of rates"}
"""Estimators of what a model reaches, where they read a verdict."""
VERDICTS = {"correct", "typed_correct"}
COUNTED = ("n_scored", "n_failed", "n_refused", "n_unparsed")
WITHOUT = {
    "replicates": "how one item was answered again and again",
    "absent": "how often a finding that is not there is named, beside the hit rate",
    "vpt_outside_paste": "how many edits cover the finding, beside how many there are",
    "experts": "people, beside whose means the paper's table has chance",
}
"""Tables of rates that have no chance beside them, and why."""


@dataclass
class Row:
    """A row as it is printed, and the trials that each of its cells saw."""

    printed: Mapping[str, object] = field(default_factory=dict)
    cells: list[tuple[Cell, list[str]]] = field(default_factory=list)

    def of(self, *names: str) -> Iterator[tuple[Cell, list[str]]]:
        """Yield the cells of some estimators; rates are those of verdicts."""
        for cell, trials in self.cells:
            is_verdict = {*cell.of[:1]} <= VERDICTS
            if cell.estimator in names and (
                cell.estimator in BASELINES or (is_verdict and cell.of)
            ):
                yield cell, trials

    def random(self) -> Iterator[Cell]:
        """Yield the means of the chance that a random cell hits, known per trial."""
        yield from (cell for cell, _ in self.cells if cell.of == ("random",))

    def counts(self, n: int) -> bool:
        """Tell whether the row prints how many trials were counted."""
        parts = [self.printed.get(name) for name in COUNTED]
        total = sum(x for x in parts if isinstance(x, int))
        return n in self.printed.values() or total == n


Rows = Mapping[str, Sequence[Row]]


def _trials(seen: Seen) -> list[str]:
    """Return the trials that a cell counts, as its frame names them."""
    columns = seen.rows.columns
    names = [n for n in ("item", "case", "pair", "repeat", "level") if n in columns]
    return sorted(map(repr, seen.rows.each(*names)))


def _asked(store: Store, folder: Path, study: str) -> int:
    if study == PLACING:
        return bundled_run(store, folder, n=3, grids=[8, 4], absent_findings=True)
    refusal = "I cannot help with that."
    return item_run(store, folder / "d", study, refuses=refusal, unread="?")


@pytest.fixture(scope="module", params=sorted(OURS))
def rows(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Rows:
    folder, found = tmp_path_factory.mktemp("r"), defaultdict[str, list[Row]](list)
    told = evaluate._Evaluation._of_line

    def of_line(
        self: evaluate._Evaluation, line: Line, about: evaluate.Values
    ) -> Iterator[Sequence[object]]:
        for numbers in told(self, line, about):
            row = Row(dict(zip(self._numbers, numbers, strict=True)))
            for cell in line.cells:
                if not (cell.blank and cell.blank not in about):
                    row.cells.append((cell, _trials(self._seen(cell, about))))
            found[self._spec.name].append(row)
            yield numbers

    with pytest.MonkeyPatch.context() as patch, open_store(folder / "s") as store:
        run = _asked(store, folder, request.param)
        with store.transaction():
            store.execute(
                "UPDATE trial SET status = 'pending', score_id = NULL WHERE id % 5 = 2"
            )
        patch.setattr(evaluate._Evaluation, "_of_line", of_line)
        report = report_data(store, run)
    tables = [spec for spec in report.data.specs if isinstance(spec, TableSpec)]
    assert {spec.name for spec in tables if any(found[spec.name])}
    return found


@pytest.mark.statement("X-08")
def test_that_baselines_are_of_the_trials_that_a_rate_of_the_row_counts(
    rows: Rows,
) -> None:
    looked_at = 0
    for table, of in rows.items():
        for row in of:
            rates = [trials for _, trials in row.of(*RATES, "sum")]
            for cell, trials in row.of(*BASELINES):
                looked_at += 1
                assert trials in rates, (table, cell.names, row.printed)
                assert row.counts(len(trials)), (table, cell.names, row.printed)
    assert looked_at


@pytest.mark.statement("X-09")
def test_that_accuracy_always_stands_beside_chance(rows: Rows) -> None:
    for table, of in rows.items():
        for row in of:
            beside = [*row.of(*BASELINES), *row.random()] or table in WITHOUT
            for cell, _ in row.of(*RATES):
                assert beside, (table, cell.names, row.printed)


@pytest.mark.statement("X-08")
def test_that_pairs_are_counted_wherever_they_are_compared(rows: Rows) -> None:
    for table, of in rows.items():
        for row in of:
            for cell, _ in row.cells:
                if cell.estimator in {"paired change", "change of rates"}:
                    assert "n_pairs" in cell.names, table
                if cell.estimator == "paired difference":
                    assert cell.names[0].startswith("n_"), table


def test_that_what_is_looked_for_has_names_of_estimators() -> None:
    assert {*ESTIMATORS} > RATES
    assert {*ESTIMATORS} >= BASELINES
