"""What few trials can show stands in the report beside their rates."""

import pytest
from scipy import stats

from tests.unit.studies.grid_localization.cases import spec
from tests.unit.studies.grid_localization.runs import FINDINGS, result
from viewer.domain.report import Section
from viewer.studies.catalog import study_named
from viewer.studies.grid_localization.rates import FEW

STUDY = study_named("grid_localization")


def told(n: int, models: tuple[str, ...] = ("a",)) -> list[Section]:
    """Return what is said of ``n`` images whose reference is one cell of 64."""
    results = [
        result(f"p{i}_a", "Edema", 0, (0,), model=model)
        for i in range(n)
        for model in models
    ]
    data = STUDY.report(results, spec(models, findings=list(FINDINGS), replicates=50))
    return [
        s
        for s in data.appendix
        if s.title == "Smallest hit rates that few trials can detect"
    ]


def test_that_ten_items_tell_what_they_can_show_once_for_all_models() -> None:
    (section,) = told(10, ("a", "b"))
    (row,) = section.table.rows
    finding, grid, n, random, hits, rate = map(str, row)
    assert (finding, grid, n) == ("Edema", "8 × 8 grid", "10")
    baseline = stats.binom(10, float(random) / 100)
    assert baseline.sf(int(hits) - 1) <= 0.05 < baseline.sf(int(hits) - 2)
    found = stats.binom(10, float(rate) / 100).sf(int(hits) - 1)
    assert found == pytest.approx(0.8, abs=2e-3)
    assert "exact binomial, one-sided" in section.text


def test_that_many_items_need_no_warning() -> None:
    assert told(FEW)
    assert told(FEW + 1) == []
