"""Kill a run at random moments, again and again, and look at what the server saw."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import time
import zlib
from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.helpers.forked import served, start_program
from tests.helpers.tiny_study import a_spec
from viewer.domain.run import RunSpec
from viewer.models.catalog import profile_from_table
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.plan_run import plan_run
from viewer.store.database import open_store

ROOT: Final = Path(__file__).parents[2]
QUIET_LOOKS: Final = 3
VICTIMS: Final = ("worker", "parent", "both")


def serving(journal: Path, latency_s: float) -> AbstractContextManager[str]:
    """Serve answers that depend on the question's bytes; yield the base URL."""
    words = ("--answer-by-hash", "--journal", journal, "--latency", latency_s)
    return served("tests.helpers.scripted_server", *words)


@dataclass
class KillReport:
    """What a series of kills came to."""

    kills: Counter[str] = field(default_factory=Counter)
    bought_twice: int = 0
    sent_again: int = 0
    sent_again_without_orphan: int = 0
    most_sent_again_per_kill: int = 0
    starts: int = 0

    def lines(self) -> list[str]:
        """Return the report for people."""
        return [
            f"kills: {dict(self.kills)}, starts: {self.starts}",
            f"keys with a committed reply received again: {self.bought_twice}",
            f"keys sent again: {self.sent_again}",
            f"of which without an open attempt: {self.sent_again_without_orphan}",
            f"most keys sent again after one kill: {self.most_sent_again_per_kill}",
        ]


class KillTrial:
    """One store, one run of ``n`` items, one journal of what the server received."""

    def __init__(
        self, folder: Path, images: Path, base_url: str, journal: Path, concurrency: int
    ) -> None:
        self.store_path = folder / "killed.sqlite"
        self.study_file = folder / "study.toml"
        self.journal = journal
        self.concurrency = concurrency
        self.report = KillReport()
        self._received_before: Counter[str] = Counter()
        self.spec = kill_spec(base_url)
        self.study_file.write_text(
            'study = "grid_localization"\ndataset = "tiny"\nmodels = ["my-server"]\n'
            "[params]\ngrids = [8]\n[[model]]\n"
            'name = "my-server"\nadapter = "openai_api"\nmodel = "tiny-vlm"\n'
            f'base_url = "{base_url}"\ntemperature = 0\n'
        )
        with open_store(self.store_path) as store:
            import_dataset(store, "folder", images, "tiny")
            self.run = plan_run(store, self.spec)

    def start(self) -> "subprocess.Popen[bytes]":
        """Start ``overread run --worker`` in a process group of its own."""
        self.report.starts += 1
        words = ("run", self.study_file, "--store", self.store_path, "--worker")
        return start_program(
            *(*words, "--threads", self.concurrency),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def kill_once(self, victim: str, rng: random.Random, settle: int) -> bool:
        """Start, wait for progress, kill; return False if the run was done before."""
        answered = self.committed()
        process = self.start()
        enough = len(answered) + rng.randint(0, settle)
        while self.n_committed() < enough and process.poll() is None:
            time.sleep(0.02)
        time.sleep(rng.random() * 0.03)
        finished = process.poll() is not None
        killed = kill(process, victim)
        self.wait_until_released()
        self.report.kills[victim] += killed
        self.check(answered)
        return not finished

    def wait_until_released(self) -> None:
        """Wait until no worker of ours lives: an orphaned one stores and exits."""
        quiet = 0
        while quiet < QUIET_LOOKS:  # a process that is being replaced has no name
            time.sleep(0.05)
            quiet = 0 if living(self.store_path) else quiet + 1

    def committed(self) -> set[str]:
        """Return the keys with a committed reply."""
        with open_store(self.store_path) as store:
            return {r[0] for r in store.rows("SELECT request_sha256 FROM reply")}

    def n_committed(self) -> int:
        """Count the keys with a committed reply, for loops that look all the time.

        Opening a store takes several milliseconds, which the killed program needs.
        """
        with contextlib.closing(sqlite3.connect(self.store_path)) as database:
            rows = database.execute("SELECT count(DISTINCT request_sha256) FROM reply")
            return int(rows.fetchone()[0])

    def open_attempts(self) -> set[str]:
        """Return the keys with more attempts than replies."""
        with open_store(self.store_path) as store:
            return {
                r[0]
                for r in store.rows(
                    "SELECT a.request_sha256 FROM attempt a LEFT JOIN attempt_end e"
                    " ON e.attempt_id = a.id WHERE coalesce(e.outcome, '') <> 'reply'"
                )
            }

    def received(self) -> Counter[str]:
        """Return how often the server received each image; one item is one image."""
        if not self.journal.exists():
            return Counter()
        lines = self.journal.read_text().splitlines()
        return Counter(json.loads(line)["image_sha256"][0] for line in lines)

    def image_of_key(self) -> dict[str, str]:
        """Return each key's image hash, as the store keeps it."""
        with open_store(self.store_path) as store:
            rows = store.rows("SELECT sha256, document FROM request")
        images = {}
        for row in rows:
            document = json.loads(zlib.decompress(row["document"]))
            parts = [p for m in document["messages"] for p in m["parts"]]
            images[row["sha256"]] = next(
                p["image_sha256"] for p in parts if "image_sha256" in p
            )
        return images

    def check(self, answered_before: set[str]) -> None:
        """Compare what the server received with what the store had committed."""
        images, received = self.image_of_key(), self.received()
        new = received - self._received_before
        self._received_before = received
        open_images = {images[key] for key in self.open_attempts()}
        again = [image for image in new if received[image] > 1]
        self.report.bought_twice += sum(
            1 for key in answered_before if new[images[key]] > 0
        )
        self.report.sent_again += len(again)
        self.report.sent_again_without_orphan += sum(
            1 for image in again if image not in open_images
        )
        self.report.most_sent_again_per_kill = max(
            self.report.most_sent_again_per_kill, len(again)
        )


def kill_spec(base_url: str) -> RunSpec:
    """Return the settings of the killed run, as its study file has them."""
    settings = {
        "base_url": base_url,
        "model": "tiny-vlm",
        "temperature": 0.0,
    }
    profile = profile_from_table(
        {"name": "my-server", "adapter": "openai_api", **settings}
    )
    return a_spec([profile])


def living(store_path: Path) -> list[int]:
    """Return the processes at work on a store, one that is just starting too."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if str(store_path).encode() in words:
                found.append(int(folder.name))
    return found


def kill(process: "subprocess.Popen[bytes]", victim: str) -> bool:
    """Kill -9 the worker, its parent, or both; return whether any was alive."""
    children = []
    with contextlib.suppress(OSError):
        listing = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        children = [int(pid) for pid in listing.read_text().split()]
    targets = {
        "worker": children,
        "parent": [process.pid],
        "both": [process.pid, *children],
    }[victim]
    killed = False
    if process.poll() is None:
        for pid in targets:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed = True
    process.wait()
    return killed
