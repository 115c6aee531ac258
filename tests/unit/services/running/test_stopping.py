import math
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.helpers.forked import start_program
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import a_spec, planned, server_profile
from viewer.domain.errors import WrongUseError
from viewer.domain.run import RunEnded
from viewer.services.running import stopping
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.run_batch import run_batch
from viewer.services.running.stopping import Stop, StopSignals
from viewer.settings import DRAIN_VARIABLE, drain_limit_s
from viewer.store import trials
from viewer.store.database import open_store

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
SIGNALLED = """
import sys, time
from viewer.services.running.stopping import Stop, StopSignals
with StopSignals(Stop(), 30.0):
    print("ready", flush=True)
    while True:  # a signal that comes just before a sleep is heard after it
        time.sleep(0.1)
"""


def test_that_a_stop_without_a_limit_is_never_late() -> None:
    stop = Stop()
    assert not stop.is_set()
    stop.request()
    assert stop.is_set()
    assert not stopping.is_late(stop)
    assert not stopping.is_late(threading.Event())


def test_that_the_shortest_limit_holds() -> None:
    stop = Stop()
    stop.request(0.0)
    stop.request(1000.0)
    assert stopping.is_late(stop)


def test_that_a_stop_that_a_signal_asks_for_wakes_who_waits_for_it() -> None:
    stop = Stop()
    threading.Timer(0.05, stop.request).start()
    assert stop.wait()
    assert not Stop().wait(0.01)


@pytest.mark.parametrize("text", ["soon", "-1", "nan"])
def test_that_a_limit_that_is_no_number_of_seconds_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv(DRAIN_VARIABLE, text)
    with pytest.raises(WrongUseError, match="not a number of seconds"):
        drain_limit_s()


def test_that_replies_are_awaited_for_thirty_seconds_unless_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(DRAIN_VARIABLE, raising=False)
    assert drain_limit_s() == 30.0
    monkeypatch.setenv(DRAIN_VARIABLE, "0.5")
    assert drain_limit_s() == 0.5


@posix
@pytest.mark.parametrize(
    ("number", "awaited"), [(signal.SIGINT, math.inf), (signal.SIGTERM, 7.0)]
)
def test_that_a_signal_that_ends_the_process_sets_a_limit_and_ctrl_c_none(
    number: int, awaited: float
) -> None:
    stop, before = Stop(), signal.getsignal(number)
    with StopSignals(stop, 7.0):
        signal.raise_signal(number)
        assert stop.is_set()
        assert stop.left_s == pytest.approx(awaited, abs=7.0)
        assert (stop.left_s == math.inf) is (awaited == math.inf)
    assert signal.getsignal(number) == before


@posix
def test_that_a_hang_up_of_nohup_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert stopping.ending_signals() == (signal.SIGTERM,)
    finally:
        signal.signal(signal.SIGHUP, before)


WRITING = """
import io, sys
from viewer.services.running.stopping import leave_at_once
class Raw(io.RawIOBase):
    def writable(self):
        return True
    def write(self, data):
        leave_at_once(7)  # as a signal does that comes while this is written
sys.stdout = io.TextIOWrapper(io.BufferedWriter(Raw()))
print("some words", flush=True)
"""


def test_that_a_process_in_the_midst_of_a_line_leaves_at_once() -> None:
    with start_program(code=WRITING, stderr=subprocess.PIPE) as process:
        assert process.communicate() == (None, b"")
        assert process.returncode == 7


@posix
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_that_a_second_signal_ends_at_once(second: int) -> None:
    pipe = subprocess.PIPE
    with start_program(code=SIGNALLED, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert "finishing what is in flight, for 30 s" in process.stderr.readline()
        process.send_signal(signal.SIGHUP)  # a hang-up never hurries: it comes twice
        while process.poll() is None:
            process.send_signal(second)
            time.sleep(0.1)
        assert process.returncode == stopping.ENDED_AT_ONCE
        assert process.stderr.readline().startswith("Stopped; ")


def _stop_after(server: ScriptedServer, n: int, stop: Stop) -> None:
    while len(server.script.received) < n:
        time.sleep(0.01)
    stop.request(0.2)


def test_that_what_does_not_come_back_in_time_is_left_open(tmp_path: Path) -> None:
    stop = Stop()
    with (
        ScriptedServer(Script(behaviours=["ok"], default="hang")) as server,
        open_store(tmp_path / "s.sqlite") as store,
    ):
        spec = a_spec([server_profile(server.base_url)])
        run = planned(store, tmp_path / "d", spec, n=6)
        threading.Thread(target=_stop_after, args=(server, 3, stop)).start()
        events = list(run_batch(store, run, BatchOptions(2), stop))
        ended = events[-1]
        assert isinstance(ended, RunEnded)
        assert ended.cancelled
        assert ended.unanswered == 2
        assert len(trials.orphans(store, run)) == 2
