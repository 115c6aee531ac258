import multiprocessing
import socket
import time
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.helpers.tiny_study import a_spec, planned
from viewer.domain.answer import Status
from viewer.store import claims, runs, trials
from viewer.store.claims import LEASE
from viewer.store.database import Store
from viewer.store.locks import is_run_held, run_lock

SHA = "e" * 64


@pytest.fixture
def run(store: Store, tmp_path: Path) -> int:
    return planned(store, tmp_path / "d", a_spec())


def begin(store: Store, run: int, coordinator: int | None) -> int:
    trial = runs.trials_in(store, run, [Status.PENDING])[0]
    record = trials.RequestRecord(SHA, {"messages": []}, "p", {}, {})
    with store.transaction():
        trials.keep_requests(store, [record])
        return trials.begin_attempt(store, trial.id, SHA, coordinator)


def holder(store: Store) -> str:
    (attempt,) = claims.open_attempts(store, SHA)
    return str(claims.holder_of(store, attempt) or "")


def as_of(
    monkeypatch: pytest.MonkeyPatch, *, host: str = "", at: datetime | None = None
) -> None:
    if host:
        monkeypatch.setattr(socket, "gethostname", lambda: host)
    if at is not None:
        monkeypatch.setattr("viewer.store.trials.utc_now", at.isoformat)


def test_that_an_attempt_is_a_claim_until_it_ends(store: Store, run: int) -> None:
    with run_lock(store.path, run, "now"):
        attempt = begin(store, run, claims.add_coordinator(store, run))
        assert holder(store).startswith("process ")
        with store.transaction():
            trials.close_orphan(store, attempt)
        assert claims.open_attempts(store, SHA) == ()


def test_that_a_claim_ends_with_the_lock_however_young_it_is(
    store: Store, run: int
) -> None:
    with run_lock(store.path, run, "now"):
        begin(store, run, claims.add_coordinator(store, run))
    assert holder(store) == ""


def test_that_a_claim_of_this_machine_does_not_end_by_time(
    store: Store, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_of(monkeypatch, at=datetime(2000, 1, 1, tzinfo=UTC))
    with run_lock(store.path, run, "now"):
        begin(store, run, claims.add_coordinator(store, run))
        assert holder(store) != ""


@pytest.mark.parametrize(("ago", "held"), [(LEASE / 2, True), (2 * LEASE, False)])
def test_that_a_claim_of_another_machine_ends_by_time_where_no_lock_is_seen(
    store: Store, run: int, monkeypatch: pytest.MonkeyPatch, ago: object, held: bool
) -> None:
    with monkeypatch.context() as there:
        as_of(there, host="elsewhere", at=datetime.now(UTC) - ago)  # type: ignore[operator]
        begin(store, run, claims.add_coordinator(store, run))
    assert bool(holder(store)) is held


def test_that_who_coordinates_a_run_now_holds_no_attempt_of_one_before(
    store: Store, run: int
) -> None:
    begin(store, run, claims.add_coordinator(store, run))
    with run_lock(store.path, run, "now"):
        claims.add_coordinator(store, run)
        assert holder(store) == ""


def test_that_nobody_holds_an_attempt_of_before_claims_were_noted(
    store: Store, run: int
) -> None:
    begin(store, run, None)
    with run_lock(store.path, run, "now"):
        assert holder(store) == ""


def test_that_an_orphan_is_closed_once_whoever_closes_it(
    store: Store, run: int
) -> None:
    attempt = begin(store, run, None)
    with store.transaction():
        trials.close_orphan(store, attempt)
        trials.close_orphan(store, attempt)
    assert trials.orphans(store, run) == ()


def test_that_a_look_at_a_lock_never_refuses_who_takes_it(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    assert not is_run_held(store, 1)
    with run_lock(store, 1, "now"):
        assert is_run_held(store, 1)
        assert is_run_held(store, 1)
    assert not is_run_held(store, 1)


def _tell_and_stay(told: Connection) -> None:
    told.send("forked")
    time.sleep(60)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="nothing is forked"
)
@pytest.mark.filterwarnings("ignore:This process.*:DeprecationWarning")
def test_that_a_forked_process_does_not_keep_a_lock(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite"
    forking = multiprocessing.get_context("fork")
    heard, told = forking.Pipe()
    with run_lock(store, 1, "now"):
        child = forking.Process(target=_tell_and_stay, args=(told,))
        child.start()
        assert heard.recv() == "forked"
    assert not is_run_held(store, 1)
    child.kill()
    child.join()
    heard.close()
    told.close()
