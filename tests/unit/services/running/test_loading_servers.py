"""A server that is loading its model is waited for, and nobody has failed."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.ollama_server import SeeingOllama
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import a_spec, finish, planned, server_profile
from viewer.domain.answer import Status
from viewer.domain.run import (
    Event,
    ModelLoading,
    ModelStopped,
    RunEnded,
    TrialDone,
    TrialRetried,
)
from viewer.models import provider_errors
from viewer.models.retry import MAX_ATTEMPTS
from viewer.services.running import progress_events
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.run_batch import run_batch
from viewer.store import runs, usage
from viewer.store.database import Store

_LOADS = MAX_ATTEMPTS + 3
"""More often than a question that fails is asked."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask a server that is loading again after a moment."""
    monkeypatch.setattr(provider_errors, "_LOADING_PAUSE_S", 0.01)


def loads(events: list[Event]) -> Iterator[ModelLoading]:
    return (event for event in events if isinstance(event, ModelLoading))


@pytest.mark.parametrize("says", ["loading", "loading-ollama"])
def test_that_a_run_waits_until_the_model_is_loaded_and_counts_no_failure(
    store: Store, tmp_path: Path, says: str
) -> None:
    with ScriptedServer(Script(behaviours=[says] * _LOADS)) as server:
        run = planned(store, tmp_path / "d", a_spec([server_profile(server.base_url)]))
        events = finish(store, run)
    assert sum(isinstance(event, TrialDone) for event in events) == 4
    assert not any(isinstance(event, TrialRetried) for event in events)
    assert Status.PROVIDER_ERROR not in runs.status_counts(store, run)
    counts = usage.ledger_counts(store, run)
    assert (counts["attempts_loading"], counts["attempts_reply"]) == (_LOADS, 4)
    assert "attempts_error" not in counts
    first, *_, last = loads(events)
    assert first.words == "The server is loading my-server… (0 s)"
    assert last.words == ""


def test_that_only_one_question_at_a_time_asks_whether_it_is_loaded(
    store: Store, tmp_path: Path
) -> None:
    script = Script(behaviours=["loading"] * 60)
    with ScriptedServer(script) as server:
        run = planned(store, tmp_path / "d", a_spec([server_profile(server.base_url)]))
        finish(store, run, BatchOptions(concurrency=4))
    # The others of the first window had left before anything was known.
    assert len(script.received) == 60 + 4


def test_that_a_run_that_waits_for_a_server_ends_at_once_when_cancelled(
    store: Store, tmp_path: Path
) -> None:
    cancel, told = threading.Event(), list[Event]()
    with ScriptedServer(Script(default="loading")) as server:
        run = planned(store, tmp_path / "d", a_spec([server_profile(server.base_url)]))
        for event in run_batch(store, run, BatchOptions(), cancel):
            told.append(event)
            if isinstance(event, ModelLoading):
                cancel.set()
    assert isinstance(told[-1], RunEnded)
    assert told[-1].cancelled
    assert told[-1].counts == {Status.PENDING: 4}


def test_that_a_server_that_never_has_its_model_stops_it_and_fails_no_trial(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_events, "LOADING_LIMIT_S", 0.0)
    with ScriptedServer(Script(default="loading")) as server:
        run = planned(store, tmp_path / "d", a_spec([server_profile(server.base_url)]))
        events = finish(store, run)
    (stopped,) = (event for event in events if isinstance(event, ModelStopped))
    assert "is still loading the model (503: Loading model)" in stopped.sentence
    assert runs.status_counts(store, run) == {Status.PENDING: 4}


def test_that_a_failure_after_the_loading_is_a_failure(
    store: Store, tmp_path: Path
) -> None:
    script = SeeingOllama(behaviours=["loading-ollama"] * 2, default="400")
    with ScriptedServer(script) as server:
        run = planned(store, tmp_path / "d", a_spec([server_profile(server.base_url)]))
        events = finish(store, run)
    assert runs.status_counts(store, run) == {Status.PROVIDER_ERROR: 4}
    assert [*loads(events)][-1].words == ""
