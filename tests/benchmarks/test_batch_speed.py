"""What a batch takes besides the model's own time; printed, never asserted.

Every question goes to a real server of this machine, in another process, that answers
after 0.4 seconds. The budget is 10 ms of processor time for a question, and 1.2 times
the time of 640 questions, 32 of them at a time, that take nothing else; 0.8 s for a
command that asks about one case, and 2 s of processor time for a report of 100 trials.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.forked import served
from tests.helpers.tiny_study import a_spec, finish, planned, server_profile
from viewer.domain.answer import Status
from viewer.services.running.batch_options import BatchOptions
from viewer.services.worker.jobs import own_program
from viewer.store import runs
from viewer.store.database import open_store

LATENCY_S = 0.4
QUESTIONS = 640
CASES = 100
STUDY = """
study = "grid_localization"
dataset = "tiny"
preset = "gosai2025"
models = ["server"]

[params]
grids = [8]

[[model]]
name = "server"
adapter = "openai_api"
base_url = "{base_url}"
model = "tiny-vlm"
"""


@pytest.fixture
def base_url() -> Iterator[str]:
    """Serve in another process; yield the base URL."""
    with served("tests.helpers.late_server", LATENCY_S) as url:
        yield url


@pytest.mark.parametrize(("images", "in_flight"), [(640, 32), (40, 32), (40, 128)])
def test_a_batch_of_short_questions(
    tmp_path: Path, base_url: str, images: int, in_flight: int
) -> None:
    spec = a_spec([server_profile(base_url)], repeats=QUESTIONS // images)
    with open_store(tmp_path / "s.sqlite") as store:
        run = planned(store, tmp_path / "d", spec, images)
        began, processor = time.monotonic(), time.process_time()
        finish(store, run, BatchOptions(concurrency=in_flight))
        wall_s, cpu_s = time.monotonic() - began, time.process_time() - processor
        counts = runs.status_counts(store, run)
    assert counts.get(Status.PENDING, 0) == 0
    assert sum(counts.values()) == QUESTIONS
    ideal_s = QUESTIONS / in_flight * LATENCY_S
    print(
        f"\n{QUESTIONS} questions about {images} images, {in_flight} at a time: "
        f"{1000 * cpu_s / QUESTIONS:.1f} ms of processor time each (budget 10 ms), "
        f"{wall_s:.1f} s or {wall_s / ideal_s:.2f} times the least "
        f"(load {os.getloadavg()[0]:.1f})"
    )


def test_commands_about_one_case_and_a_hundred_trials(
    tmp_path: Path, base_url: str
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        planned(store, tmp_path / "d", a_spec([server_profile(base_url)]), CASES)
    study = tmp_path / "study.toml"
    study.write_text(STUDY.format(base_url=base_url), encoding="utf-8")
    for name, words in {
        "a run of one case": ("run", study, "--limit", 1),
        f"a run of {CASES}, 32 at a time": ("run", study, "--threads", 32),
        f"a report of {CASES} trials": ("report", "last", "--out", tmp_path / "report"),
    }.items():
        before, began = os.times(), time.monotonic()
        subprocess.run(
            [*own_program(), *map(str, words), "--store", tmp_path / "s.sqlite"],
            check=True,
            capture_output=True,
        )
        wall_s, after = time.monotonic() - began, os.times()
        cpu_s = sum(after[2:4]) - sum(before[2:4])
        print(
            f"\n{name}: {cpu_s:.2f} s of processor time, {wall_s:.2f} s"
            f" (load {os.getloadavg()[0]:.1f})",
            end="",
        )
    print()
    assert (tmp_path / "report" / "manifest.json").exists()
