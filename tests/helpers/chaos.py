"""Disturb several runs over one store at random; count what is lost or bought twice.

Run as ``python -m tests.helpers.chaos --folder DIR --rounds 10 --seed 0``: it prints
one JSON object a round. With ``--mounts``, as root under ``unshare --mount``, a round's
disk is a small one of its own that can be full; without that, no disk fills up. Where
there is a C compiler, the clock of a third of the rounds steps.
"""

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from tests.helpers.kill_trial import ROOT, serving
from tests.helpers.tabled import Row, lasting
from tests.helpers.tiny_study import write_images
from viewer.domain.answer import Status
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.reporting.records import items_of_run
from viewer.store import runs
from viewer.store.database import open_store
from viewer.store.locks import is_run_held

QUESTIONS: Final = 200
CONCURRENCY: Final = 4
LATENCY_S: Final = 0.02
HUNG_AFTER_S: Final = 600.0
DISK_MB: Final = 256
COMPILER: Final = shutil.which("cc")
STORE_FILES: Final = ("", "-wal", "-shm")


@dataclass
class Outcome:
    """What a round came to; ``allowed`` is what was in flight at kills."""

    seed: int
    processes: int
    disturbances: list[str] = field(default_factory=list)
    kills: int = 0
    received: int = 0
    bought_twice: int = 0
    allowed: int = 0
    rescued: int = 0
    hung: int = 0
    wrong_results: int = 0
    without_status: int = 0
    tracebacks: int = 0
    seconds: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether nothing was lost, wrong, or bought twice without a kill."""
        faults = self.hung + self.wrong_results + self.without_status + self.tracebacks
        return faults == 0 and self.bought_twice <= self.allowed


@dataclass(frozen=True)
class Material:
    """What all rounds share: a store with the data set, and the undisturbed result."""

    store: Path
    clock: Path | None
    expected: list[Row]


def prepare(folder: Path) -> Material:
    """Import the images into a store, and run once undisturbed."""
    images = write_images(folder / "images", QUESTIONS)
    store = folder / "template.sqlite"
    with open_store(store) as opened:
        import_dataset(opened, "folder", images, "tiny")
    calm = folder / "calm"
    calm.mkdir()
    shutil.copy(store, calm / "s.sqlite")
    with serving(calm / "journal.jsonl", 0.0) as url:
        study = write_study(calm, url, 0)
        words = command(study, calm / "s.sqlite")
        subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return Material(store, built_clock(folder), items(calm / "s.sqlite", 1))


def built_clock(folder: Path) -> Path | None:
    """Compile the clock that steps; None where there is no compiler."""
    if COMPILER is None:
        return None
    source, library = Path(__file__).with_name("stepping_clock.c"), folder / "clock.so"
    words = [COMPILER, "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(words, check=True)
    return library


def write_study(folder: Path, url: str, seed: int) -> Path:
    """Write a study file; the seed makes it a run of its own, with the same keys."""
    path = folder / f"study{seed}.toml"
    path.write_text(
        'study = "grid_localization"\ndataset = "tiny"\nmodels = ["my-server"]\n'
        f"seed = {seed}\n[params]\ngrids = [8]\nside = 64\nfindings = ['Edema']\n"
        '[[model]]\nname = "my-server"\nadapter = "openai_api"\nmodel = "tiny-vlm"\n'
        f'base_url = "{url}"\ntemperature = 0\n'
    )
    return path


def command(study: Path, store: Path, *more: str) -> list[str]:
    """Return the command line of a run."""
    words = [sys.executable, "-m", "viewer", "run", str(study), "--store", str(store)]
    return [*words, "--threads", str(CONCURRENCY), *more]


def items(store: Path, run: int) -> list[Row]:
    """Return a run's items without their keys, which name the server's port."""
    with open_store(store) as opened:
        return lasting(items_of_run(opened, run))


class Round:
    """Two to four processes at work on one store, and what befalls them."""

    def __init__(
        self, folder: Path, material: Material, seed: int, *, mounts: bool
    ) -> None:
        self._mounts = mounts
        self._rng = random.Random(seed)
        self._folder, self._material = folder, material
        self.outcome = Outcome(seed, self._rng.randint(2, 4))
        self._disk = folder / "disk"
        self._store = self._disk / "s.sqlite"
        self._journal = folder / "journal.jsonl"
        self._clock = folder / "clock"
        self._steps_clock = material.clock is not None and seed % 3 == 0
        self._running: list[subprocess.Popen[bytes]] = []
        self._said = folder / "said"
        self._is_lost = False

    def play(self) -> Outcome:
        """Start the processes, disturb them, mend what was done, and look."""
        began = time.monotonic()
        self._said.mkdir()
        disk = small_disk(self._disk, mounts=self._mounts)
        with disk, serving(self._journal, LATENCY_S) as u:
            shutil.copy(self._material.store, self._store)
            studies = [
                write_study(self._folder, u, n) for n in range(self.outcome.processes)
            ]
            for study in studies:
                worker = ["--worker"] if self._rng.random() < 0.5 else []
                self._start(command(study, self._store, *worker))
            for disturb in self._rng.sample(self._choices(), self._rng.randint(2, 3)):
                self._wait_for_progress()
                self.outcome.disturbances.append(disturb.__name__.strip("_"))
                disturb()
            self._wait_for_all()
            self._rescue()
            self._finish(studies)
            self._look()
            if not self.outcome.holds:
                shutil.copytree(self._disk, self._folder / "kept")
        self.outcome.seconds = round(time.monotonic() - began, 1)
        return self.outcome

    def _choices(self) -> list[Callable[[], None]]:
        choices = [
            self._kill,
            self._kill,
            self._terminate,
            self._hang_up,
            self._lock,
            self._delete,
            self._replace,
            self._pause,
        ]
        choices += [self._fill_disk] if self._mounts else []
        return choices + ([self._step_clock] if self._steps_clock else [])

    def _start(self, words: list[str]) -> None:
        env = {**os.environ, "OVERREAD_HOME": str(self._disk / "home")}
        if self._steps_clock:
            env["LD_PRELOAD"] = str(self._material.clock)
            env["CLOCK_OFFSET_FILE"] = str(self._clock)
        said = self._said / f"{len(list(self._said.iterdir()))}.txt"
        with said.open("wb") as file:
            self._running.append(
                subprocess.Popen(
                    words,
                    cwd=ROOT,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            )

    def _wait_for_progress(self) -> None:
        """Wait for some more questions, or until nobody asks any more."""
        enough = self._n_received() + self._rng.randint(1, QUESTIONS // 3)
        while self._n_received() < enough and self._living():
            time.sleep(0.03)
        time.sleep(self._rng.random() * 0.05)

    def _n_received(self) -> int:
        with contextlib.suppress(FileNotFoundError):
            return self._journal.read_bytes().count(b"\n")
        return 0

    def _received(self) -> list[str]:
        lines = self._journal.read_text().splitlines()
        return [json.loads(line)["image_sha256"][0] for line in lines]

    def _living(self) -> list["subprocess.Popen[bytes]"]:
        return [process for process in self._running if process.poll() is None]

    def _victim(self) -> int | None:
        """Return a process that coordinates a run, or the parent that waits for it."""
        found = [process.pid for process in self._living()]
        found += [pid for parent in found for pid in workers_of(parent)]
        return self._rng.choice(found) if found else None

    def _signal(self, number: signal.Signals) -> bool:
        victim = self._victim()
        if victim is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, number)
            return True
        return False

    def _kill(self) -> None:
        if self._signal(signal.SIGKILL):
            self.outcome.kills += 1
            self.outcome.allowed += CONCURRENCY

    def _terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def _hang_up(self) -> None:
        self._signal(signal.SIGHUP)

    def _lock(self) -> None:
        """Hold the write lock, now and then for longer than SQLite waits."""
        with contextlib.closing(sqlite3.connect(self._store, timeout=60)) as other:
            other.isolation_level = None
            other.execute("BEGIN IMMEDIATE")
            time.sleep(self._rng.choice([0.5, 2.0, 7.0]))
            other.execute("ROLLBACK")

    def _fill_disk(self) -> None:
        filler = self._disk / "filler"
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while True:
                file.write(b"\0" * 65_536)
        time.sleep(self._rng.choice([0.5, 2.0]))
        filler.unlink()

    def _delete(self) -> None:
        """Remove the store; a later one has the data set only."""
        with self._all_stopped():
            self.outcome.allowed += self._n_of_ended_runs()
            for suffix in STORE_FILES:
                Path(f"{self._store}{suffix}").unlink(missing_ok=True)
        self._wait_for_all()
        shutil.copy(self._material.store, self._store)

    def _n_of_ended_runs(self) -> int:
        """Return how many replies of runs that nobody is left to save."""
        ended = [run for run in self._runs() if not is_run_held(self._store, run)]
        sql = (
            "SELECT count(*) FROM reply r JOIN attempt a ON a.id = r.attempt_id"
            " JOIN trial t ON t.id = a.trial_id"
            " WHERE t.run_id IN (SELECT value FROM json_each(?))"
        )
        with contextlib.closing(sqlite3.connect(self._store)) as database:
            return int(database.execute(sql, (json.dumps(ended),)).fetchone()[0])

    def _replace(self) -> None:
        """Put a copy of the store in its place, as a restored backup would be."""
        copy = self._disk / "copy.sqlite"
        with self._all_stopped():
            with (
                contextlib.closing(sqlite3.connect(self._store, timeout=60)) as source,
                contextlib.closing(sqlite3.connect(copy)) as target,
            ):
                source.backup(target)
            for suffix in STORE_FILES[1:]:
                Path(f"{self._store}{suffix}").unlink(missing_ok=True)
            copy.replace(self._store)
        self._wait_for_all()

    @contextlib.contextmanager
    def _all_stopped(self) -> Iterator[None]:
        """Stop every process, so that it is known who saw the store last."""
        self._is_lost = True
        pids = [process.pid for process in self._living()] + workers_on(self._store)
        tell_all(pids, signal.SIGSTOP)
        try:
            yield
        finally:
            tell_all(pids, signal.SIGCONT)

    def _pause(self) -> None:
        victim = self._victim()
        if victim is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(victim, signal.SIGSTOP)
            time.sleep(self._rng.choice([0.2, 1.0, 4.0]))
            os.kill(victim, signal.SIGCONT)

    def _step_clock(self) -> None:
        """Set the time of day to tomorrow's, yesterday's, or a little later."""
        self._clock.write_text(self._rng.choice(["86400", "-86400", "5"]))

    def _wait_for_all(self) -> None:
        """Wait for each process, and for workers whose parent was killed."""
        until = time.monotonic() + HUNG_AFTER_S
        while self._living() or workers_on(self._store):
            if time.monotonic() > until:
                self.outcome.hung += 1
                for pid in [p.pid for p in self._living()] + workers_on(self._store):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    def _rescue(self) -> None:
        """Take in what processes could not keep."""
        for path in sorted(self._disk.rglob("*.rescue.jsonl")):
            words = [sys.executable, "-m", "viewer", "rescue", str(path)]
            self._start([*words, "--store", str(self._store)])
            self._wait_for_all()
            self.outcome.rescued += 1
        if self._is_lost:
            words = [sys.executable, "-m", "viewer", "rescue", "--keep-older-copy"]
            self._start([*words, "--store", str(self._store)])
            self._wait_for_all()

    def _finish(self, studies: list[Path]) -> None:
        """Let each run go on to its end, as a person would; three tries are enough."""
        first = [process.returncode for process in self._running[: len(studies)]]
        for study, code in zip(studies, first, strict=True):
            if code == 0 and not self._is_lost:
                continue
            for _ in range(3):
                self._start(command(study, self._store, "--orphans", "retry"))
                self._wait_for_all()
                if self._running[-1].returncode == 0:
                    break

    def _look(self) -> None:
        received = Counter(self._received())
        self.outcome.received = received.total()
        self.outcome.bought_twice = received.total() - len(received)
        texts = [path.read_text(errors="replace") for path in self._said.iterdir()]
        self.outcome.tracebacks = sum(
            "Traceback" in text or "failed unexpectedly" in text for text in texts
        )
        with open_store(self._store) as store:
            last = {runs.run_spec(store, run).seed: run for run in self._runs()}
            for run in last.values():
                counts = runs.status_counts(store, run)
                done = sum(counts.values()) - counts.get(Status.PENDING, 0)
                self.outcome.without_status += abs(QUESTIONS - done)
        missing = self.outcome.processes - len(last)
        found = [items(self._store, run) for run in last.values()]
        wrong = sum(rows != self._material.expected for rows in found)
        self.outcome.wrong_results = wrong + missing

    def _runs(self) -> list[int]:
        with contextlib.closing(sqlite3.connect(self._store)) as database:
            return [row[0] for row in database.execute("SELECT id FROM run ORDER BY 1")]


def tell_all(pids: list[int], number: signal.Signals) -> None:
    """Send a signal to those processes that are still there."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def workers_of(parent: int) -> list[int]:
    """Return the worker processes that a process started."""
    return [pid for pid, words, of in processes() if of == parent and "worker" in words]


def workers_on(store: Path) -> list[int]:
    """Return the worker processes at work on a store."""
    here = str(store)
    return [pid for pid, words, _ in processes() if {"worker", here} <= set(words)]


def processes() -> Iterator[tuple[int, list[str], int]]:
    """Yield each process with its command line and its parent."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().decode(errors="replace")
                status = (folder / "stat").read_text().rpartition(")")[2].split()
                if status[0] != "Z":
                    yield int(folder.name), words.split("\0"), int(status[1])


@contextlib.contextmanager
def small_disk(folder: Path, *, mounts: bool) -> Iterator[None]:
    """Make a folder; mount a small disk on it where this process ``mounts``."""
    folder.mkdir()
    if not mounts:
        yield
        return
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    subprocess.run(words, check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def main() -> int:
    """Play rounds; say how each went; return 1 where one does not hold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mounts", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    material = prepare(given.folder)
    holds = True
    for seed in range(given.seed, given.seed + given.rounds):
        folder = given.folder / f"round{seed}"
        folder.mkdir()
        outcome = Round(folder, material, seed, mounts=given.mounts).play()
        holds &= outcome.holds
        line = json.dumps({**asdict(outcome), "holds": outcome.holds})
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        if outcome.holds:
            shutil.rmtree(folder)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
