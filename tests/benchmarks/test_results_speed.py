"""How long groups of many predictions take; printed, never asserted (M-06)."""

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.helpers.big_store import FINDINGS, big_store
from viewer.services.inspecting.predictions.cases import cases_of
from viewer.services.inspecting.predictions.groups import AT_ONCE, grouped
from viewer.services.inspecting.predictions.tour import Between, disagreements
from viewer.services.inspecting.predictions.view import By, Wanted
from viewer.services.inspecting.runs import trial_rows_at
from viewer.store import flat
from viewer.store.database import open_store

STANDARD = [
    by
    for n in range(1, 4)
    for by in itertools.combinations((By.FINDING, By.MODEL, By.VIEW, By.CONDITION), n)
][:12]
"""The twelve standard groupings: by one, two or three of four properties."""
SIZES = (100_000, 1_000_000)


@pytest.fixture(scope="module", params=SIZES, ids=lambda n: f"{n:,}")
def path(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    made = tmp_path_factory.mktemp("big") / "s.sqlite"
    start = time.perf_counter()
    big_store(made, int(request.param))
    seconds = time.perf_counter() - start
    size = made.stat().st_size / 1e6
    print(f"\n{int(request.param):,} predictions: {seconds:.1f} s, {size:.0f} MB")
    yield made
    made.unlink()


def _print(what: str, seconds: Sequence[float]) -> None:
    ordered = sorted(1_000 * second for second in seconds)
    at = [ordered[round(part * (len(ordered) - 1))] for part in (0.5, 0.95, 1)]
    print(f"  {what}: {at[0]:.0f} ms median, {at[1]:.0f} ms p95, {at[2]:.0f} ms most")


def _timed(
    by: Sequence[By], wanted: Wanted, path: Path, most: float = AT_ONCE
) -> tuple[float, int]:
    """Return how many seconds groups took, and how many predictions they count."""
    start = time.perf_counter()
    view = grouped(path, by, wanted, most=most)
    return time.perf_counter() - start, view.total.n_planned


def _predictions(path: Path, where: str = "1") -> int:
    with open_store(path) as store:
        (row,) = store.rows(f"SELECT count(*) AS n FROM trial WHERE {where}")
    return int(row["n"])


def test_a_filter_never_used_before_under_each_standard_grouping(path: Path) -> None:
    chosen = list(itertools.product(FINDINGS[:3], (f"model{m:02d}" for m in range(3))))
    cold = [
        _timed(by, Wanted(findings=(finding,), models=(model,)), path)
        for by in STANDARD
        for finding, model in chosen
    ]
    every = [_timed(by, Wanted(), path) for by in STANDARD for _ in range(3)]
    _print("a cold filter, 12 groupings (budget 100 ms p95)", [s for s, _ in cold])
    _print("no filter, 12 groupings", [s for s, _ in every])
    whole = [_timed(by, Wanted(), path, math.inf) for by in STANDARD]
    _print("and with every interval", [s for s, _ in whole])
    where = [
        f"finding = '{finding}' AND model = '{model}'" for finding, model in chosen
    ]
    right = [_predictions(path, one) for one in where]
    assert [n for _, n in cold] == right * len(STANDARD)
    assert {n for _, n in every + whole} == {_predictions(path)}


def test_groups_and_filters_of_patients_and_coverage(path: Path) -> None:
    patients = [_timed((By.PATIENT,), Wanted(), path) for _ in range(5)]
    everything = [_timed(tuple(By), Wanted(), path) for _ in range(3)]
    _print("by patient", [s for s, _ in patients])
    _print("by everything", [s for s, _ in everything])
    assert {n for _, n in patients + everything} == {_predictions(path)}
    bounds = [(low / 20, low / 20 + 0.3) for low in range(8)]
    cold = [_timed((By.MODEL,), Wanted(coverage=one), path) for one in bounds]
    _print("a cold range of coverage, by model", [s for s, _ in cold])
    texts = [f"000{digit}" for digit in range(9)]
    cold = [_timed((By.MODEL,), Wanted(patient=one), path) for one in texts]
    _print("a cold text of patients, by model", [s for s, _ in cold])
    right = [_predictions(path, f"patient LIKE '%{text}%'") for text in texts]
    assert [n for _, n in cold] == right


def test_from_a_number_to_its_trials(path: Path) -> None:
    view = grouped(path, (By.FINDING, By.MODEL))
    start = time.perf_counter()
    ids = cases_of(path, view, 7)
    listed = time.perf_counter()
    rows = trial_rows_at(path, ids[:200].tolist())
    assert len(rows) == min(200, len(ids))
    _print(f"the {len(ids):,} trials of a row", [listed - start])
    _print(f"what the film shows of {len(rows)}", [time.perf_counter() - listed])
    for between in (Between.REFERENCE, Between.MODELS):
        start = time.perf_counter()
        n = len(disagreements(path, view, 7, between))
        _print(f"{n:,} disagreements, {between}", [time.perf_counter() - start])


def test_the_flat_table_checked_and_made_anew(path: Path) -> None:
    with open_store(path) as store:
        start = time.perf_counter()
        assert flat.differing(store) == 0
        checked = time.perf_counter()
        n = flat.rebuild(store)
        _print(f"{n:,} rows checked", [checked - start])
        _print("and made anew", [time.perf_counter() - checked])
