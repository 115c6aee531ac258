"""Several processes on one store, disturbed at random: nothing lost, nothing twice."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.chaos import COMPILER
from tests.helpers.kill_trial import ROOT
from tests.stories.test_full_disk import may_mount

PARTS = 2
ROUNDS = 55


def play(folder: Path, rounds: int, seed: int) -> list[dict[str, Any]]:
    """Play rounds in a process whose mounts are its own; return how each went."""
    words = [sys.executable, "-m", "tests.helpers.chaos", "--folder", str(folder)]
    words += ["--rounds", str(rounds), "--seed", str(seed)]
    if may_mount():
        words = ["unshare", "--mount", *words, "--mounts"]
    done = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(lines) == rounds, done.stdout[-2000:]
    return [json.loads(line) for line in lines]


def count(outcomes: list[dict[str, Any]], name: str) -> int:
    return sum(int(outcome[name]) for outcome in outcomes)


@pytest.mark.proof
@pytest.mark.parametrize("part", range(PARTS))
def test_that_no_disturbance_loses_or_buys_twice(tmp_path: Path, part: int) -> None:
    outcomes = play(tmp_path / "rounds", ROUNDS, part * ROUNDS)
    befell = Counter(name for one in outcomes for name in one["disturbances"])
    print(f"{ROUNDS} stores, {count(outcomes, 'processes')} runs of 200 questions")
    print(f"disturbances: {dict(befell)}")
    print(f"disks could fill: {may_mount()}; clocks could step: {bool(COMPILER)}")
    for name in ("kills", "allowed", "bought_twice", "rescued", "hung"):
        print(f"{name}: {count(outcomes, name)}")
    for name in ("wrong_results", "without_status", "tracebacks"):
        print(f"{name}: {count(outcomes, name)}")
    assert [one for one in outcomes if not one["holds"]] == []
    shutil.rmtree(tmp_path / "rounds")
