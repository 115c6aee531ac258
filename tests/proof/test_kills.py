"""Nothing that reached us is bought twice, whoever dies and when (Shows 6)."""

import random
from pathlib import Path

import pytest

from tests.helpers.kill_trial import VICTIMS, KillTrial, kill_spec, serving
from tests.helpers.tabled import Row, lasting
from tests.helpers.tiny_study import finish, write_images
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.records import items_of_run
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.store.database import open_store

CONCURRENCY = 4


def items_table(store_path: Path, run: int) -> list[Row]:
    with open_store(store_path) as store:
        return lasting(items_of_run(store, run))


def undisturbed(folder: Path, images: Path, base_url: str) -> list[Row]:
    path = folder / "undisturbed.sqlite"
    with open_store(path) as store:
        import_dataset(store, "folder", images, "tiny")
        run = plan_run(store, kill_spec(base_url))
        finish(store, run, BatchOptions(concurrency=CONCURRENCY))
    return items_table(path, run)


def run_kills(folder: Path, n_items: int, n_kills: int, latency_s: float) -> KillTrial:
    """Kill ``n_kills`` times over as many runs as it takes; check each."""
    images = write_images(folder / "d", n_items)
    rng = random.Random(n_kills)
    kills = 0
    while True:
        round_folder = folder / f"round{kills}"
        round_folder.mkdir()
        journal = round_folder / "journal.jsonl"
        with serving(journal, latency_s) as base_url:
            trial = KillTrial(round_folder, images, base_url, journal, CONCURRENCY)
            while kills < n_kills:
                before = trial.report.kills.total()
                victim = VICTIMS[kills % len(VICTIMS)]
                if not trial.kill_once(victim, rng, n_items // 6):
                    break
                kills += trial.report.kills.total() - before
            assert trial.start().wait() == 0
            trial.wait_until_released()
            with serving(round_folder / "other.jsonl", 0.0) as other:
                expected = undisturbed(round_folder, images, other)
            assert items_table(trial.store_path, trial.run) == expected
            verify(trial)
        if kills >= n_kills:
            return trial


def verify(trial: KillTrial) -> None:
    for line in trial.report.lines():
        print(line)
    assert trial.report.bought_twice == 0
    assert trial.report.sent_again_without_orphan == 0
    assert trial.report.most_sent_again_per_kill <= CONCURRENCY


@pytest.mark.parametrize("n_kills", [3])
def test_that_a_few_kills_buy_nothing_twice(tmp_path: Path, n_kills: int) -> None:
    trial = run_kills(tmp_path, 24, n_kills, 0.05)
    assert 1 <= trial.report.kills.total() <= n_kills


@pytest.mark.proof
def test_that_fifty_kills_of_each_kind_buy_nothing_twice(tmp_path: Path) -> None:
    trial = run_kills(tmp_path, 200, 150, 0.05)
    assert 1 <= trial.report.kills.total() <= 150
