"""Several batches over one store ask the same questions; each is bought once."""

import os
import signal
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.helpers.forked import start_program
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import (
    a_spec,
    finish,
    planned,
    prepared_question,
    server_profile,
)
from viewer.domain.answer import Status
from viewer.domain.run import (
    Event,
    ModelStopped,
    OrphanPolicy,
    RunSpec,
    RunWaiting,
    TrialRetried,
)
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.ledger import Ledger
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs, trials
from viewer.store.database import open_store
from viewer.store.saved_replies import ReplyFile

if TYPE_CHECKING:
    import subprocess

PRICES = {"price_in": 1000, "price_out": 1000}
RUN = """
import sys, threading
from pathlib import Path
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.run_batch import run_batch
from viewer.store.database import open_store
with open_store(Path(sys.argv[1])) as store:
    batch = run_batch(store, int(sys.argv[2]), BatchOptions(2), threading.Event())
    for event in batch:
        pass
"""


def plan_again(store_path: Path, spec: RunSpec) -> int:
    with open_store(store_path) as store:
        return plan_run(store, spec, new=True)


def drained(store_path: Path, run: int, **options: object) -> list[Event]:
    with open_store(store_path) as store:
        return finish(store, run, BatchOptions(2, **options))  # type: ignore[arg-type]


def statuses(store_path: Path, run: int) -> Counter[str]:
    with open_store(store_path) as store:
        return Counter(
            {s.value: n for s, n in runs.status_counts(store, run).items() if n}
        )


def asked(server: ScriptedServer) -> Counter[bytes]:
    return Counter(one.body for one in server.script.received)


def wait_for(server: ScriptedServer, n: int) -> None:
    """Wait until a server has received so many questions."""
    while len(server.script.received) < n:
        time.sleep(0.01)


def two_runs(tmp_path: Path, profile_url: str, **settings: object) -> tuple[int, int]:
    spec = a_spec([server_profile(profile_url, **settings)])
    with open_store(tmp_path / "s.sqlite") as store:
        first = planned(store, tmp_path / "d", spec, n=12)
    return first, plan_again(tmp_path / "s.sqlite", spec)


def in_another_process(store_path: Path, run: int) -> "subprocess.Popen[bytes]":
    return start_program(store_path, run, code=RUN)


def test_that_two_batches_at_once_in_one_process_buy_each_reply_once(
    tmp_path: Path,
) -> None:
    store_path = tmp_path / "s.sqlite"
    with ScriptedServer(Script(latency_s=0.05)) as server:
        both = two_runs(tmp_path, server.base_url)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda run: drained(store_path, run), both))
        assert set(asked(server).values()) == {1}
        assert len(asked(server)) == 12
    assert statuses(store_path, both[0]) == statuses(store_path, both[1])
    assert statuses(store_path, both[0]).keys() <= {"scored_correct", "scored_wrong"}


def test_that_a_batch_of_another_process_is_not_asked_in_parallel(
    tmp_path: Path,
) -> None:
    store_path = tmp_path / "s.sqlite"
    with ScriptedServer(Script(latency_s=0.3)) as server:
        first, second = two_runs(tmp_path, server.base_url)
        with in_another_process(store_path, first) as other:
            wait_for(server, 1)
            drained(store_path, second)
            assert other.wait() == 0
        assert set(asked(server).values()) == {1}
        assert len(asked(server)) == 12


@pytest.mark.skipif(sys.platform == "win32", reason="no process can be stopped")
def test_that_a_stopped_process_keeps_its_questions_and_the_others_are_asked(
    tmp_path: Path,
) -> None:
    store_path = tmp_path / "s.sqlite"
    with ScriptedServer(Script(latency_s=0.3)) as server:
        first, second = two_runs(tmp_path, server.base_url)
        with in_another_process(store_path, first) as other:
            wait_for(server, 1)
            os.kill(other.pid, signal.SIGSTOP)
            waited = ""
            with open_store(store_path) as store:
                batch = run_batch(store, second, BatchOptions(2), threading.Event())
                for event in batch:
                    if isinstance(event, RunWaiting) and event.holders:
                        waited = event.words
                        os.kill(other.pid, signal.SIGCONT)
            assert other.wait() == 0
        assert waited.startswith(f"Waiting for process {other.pid} on ")
        assert set(asked(server).values()) == {1}
    assert "pending" not in statuses(store_path, second)


def test_that_one_waiter_takes_over_what_a_killed_process_was_asking(
    tmp_path: Path,
) -> None:
    store_path = tmp_path / "s.sqlite"
    with ScriptedServer(Script(latency_s=0.3)) as server:
        first, second = two_runs(tmp_path, server.base_url)
        spec = a_spec([server_profile(server.base_url)])
        third = plan_again(store_path, spec)
        with in_another_process(store_path, first) as other:
            wait_for(server, 1)
            with ThreadPoolExecutor(2) as pool:
                going = [pool.submit(drained, store_path, r) for r in (second, third)]
                wait_for(server, 4)
                other.kill()
                events = [event for one in going for event in one.result()]
        twice = [n for n in asked(server).values() if n > 1]
        assert set(twice) <= {2}
        assert len(twice) <= 2
        taken_over = [e for e in events if isinstance(e, TrialRetried)]
        assert len(taken_over) >= len(twice)  # some may not have left before the kill
        assert {e.reason for e in taken_over} <= {"orphan"}
    assert "pending" not in statuses(store_path, second) + statuses(store_path, third)


def leave_open(store_path: Path, run: int) -> None:
    """Begin an attempt at the first question of a run, as one does that is killed."""
    with open_store(store_path) as store:
        context = RunContext(
            runs.run_spec(store, run), cases.dataset_of_run(store, run)
        )
        first = runs.trials_in(store, run, [Status.PENDING])[0]
        question = prepared_question(context, first)
        reply_file = ReplyFile(store.path, store.name)
        Ledger(store, context, run, reply_file).begin([question])


@pytest.mark.parametrize(
    ("prices", "policy", "again", "ends"),
    [
        ({}, None, True, ""),
        (PRICES, None, False, "pending"),
        (PRICES, OrphanPolicy.RETRY, True, ""),
        ({}, OrphanPolicy.SKIP, False, "provider_error"),
    ],
)
def test_that_what_the_kill_of_another_run_left_open_follows_the_policy(
    tmp_path: Path,
    prices: dict[str, object],
    policy: OrphanPolicy | None,
    again: bool,
    ends: str,
) -> None:
    store_path = tmp_path / "s.sqlite"
    with ScriptedServer() as server:
        first, second = two_runs(tmp_path, server.base_url, **prices)
        leave_open(store_path, first)
        events = drained(store_path, second, orphans=policy)
        assert len(asked(server)) == (12 if again else 11)
    assert statuses(store_path, second)[ends or "pending"] == (1 if ends else 0)
    stopped = [e for e in events if isinstance(e, ModelStopped)]
    assert bool(stopped) is (ends == "pending")
    with open_store(store_path) as store:
        assert bool(trials.orphans(store, first)) is not again
