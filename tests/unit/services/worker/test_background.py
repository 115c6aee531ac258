import queue
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import D4, UNIFORM, a_spec, planned, server_profile
from viewer.domain.case import ImageRef, View
from viewer.domain.exchange import ModelProfile
from viewer.domain.image import Window
from viewer.domain.run import (
    RunEnded,
    RunMark,
    RunSpec,
    RunStarted,
    RunStatus,
    TrialDone,
)
from viewer.services.commands import FigureCommand
from viewer.services.inspecting.answers import answers_about
from viewer.services.running.plan_run import plan_run
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


@dataclass(frozen=True)
class Desk:
    """A worker, what it says, and its store with a planned run on four images."""

    store: Path
    images: Path
    heard: Heard
    worker: BackgroundWorker

    def question(
        self, number: int, *models: str, window: Window | None = None
    ) -> AskCommand:
        """Return a question about the image of a number."""
        ref = ImageRef(self.images / f"patient{number:05d}_frontal.png")
        return AskCommand(
            ref, "Edema", models or ("uniform",), "8", View.UNKNOWN, window
        )

    def plan(self, spec: RunSpec) -> int:
        """Plan a run of its own."""
        with open_store(self.store) as opened:
            return plan_run(opened, spec, new=True)

    @property
    def next_run(self) -> int:
        """The number that the next run will have."""
        with open_store(self.store) as opened:
            return len(runs.run_summaries(opened, include_adhoc=True)) + 1


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One worker for all that leaves it idle."""
    folder = tmp_path_factory.mktemp("desk")
    with open_store(folder / "s.sqlite") as opened:
        planned(opened, folder / "d", a_spec([D4]))
    heard = Heard()
    worker = BackgroundWorker(folder / "s.sqlite", heard.put)
    yield Desk(folder / "s.sqlite", folder / "d", heard, worker)
    worker.close()


@pytest.fixture
def heard() -> Heard:
    return queue.SimpleQueue()


@pytest.fixture
def worker(tmp_path: Path, heard: Heard) -> Iterator[BackgroundWorker]:
    """A worker of a test's own, which it may end."""
    made = BackgroundWorker(tmp_path / "s.sqlite", heard.put)
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


def test_that_a_question_is_answered_first_and_its_events_follow(desk: Desk) -> None:
    question, run = desk.question(0), desk.next_run
    number = desk.worker.ask(question)
    assert reply(desk.heard) == WorkerReply(number, {"runs": [run]}, "")
    events = until_the_end(desk.heard)
    assert isinstance(events[0], RunStarted)
    (done,) = [e for e in events if isinstance(e, TrialDone)]
    (answer,) = answers_about(desk.store, question.ref)
    assert answer.trial == done.trial
    assert answer.score == done.score
    assert answer.score.answer


def test_that_each_model_asked_gets_a_run_of_its_own(desk: Desk) -> None:
    question, run = desk.question(1, "uniform", "asymmetry"), desk.next_run
    desk.worker.ask(question)
    assert reply(desk.heard).ok == {"runs": [run, run + 1]}
    until_the_end(desk.heard), until_the_end(desk.heard)
    models = {a.model for a in answers_about(desk.store, question.ref)}
    assert models == {"uniform", "asymmetry"}


def test_that_the_window_on_the_screen_is_what_is_asked_about(desk: Desk) -> None:
    question = desk.question(2, window=Window(90.0, 40.0))
    desk.worker.ask(question)
    reply(desk.heard)
    until_the_end(desk.heard)
    (answer,) = answers_about(desk.store, question.ref)
    assert answer.parameters["window"] == "90 / 40"


def test_that_a_question_that_cannot_be_asked_is_refused_in_a_sentence(
    desk: Desk,
) -> None:
    number = desk.worker.ask(desk.question(99))
    refusal = reply(desk.heard)
    assert (refusal.id, refusal.ok) == (number, None)
    assert refusal.sentence.startswith("patient00099_frontal.png does not exist.")


def test_that_a_batch_is_planned_and_run_and_a_second_time_only_told(
    desk: Desk,
) -> None:
    spec, run = a_spec([UNIFORM], repeats=2), desk.next_run
    for _ in range(2):
        desk.worker.run_batch(spec, 2)
        assert reply(desk.heard).ok == {"run": run, "planned": 8}
        events = until_the_end(desk.heard)
    assert not [e for e in events if isinstance(e, TrialDone)]
    with open_store(desk.store) as opened:
        assert "pending" not in runs.run_summary(opened, run).counts


def test_that_a_cancelled_run_stops_and_goes_on_when_resumed(desk: Desk) -> None:
    heard, worker = desk.heard, desk.worker
    with ScriptedServer(Script(latency_s=0.1)) as server:
        spec = a_spec([server_profile(server.base_url)], repeats=2)
        run = desk.plan(spec)
        worker.run_batch(spec, 1)
        reply(heard)
        heard.get(timeout=300)
        second = worker.run_batch(spec, 1)
        while not isinstance(message := heard.get(timeout=300), WorkerReply):
            continue
        assert (message.id, message.ok) == (second, None)
        assert "already running" in message.sentence
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


def test_that_a_run_held_by_another_is_told_under_its_command(desk: Desk) -> None:
    run = desk.plan(a_spec([D4]))
    with run_lock(desk.store, run, "now"):
        number = desk.worker.resume(run, 1)
        assert reply(desk.heard).ok == {"run": run}
        failure = reply(desk.heard)
    assert (failure.id, failure.ok, failure.run) == (number, None, run)
    assert failure.sentence
    desk.worker.resume(run, 1)
    assert reply(desk.heard).ok == {"run": run}
    until_the_end(desk.heard)


def test_that_an_unknown_run_is_refused(desk: Desk) -> None:
    number = desk.worker.resume(77, 1)
    refusal = reply(desk.heard)
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
    worker.ask(AskCommand(ImageRef(tmp_path / "nowhere.png"), "Edema", ("uniform",)))
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
    desk: Desk, status: RunStatus
) -> None:
    slow = ModelProfile("slow", "scripted", {"answer": "D4", "delay_s": 0.2})
    run, worker, heard = desk.plan(a_spec([slow], repeats=5)), desk.worker, desk.heard
    worker.resume(run, 1)
    reply(heard)
    while not isinstance(heard.get(timeout=300), WorkerEvent):
        continue
    stop = worker.pause if status is RunStatus.PAUSED else worker.cancel
    stop(run)
    ended = [m for m in _until_ended(heard) if isinstance(m, RunEnded)]
    assert ended[0].cancelled
    with open_store(desk.store) as opened:
        stopped = runs.run_summary(opened, run)
    assert stopped.status is status
    assert stopped.counts["pending"]
    worker.resume(run, 4)
    _until_ended(heard)
    with open_store(desk.store) as opened:
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
    desk: Desk, tmp_path: Path
) -> None:
    for ask in (
        desk.worker.figures,
        lambda run: desk.worker.draw_figure(FigureCommand(run, "f")),
        lambda run: desk.worker.write_bundle(run, tmp_path / "run.zip"),
    ):
        asked = ask(77)
        told = reply(desk.heard)
        assert (told.id, told.ok) == (asked, None)
        assert "77" in told.sentence
