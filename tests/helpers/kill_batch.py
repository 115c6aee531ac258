"""Kill a run whose answers come in batches at random moments; see what was bought.

``python -m tests.helpers.kill_batch …`` is the program that is killed: ``overread``,
but for the pauses between two looks and for how long a batch may be missing in a list.
"""

import contextlib
import json
import random
import sqlite3
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import httpx2

from tests.helpers.forked import start_program
from tests.helpers.kill_trial import kill, living
from tests.helpers.tiny_study import a_spec
from viewer.__main__ import main
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.models.catalog import profile_from_table
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running import batch_job, batch_jobs
from viewer.services.running.plan_run import plan_run
from viewer.store import batch_job_rows, runs, spending
from viewer.store.database import open_store

ANSWER_COST: Final = 87
"""Micro-dollars of an answer: 85 tokens and 2 at half the price."""


@dataclass
class BatchKills:
    """What a series of kills came to."""

    kills: int = 0
    billed: int = 0
    bought_twice: int = 0
    files_left: int = 0
    statuses: Counter[str] = field(default_factory=Counter)


class KillBatch:
    """One store, one run of ``n`` items in batches, one journal of what was billed."""

    def __init__(
        self, folder: Path, images: Path, base_url: str, journal: Path, ceiling: int
    ) -> None:
        self.store = folder / "killed.sqlite"
        self.journal, self.ceiling, self.base_url = journal, ceiling, base_url
        self.report = BatchKills()
        with open_store(self.store) as store:
            import_dataset(store, "folder", images, "tiny")
            self.run = plan_run(store, a_spec([batch_profile(base_url)]))
            spending.set_ceiling(store, self.run, ceiling)

    def start(self) -> "subprocess.Popen[bytes]":
        """Start ``overread resume`` in a process group of its own."""
        return start_program(
            *("resume", str(self.run), "--store", self.store),
            module="tests.helpers.kill_batch",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill_once(self, rng: random.Random, longest_s: float) -> bool:
        """Start, wait until anything happens and a bit longer, kill.

        Returns False if the run was done before.
        """
        before, process = self._stamp(), self.start()
        while self._stamp() == before and process.poll() is None:
            time.sleep(0.01)
        time.sleep(rng.random() * longest_s)
        finished = process.poll() is not None
        self.report.kills += kill(process, "both")
        while living(self.store):
            time.sleep(0.02)
        return not finished

    def _stamp(self) -> tuple[int, ...]:
        """Return what changes with every step of a run."""
        tables = ("batch_job_question", "batch_job_event", "reply", "score")
        with contextlib.closing(sqlite3.connect(self.store, timeout=30)) as database:
            counts = (
                database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
                for table in tables
            )
            return tuple(counts)

    def finish(self, tries: int) -> None:
        """Let the run end, which a ceiling may pause several times."""
        for _ in range(tries):
            self.start().wait()
            with open_store(self.store) as store:
                counts = runs.status_counts(store, self.run)
            if not counts.get(Status.PENDING, 0):
                return

    def look(self) -> BatchKills:
        """Compare what was billed with what the store has."""
        lines = self.journal.read_text().splitlines() if self.journal.exists() else []
        billed = Counter(json.loads(line)["image_sha256"][0] for line in lines)
        with open_store(self.store) as store:
            counts = runs.status_counts(store, self.run)
            assert batch_job_rows.unfinished_jobs(store, self.run) == ()
            spent = spending.spent_microusd(store, self.run)
            open_attempts = store.rows(
                "SELECT count(*) FROM attempt a LEFT JOIN attempt_end e"
                " ON e.attempt_id = a.id WHERE e.attempt_id IS NULL"
            )[0][0]
        assert open_attempts == 0
        assert spent == ANSWER_COST * len(lines) <= self.ceiling
        self.report.billed = len(lines)
        self.report.bought_twice = sum(n - 1 for n in billed.values())
        self.report.statuses = Counter({s.value: n for s, n in counts.items()})
        files = httpx2.get(f"{self.base_url}/files").json()["data"]
        self.report.files_left = len(files)
        return self.report


def batch_profile(base_url: str) -> ModelProfile:
    """Return the model of the killed run."""
    table = {
        "base_url": base_url,
        "model": "tiny-vlm",
        "temperature": 0,
        "max_tokens": 10,
        "answers": "batch",
        "price_in": 2,
        "price_out": 2,
    }
    return profile_from_table({"name": "my-server", "adapter": "openai_api", **table})


if __name__ == "__main__":
    vars(batch_job).update(FIRST_LOOK_S=0.05, LONGEST_LOOK_S=0.2)
    vars(batch_jobs).update(SETTLE_S=2.0, CROWDED_S=0.1)
    main()
