import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import D4, UNIFORM, a_spec, planned, server_profile
from viewer.domain.case import ImageRef, View
from viewer.domain.exchange import ModelProfile
from viewer.domain.image import Window
from viewer.domain.run import RunEnded, RunMark, RunStarted, RunStatus, TrialDone
from viewer.services.commands import FigureCommand
from viewer.services.inspecting.answers import answers_about
from viewer.services.worker.background import (
    AskCommand,
    BackgroundWorker,
    WorkerDied,
    WorkerEvent,
    WorkerMessage,
    WorkerReply,
)
from viewer.store import runs
from viewer.store.database import open_store
from viewer.store.locks import run_lock

Heard = queue.SimpleQueue[WorkerMessage]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "s.sqlite"


@pytest.fixture
def heard() -> Heard:
    return queue.SimpleQueue()


@pytest.fixture
def worker(store: Path, heard: Heard) -> Iterator[BackgroundWorker]:
    made = BackgroundWorker(store, heard.put)
    yield made
    made.close()


def reply(heard: Heard) -> WorkerReply:
    message = heard.get(timeout=300)
    assert isinstance(message, WorkerReply)
    return message


def until_the_end(heard: Heard) -> list[object]:
    events: list[object] = []
    while not events or not isinstance(events[-1], RunEnded):
        message = heard.get(timeout=300)
        assert isinstance(message, WorkerEvent), message
        events.append(message.event)
    return events


def a_question(folder: Path, *models: str, window: Window | None = None) -> AskCommand:
    ref = ImageRef(folder / "patient00000_frontal.png")
    return AskCommand(ref, "Edema", models or ("uniform",), "8", View.UNKNOWN, window)


def test_that_a_question_is_answered_first_and_its_events_follow(
    store: Path, heard: Heard, worker: BackgroundWorker, tmp_path: Path
) -> None:
    with open_store(store) as opened:
        planned(opened, tmp_path / "d", a_spec([D4]))
    number = worker.ask(a_question(tmp_path / "d"))
    assert reply(heard) == WorkerReply(number, {"runs": [2]}, "")
    events = until_the_end(heard)
    assert isinstance(events[0], RunStarted)
    (done,) = [e for e in events if isinstance(e, TrialDone)]
    (answer,) = answers_about(store, a_question(tmp_path / "d").ref)
    assert answer.trial == done.trial
    assert answer.score == done.score
    assert answer.score.answer


def test_that_each_model_asked_gets_a_run_of_its_own(
    store: Path, heard: Heard, worker: BackgroundWorker, tmp_path: Path
) -> None:
    with open_store(store) as opened:
        planned(opened, tmp_path / "d", a_spec([D4]))
    worker.ask(a_question(tmp_path / "d", "uniform", "asymmetry"))
    assert reply(heard).ok == {"runs": [2, 3]}
    until_the_end(heard), until_the_end(heard)
    models = {a.model for a in answers_about(store, a_question(tmp_path / "d").ref)}
    assert models == {"uniform", "asymmetry"}


def test_that_the_window_on_the_screen_is_what_is_asked_about(
    store: Path, heard: Heard, worker: BackgroundWorker, tmp_path: Path
) -> None:
    with open_store(store) as opened:
        planned(opened, tmp_path / "d", a_spec([D4]))
    worker.ask(a_question(tmp_path / "d", window=Window(90.0, 40.0)))
    reply(heard)
    until_the_end(heard)
    (answer,) = answers_about(store, a_question(tmp_path / "d").ref)
    assert answer.parameters["window"] == "90 / 40"


def test_that_a_question_that_cannot_be_asked_is_refused_in_a_sentence(
    heard: Heard, worker: BackgroundWorker, tmp_path: Path
) -> None:
    number = worker.ask(a_question(tmp_path / "nowhere"))
    refusal = reply(heard)
    assert (refusal.id, refusal.ok) == (number, None)
    assert refusal.sentence.startswith("patient00000_frontal.png is not there.")


def test_that_a_batch_is_planned_and_run_and_a_second_time_only_told(
    store: Path, heard: Heard, worker: BackgroundWorker, tmp_path: Path
) -> None:
    with open_store(store) as opened:
        planned(opened, tmp_path / "d", a_spec([D4]))
    spec = a_spec([UNIFORM], repeats=2)
    for _ in range(2):
        worker.run_batch(spec, 2)
        assert reply(heard).ok == {"run": 2, "planned": 8}
        events = until_the_end(heard)
    assert not [e for e in events if isinstance(e, TrialDone)]
    with open_store(store) as opened:
        assert "pending" not in runs.run_summary(opened, 2).counts


def test_that_a_cancelled_run_stops_and_goes_on_when_resumed(
    store: Path, heard: Heard, worker: BackgroundWorker, tmp_path: Path
) -> None:
    with ScriptedServer(Script(latency_s=0.1)) as server:
        with open_store(store) as opened:
            spec = a_spec([server_profile(server.base_url)])
            run = planned(opened, tmp_path / "d", spec, n=8)
        worker.run_batch(spec, 1)
        reply(heard)
        heard.get(timeout=300)
        second = worker.run_batch(spec, 1)
        while not isinstance(message := heard.get(timeout=300), WorkerReply):
            continue
        assert (message.id, message.ok) == (second, None)
        assert "going on already" in message.sentence
        worker.cancel(run)
        while not isinstance(heard.get(timeout=300), WorkerReply):
            continue
        ended = until_the_end(heard)[-1]
        assert isinstance(ended, RunEnded)
        assert ended.cancelled
        worker.resume(run, 4)
        assert reply(heard).ok == {"run": run}
        done = until_the_end(heard)[-1]
    assert isinstance(done, RunEnded)
    assert sum(done.counts.values()) == 8
    assert "pending" not in done.counts


def test_that_a_run_held_by_another_is_told_under_its_command(
    store: Path, heard: Heard, worker: BackgroundWorker, tmp_path: Path
) -> None:
    with open_store(store) as opened:
        run = planned(opened, tmp_path / "d", a_spec([D4]))
    with run_lock(store, run, "now"):
        number = worker.resume(run, 1)
        assert reply(heard).ok == {"run": run}
        failure = reply(heard)
    assert (failure.id, failure.ok, failure.run) == (number, None, run)
    assert failure.sentence
    worker.resume(run, 1)
    assert reply(heard).ok == {"run": run}
    until_the_end(heard)


def test_that_an_unknown_run_is_refused(heard: Heard, worker: BackgroundWorker) -> None:
    number = worker.resume(77, 1)
    refusal = reply(heard)
    assert (refusal.id, refusal.ok) == (number, None)
    assert "no run 77" in refusal.sentence


def test_that_a_worker_that_dies_is_told_once_and_replaced(
    heard: Heard, worker: BackgroundWorker, tmp_path: Path
) -> None:
    worker.start()
    process = worker._process
    assert process is not None
    process.kill()
    message = heard.get(timeout=300)
    assert isinstance(message, WorkerDied)
    assert "ended unexpectedly" in message.sentence
    worker.ask(a_question(tmp_path / "nowhere"))
    assert reply(heard).ok is None


def test_that_a_closed_worker_ends_without_a_word(
    heard: Heard, worker: BackgroundWorker
) -> None:
    worker.start()
    process = worker._process
    assert process is not None
    worker.close()
    assert process.wait(300) == 0
    assert heard.empty()


def test_that_nobody_hears_what_a_closed_worker_still_says(
    heard: Heard, worker: BackgroundWorker
) -> None:
    worker.start()
    worker.close()
    worker._tell({"id": 1, "ok": {}})
    assert heard.empty()


@pytest.mark.parametrize("status", [RunStatus.PAUSED, RunStatus.CANCELLED])
def test_that_a_run_is_stopped_as_wished_and_goes_on_when_resumed(
    store: Path,
    heard: Heard,
    worker: BackgroundWorker,
    tmp_path: Path,
    status: RunStatus,
) -> None:
    slow = ModelProfile("slow", "scripted", {"answer": "D4", "delay_s": 0.2})
    with open_store(store) as opened:
        run = planned(opened, tmp_path / "d", a_spec([slow], repeats=5))
    worker.resume(run, 1)
    reply(heard)
    while not isinstance(heard.get(timeout=300), WorkerEvent):
        continue
    stop = worker.pause if status is RunStatus.PAUSED else worker.cancel
    stop(run)
    ended = [m for m in _until_ended(heard) if isinstance(m, RunEnded)]
    assert ended[0].cancelled
    with open_store(store) as opened:
        stopped = runs.run_summary(opened, run)
    assert stopped.status is status
    assert stopped.counts["pending"]
    worker.resume(run, 4)
    _until_ended(heard)
    with open_store(store) as opened:
        summary = runs.run_summary(opened, run)
        assert runs.run_mark(opened, run) is RunMark.RESUMED
    assert summary.status is RunStatus.FINISHED
    assert "pending" not in summary.counts


def _until_ended(heard: Heard) -> list[object]:
    """Return the events up to the end of a run, replies left out."""
    events: list[object] = []
    while not events or not isinstance(events[-1], RunEnded):
        message = heard.get(timeout=300)
        events += [message.event] if isinstance(message, WorkerEvent) else []
    return events


def test_that_what_is_asked_of_a_worker_that_is_ending_is_lost_without_a_word(
    worker: BackgroundWorker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viewer.services.worker.background._PATIENCE_S", 0.0)
    worker.start()
    worker.close()
    assert worker.draw_figure(FigureCommand(1, "fig1")) > 0


def test_that_figures_and_bundles_of_an_unknown_run_are_refused(
    heard: Heard, worker: BackgroundWorker, tmp_path: Path
) -> None:
    for ask in (
        worker.figures,
        lambda run: worker.draw_figure(FigureCommand(run, "f")),
        lambda run: worker.write_bundle(run, tmp_path / "run.zip"),
    ):
        asked = ask(7)
        told = reply(heard)
        assert (told.id, told.ok) == (asked, None)
        assert "7" in told.sentence
