import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.forked import run_program, spawn_worker, start_program
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import D4, UNIFORM, a_spec, planned, server_profile
from viewer.domain.answer import Status
from viewer.domain.errors import OverreadError
from viewer.domain.result import Outcome, Score
from viewer.domain.run import (
    Event,
    ModelLoading,
    ModelStopped,
    RunEnded,
    RunStarted,
    RunWaiting,
    TrialDone,
    TrialRetried,
)
from viewer.services.events_json import event_as_json, event_of_json, line
from viewer.services.running.batch_options import BatchOptions
from viewer.services.worker.jobs import run_in_worker, worker_command
from viewer.store import runs, trials
from viewer.store.database import open_store

EVENTS: list[Event] = [
    RunStarted(3, 10, 2),
    TrialDone(
        3,
        7,
        "ümlaut|Edema",
        "grid=8",
        0,
        "m",
        Score(Status.SCORED_CORRECT, "", "D4", 0.6015625, Outcome.FULL),
        "a" * 64,
        reused=False,
        latency_ms=12,
    ),
    TrialDone(
        3,
        8,
        "i",
        "c",
        1,
        "m",
        Score(Status.REFUSED, "text", numbers=(("judge", 4.5),)),
        "",
        reused=True,
        latency_ms=0,
    ),
    TrialRetried(3, 7, "m", "http_429", 0.5),
    ModelLoading(3, "m", 0.48, "downloading, 12.0 of 25.0 MB"),
    RunWaiting(3, "process 77 on ward3 since 08:00"),
    RunWaiting(3, "", store_is_busy=True),
    ModelStopped(3, "m", "The key is refused."),
    RunEnded(3, {Status.PENDING: 1, Status.EXCLUDED: 2}, cancelled=True),
]


def test_that_a_worker_starts_without_what_reads_dicom_or_speaks_http() -> None:
    script = "import sys, viewer.services.worker.worker; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not {"pydicom", "http.client", "ssl"} & set(done.stdout.split())


@pytest.mark.parametrize("event", EVENTS, ids=lambda e: type(e).__name__)
def test_that_an_event_comes_back_from_its_json_line(event: Event) -> None:
    frame = line(event_as_json(event, 4))
    assert frame.endswith(b"\n")
    assert frame.count(b"\n") == 1
    assert event_of_json(json.loads(frame)) == event


@pytest.fixture
def planned_run(tmp_path: Path) -> tuple[Path, int]:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        return path, planned(store, tmp_path / "d", a_spec([D4, UNIFORM]))


def test_that_a_worker_runs_the_batch_and_tells_of_it(
    planned_run: tuple[Path, int],
) -> None:
    path, run = planned_run
    events = list(run_in_worker(path, run, BatchOptions(), threading.Event()))
    assert isinstance(events[0], RunStarted)
    assert isinstance(events[-1], RunEnded)
    assert sum(isinstance(e, TrialDone) for e in events) == 8
    with open_store(path) as store:
        assert Status.PENDING not in runs.status_counts(store, run)


def test_that_a_workers_refusal_reaches_its_parent_as_a_sentence(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path):
        pass
    path.write_bytes(b"no store at all" * 100)
    with pytest.raises(OverreadError, match="not a SQLite file"):
        list(run_in_worker(path, 1, BatchOptions(), threading.Event()))


@pytest.fixture(scope="module")
def worker(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator["subprocess.Popen[bytes]"]:
    """One worker, which no refusal ends, with a store of its own."""
    with open_store(tmp_path_factory.mktemp("worker") / "s.sqlite") as store:
        path = store.path
    with started(path) as process:
        yield process
        process.kill()


def started(store: Path) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    words = worker_command(store)[-3:]
    return start_program(*words, stdin=pipe, stdout=pipe, stderr=pipe)


def tell(process: "subprocess.Popen[bytes]", frame: bytes) -> dict[str, object]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(frame)
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert isinstance(answer, dict)
    return answer


def test_that_a_worker_says_who_it_is(worker: "subprocess.Popen[bytes]") -> None:
    answer = tell(worker, line({"id": 1, "cmd": "hello"}))
    assert answer["id"] == 1
    assert answer["ok"] == {"version": "0.1.0", "pid": worker.pid}


@pytest.mark.parametrize(
    "frame", [b"not json\n", b"[1, 2]\n", b'{"id": 1}\n', b'{"cmd": "dance"}\n', b"\n"]
)
def test_that_a_line_that_is_no_command_is_answered_and_not_the_end(
    worker: "subprocess.Popen[bytes]", frame: bytes
) -> None:
    refusal = tell(worker, frame)["error"]
    assert isinstance(refusal, dict)
    assert "not a known command" in refusal["what"]
    assert "ok" in tell(worker, line({"id": 2, "cmd": "hello"}))


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ({"cmd": "ask", "finding": 3}, "'finding' in the command must be text"),
        (
            {"cmd": "batch", "spec": 3, "concurrency": 1},
            "'spec' in the command must be a table",
        ),
        ({"cmd": "batch", "spec": {}}, "'spec.study' is missing in the command"),
        ({"cmd": "run", "run": 99, "options": {}}, "There is no run 99"),
    ],
)
def test_that_a_command_with_odd_arguments_is_refused(
    worker: "subprocess.Popen[bytes]", command: dict[str, object], what: str
) -> None:
    answer = tell(worker, line({"id": 5, **command}))
    assert answer["id"] == 5
    assert isinstance(answer["error"], dict)
    assert what in answer["error"]["what"]


def test_that_a_worker_ends_with_its_input(tmp_path: Path) -> None:
    with started(tmp_path / "s.sqlite") as worker:
        assert worker.stdin is not None
        worker.stdin.close()
        assert worker.wait(300) == 0


def test_that_a_worker_whose_parent_is_gone_stores_what_is_in_flight(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    with ScriptedServer(Script(default="held")) as server:
        with open_store(path) as store:
            spec = a_spec([server_profile(server.base_url)])
            run = planned(store, tmp_path / "d", spec, n=12)
        process = spawn_worker(path)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(
            line({"id": 1, "cmd": "run", "run": run, "options": {"concurrency": 3}})
        )
        process.stdin.flush()
        while not server.script.received:
            time.sleep(0.01)
        process.stdin.close()
        process.stdout.close()
        time.sleep(0.5)  # until it will have heard
        server.script.release()
        assert process.wait(300) == 0
        sent = len(server.script.received)
    with open_store(path) as store:
        counts = runs.status_counts(store, run)
        assert trials.orphans(store, run) == ()
    assert 0 < sent < 12
    assert counts[Status.PENDING] == 12 - sent


def test_that_no_library_can_write_into_the_stream() -> None:
    code = (
        "import os, sys; from viewer.services.worker import worker\n"
        "stream = worker._private_stdout()\n"
        "print('a library talks'); os.write(1, b'so does C code\\n')\n"
        "sys.stdout.flush(); stream.write(b'{}\\n')\n"
    )
    done = run_program(code=code)
    assert done.stdout == "{}\n"
    assert "a library talks" in done.stderr
    assert "so does C code" in done.stderr
