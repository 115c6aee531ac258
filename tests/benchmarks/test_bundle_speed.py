"""How long a bundle takes to write and to verify, and how large its page is."""

import time
from pathlib import Path

import pytest

from tests.helpers.bundled_run import bundled_run
from viewer.services.exporting.export_bundle import run_bundle
from viewer.store.database import open_store
from viewer.writers.verify.draws import drawn_rows, named_entropy
from viewer.writers.verify.main import verify


@pytest.mark.proof
def test_what_a_bundle_of_a_hundred_patients_takes(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = bundled_run(
            store,
            tmp_path,
            100,
            grids=[8, 4],
            paper_replicates=1000,
            replicates=10000,
        )
        started = time.perf_counter()
        data = run_bundle(store, run)
    written = time.perf_counter()
    found = verify(data, lambda _: None)
    ended = time.perf_counter()
    assert found.wrong == []
    print(
        f"\na bundle of 100 patients, {len(data) / 1e6:.1f} MB, 10,000 resamples: "
        f"written in {written - started:.0f} s, verified in {ended - written:.0f} s"
    )


def test_how_fast_numbers_are_drawn_in_pure_python() -> None:
    started = time.perf_counter()
    rows = sum(1 for _ in drawn_rows(named_entropy(0, "speed"), 500, 400))
    seconds = time.perf_counter() - started
    assert rows == 400
    print(f"\n{rows * 500 / seconds / 1e6:.1f} million draws per second")
