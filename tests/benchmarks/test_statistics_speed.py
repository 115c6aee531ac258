"""How long the statistics of a page take; printed, never asserted."""

import numpy as np
from pytest_benchmark.fixture import BenchmarkFixture

from tests.helpers.paired import paired_comparison
from viewer.metrics.capped_review import capped_review, review_plan
from viewer.metrics.cluster_bootstrap import cluster_bootstrap

PATIENTS, CELLS, ITEMS = 500, 27, 1_225


def _print_milliseconds(benchmark: BenchmarkFixture, what: str) -> None:
    assert benchmark.stats is not None
    print(f"\n{1_000 * benchmark.stats['median']:.0f} ms {what}")


def test_patient_bootstrap_of_27_cells(benchmark: BenchmarkFixture) -> None:
    rng = np.random.default_rng(0)
    trials = rng.integers(0, 3, (PATIENTS, CELLS))
    hits = rng.binomial(trials, 0.6)
    result = benchmark(cluster_bootstrap, hits, trials)
    assert len(result.cells) == CELLS
    _print_milliseconds(benchmark, "10,000 patient draws × 27 cells (budget 1,000)")


def test_comparison_of_two_runs(benchmark: BenchmarkFixture) -> None:
    rng = np.random.default_rng(0)
    first, second = (list(rng.random(ITEMS) < rate) for rate in (0.6, 0.5))
    patients = [f"p{i // 3}" for i in range(ITEMS)]
    result = benchmark(paired_comparison, first, second, patients)
    assert result.table.items == ITEMS
    _print_milliseconds(benchmark, "two runs compared on 1,225 items")


def test_plan_of_a_review(benchmark: BenchmarkFixture) -> None:
    plan = benchmark(lambda: review_plan(capped_review(310, 50, 9)))
    assert plan.worst_case > 0
    _print_milliseconds(benchmark, "plan of a review of 310 misses")
