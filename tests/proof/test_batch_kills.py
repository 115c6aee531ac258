"""Nothing in a provider's batch is bought twice, whoever dies and when."""

import random
from pathlib import Path

import pytest

from tests.helpers.forked import served
from tests.helpers.kill_batch import BatchKills, KillBatch
from tests.helpers.tiny_study import write_images


def run_kills(
    folder: Path, n: int, kills: int, *, takes_s: float, longest_s: float, ceiling: int
) -> BatchKills:
    """Kill a run of ``n`` questions over and over, then let it end.

    A batch takes ``takes_s``; each start is killed within ``longest_s``.
    """
    images, journal = write_images(folder / "d", n), folder / "billed.jsonl"
    rng = random.Random(kills)
    words = ("--journal", journal, "--mixed", "--takes", takes_s)
    with served("tests.helpers.batch_server", *words) as base_url:
        trial = KillBatch(folder, images, base_url, journal, ceiling)
        for _ in range(kills):
            if not trial.kill_once(rng, longest_s):
                break
        trial.finish(50)
        report = trial.look()
    print(report)
    return report


def verify(report: BatchKills, n: int) -> None:
    assert report.bought_twice == report.files_left == 0
    assert report.statuses.total() == n
    assert report.statuses["pending"] == 0
    answered = n - report.statuses["provider_error"]
    assert report.billed == answered
    assert answered > 0


def test_that_a_few_kills_of_batches_buy_nothing_twice(tmp_path: Path) -> None:
    report = run_kills(tmp_path, 12, 3, takes_s=0.5, longest_s=1.0, ceiling=1_000_000)
    verify(report, 12)
    assert report.kills >= 1


@pytest.mark.proof
def test_that_thirty_kills_of_a_thousand_buy_nothing_twice(tmp_path: Path) -> None:
    # each may cost 14,000 micro-dollars as far as is known: not all fit at once
    report = run_kills(
        tmp_path, 1_000, 30, takes_s=4.0, longest_s=0.8, ceiling=4_000_000
    )
    verify(report, 1_000)
    assert report.kills == 30
    assert report.statuses["provider_error"] > 0
