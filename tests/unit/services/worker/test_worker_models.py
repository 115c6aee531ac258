import os
import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.outside_packages import write_package
from viewer.services.worker.background import (
    BackgroundWorker,
    HeldModel,
    WorkerLoading,
    WorkerMessage,
    WorkerReply,
    held_models,
)
from viewer.settings import read_settings

Heard = queue.SimpleQueue[WorkerMessage]
BYTES = 4_100_000_000


@pytest.fixture
def heard() -> Heard:
    return queue.SimpleQueue()


@pytest.fixture
def worker(
    tmp_path: Path, heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BackgroundWorker]:
    package = write_package(tmp_path / "site")
    path = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
    monkeypatch.setenv("PYTHONPATH", path)
    read_settings().models_file.write_text(
        '[[model]]\nname = "quick"\nadapter = "slow"\nseconds = 0.4\n'
        '[[model]]\nname = "endless"\nadapter = "slow"\nseconds = 600\n'
        '[[model]]\nname = "wrong"\nadapter = "slow"\nseconds = "many"\n'
    )
    made = BackgroundWorker(tmp_path / "s.sqlite", heard.put)
    yield made
    made.close()


def until_replied(heard: Heard) -> tuple[list[WorkerLoading], WorkerReply]:
    steps: list[WorkerLoading] = []
    while True:
        message = heard.get(timeout=300)
        if isinstance(message, WorkerReply):
            return steps, message
        assert isinstance(message, WorkerLoading), message
        steps.append(message)


def test_that_a_model_is_loaded_with_its_steps_told_and_unloaded(
    worker: BackgroundWorker, heard: Heard
) -> None:
    number = worker.load_model("quick")
    steps, reply = until_replied(heard)
    assert reply.id == number
    assert held_models(reply) == (HeldModel("quick", "loaded", BYTES),)
    parts = [step.step.part for step in steps]
    assert len(parts) >= 2
    assert parts == sorted(parts)
    assert {(s.step.name, s.step.what) for s in steps} == {("quick", "reading weights")}
    worker.model_states()
    assert held_models(until_replied(heard)[1]) == (
        HeldModel("endless", "unloaded", BYTES),
        HeldModel("quick", "loaded", BYTES),
    )
    worker.unload_model("quick")
    assert held_models(until_replied(heard)[1])[0].state == "unloaded"


def test_that_loading_is_cancelled_and_says_so(
    worker: BackgroundWorker, heard: Heard
) -> None:
    loading = worker.load_model("endless")
    assert isinstance(heard.get(timeout=300), WorkerLoading)
    worker.load_model("endless")
    _, refused = until_replied(heard)
    assert "is already being loaded" in refused.sentence
    cancelling = worker.cancel_load("endless")
    both = [until_replied(heard)[1] for _ in range(2)]
    replies = {reply.id: reply for reply in both}
    assert replies[cancelling].ok == {"cancelling": True}
    assert replies[loading].ok is None
    assert "cancelled" in replies[loading].sentence


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("uniform", "is not held in memory"),
        ("nobody", "No model is named 'nobody'"),
    ],
)
def test_that_what_cannot_be_loaded_is_refused(
    worker: BackgroundWorker, heard: Heard, name: str, what: str
) -> None:
    models = read_settings().models_file
    models.write_text(models.read_text().split('[[model]]\nname = "wrong"')[0])
    worker.load_model(name)
    assert what in until_replied(heard)[1].sentence


def test_that_a_worker_that_loads_ends_at_once_when_the_window_closes(
    worker: BackgroundWorker, heard: Heard
) -> None:
    worker.load_model("endless")
    heard.get(timeout=300)
    process = worker._process
    assert process is not None
    worker.close()
    assert process.wait(300) == 0
