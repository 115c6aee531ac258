"""How long the tables of many trials take; printed, never asserted."""

import time

import pytest

from tests.unit.studies.grid_localization.runs import random_run
from viewer.studies.catalog import study_named


@pytest.mark.parametrize(
    ("items", "models", "repeats"),
    [
        (60, ("a", "constant"), 1),
        (300, ("a", "b", "c", "d", "constant"), 2),
    ],
)
def test_the_report_of_a_grid_study(
    items: int, models: tuple[str, ...], repeats: int
) -> None:
    results, spec = random_run(0, items, models, repeats)
    study = study_named("grid_localization")
    study.report(results[:10], spec)
    start = time.process_time()
    report = study.report(results, spec)
    seconds = time.process_time() - start
    print(f"\n{len(results):,} trials: {seconds:.2f} s of processor time")
    (listed,) = (table for table in report.tables if table.name == "items")
    assert len(listed.rows) == len(results)
