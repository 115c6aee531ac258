"""A first question to a model that has to be fetched from a hub: told, stopped, ended.

The hub is on this machine, the model a tiny LLaVA, the worker and the command line the
real ones.
"""

import queue
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.helpers import tiny_vlm
from tests.helpers.forked import start_program
from tests.helpers.hub_server import hub_server
from tests.helpers.tiny_study import a_spec, planned, write_images
from viewer.domain.answer import Status
from viewer.domain.case import ImageRef, View
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import ModelLoading, ModelStopped, RunEnded, RunMark
from viewer.models.catalog import ADAPTERS, missing_dependency
from viewer.services.worker.background import (
    AskCommand,
    BackgroundWorker,
    WorkerEvent,
    WorkerMessage,
)
from viewer.settings import read_settings
from viewer.store import runs
from viewer.store.database import open_store

MISSING = missing_dependency(ADAPTERS["transformers_local"])
pytestmark = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")

SLOW = 150_000.0
"""Bytes a second: the tiny model takes some seconds to come."""
WAIT_S = 600.0
MODEL = {"model": "acme/tiny", "device": "cpu", "max_new_tokens": 4, "download": True}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_vlm.build("llava", tmp_path_factory.mktemp("hub") / "llava")


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process needs to find a hub on this machine, and an empty cache."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    read_settings().models_file.write_text(
        '[[model]]\nname = "tiny"\nadapter = "transformers_local"\n'
        'model = "acme/tiny"\ndevice = "cpu"\nmax_new_tokens = 4\ndownload = true\n'
    )


class Talk:
    """A real worker, and what it tells."""

    def __init__(self, store: Path) -> None:
        self._heard = queue.SimpleQueue[WorkerMessage]()
        self.worker = BackgroundWorker(store, self._heard.put)

    def until(self, wanted: Callable[[object], bool]) -> list[object]:
        """Return the events up to the first that is wanted."""
        events: list[object] = []
        while not events or not wanted(events[-1]):
            message = self._heard.get(timeout=WAIT_S)
            if isinstance(message, WorkerEvent):
                events.append(message.event)
        return events


@pytest.fixture
def talk() -> Iterator[Talk]:
    made = Talk(read_settings().store)
    yield made
    made.worker.close()


def is_downloading(event: object) -> bool:
    """Tell whether an event says that some of a download has come."""
    if not isinstance(event, ModelLoading):
        return False
    return event.part > 0.05 and event.what.startswith("downloading")


def is_end(event: object) -> bool:
    return isinstance(event, RunEnded)


def test_that_a_question_tells_its_download_and_a_hub_that_is_gone_stops_one_model(
    talk: Talk, published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # one worker for both, since each would import torch
    (image,) = sorted(write_images(tmp_path / "d", 1).glob("*_frontal.png"))
    command = AskCommand(ImageRef(image), "Edema", ("tiny",), view=View.FRONTAL)
    with hub_server("acme/tiny", published, SLOW) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub)
        talk.worker.ask(command)
        check_download(talk.until(is_end))
    models = [
        ModelProfile("other", "transformers_local", {**MODEL, "model": "acme/other"}),
        ModelProfile("d4", "scripted", {"answer": "D4"}),
    ]
    with open_store(read_settings().store) as store:
        run = planned(store, tmp_path / "e", a_spec(models), n=2)
    talk.worker.resume(run, 1)
    check_stopped(talk.until(is_end))


def check_download(events: Sequence[object]) -> None:
    """Check that a download is told, and that the question goes on by itself."""
    steps = [event for event in events if isinstance(event, ModelLoading)]
    assert {step.model for step in steps} == {"tiny"}
    kinds = list(dict.fromkeys(step.what.partition(",")[0] for step in steps))
    assert kinds[:2] == ["contacting the hub", "downloading"]
    assert "loading weights" in kinds
    assert steps[-1].what == ""
    downloads = [step for step in steps if step.what.startswith("downloading")]
    assert len(downloads) > 5
    assert downloads[-1].words.startswith("Loading tiny · ")
    assert "MB" in downloads[-1].words
    assert Status.PENDING not in events[-1].counts  # type: ignore[attr-defined]


def check_stopped(events: Sequence[object]) -> None:
    """Check that a model that cannot be fetched leaves the other one be."""
    (stopped,) = [event for event in events if isinstance(event, ModelStopped)]
    assert stopped.model == "other"
    assert "hf download acme/other --local-dir other" in stopped.sentence
    assert "give that folder" in stopped.sentence
    counts = events[-1].counts  # type: ignore[attr-defined]
    assert counts.pop(Status.PENDING) == 2
    assert sum(counts.values()) == 2


@pytest.mark.proof  # stopped and resumed on the command line, and in the hub's own test
@pytest.mark.parametrize("mark", [RunMark.PAUSED, RunMark.CANCELLED])
def test_that_a_batch_stopped_during_its_download_goes_on_with_it(
    talk: Talk,
    published: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mark: RunMark,
) -> None:
    asked = list[str]()
    model = ModelProfile("tiny", "transformers_local", MODEL)
    with open_store(read_settings().store) as store:
        run = planned(store, tmp_path / "d", a_spec([model]), n=2)
    with hub_server("acme/tiny", published, SLOW, asked) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub)
        talk.worker.resume(run, 1)
        talk.until(is_downloading)
        stop = talk.worker.pause if mark is RunMark.PAUSED else talk.worker.cancel
        stop(run)
        (*_, ended) = talk.until(is_end)
        assert isinstance(ended, RunEnded)
        assert ended.cancelled
        assert ended.counts == {Status.PENDING: 2}
        with open_store(read_settings().store) as store:
            assert runs.run_mark(store, run) is mark
        talk.worker.resume(run, 1)
        (*_, done) = talk.until(is_end)
    assert Status.PENDING not in done.counts  # type: ignore[attr-defined]
    weights = [each for each in asked if each.startswith("model.safetensors")]
    assert len(weights) == 2
    assert "bytes=" in weights[1]


@pytest.mark.proof  # the hub's own test stops a download, and told_to_end a command
def test_that_the_command_line_tells_a_download_and_ctrl_c_leaves_it_to_go_on(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (image,) = sorted(write_images(tmp_path / "d", 1).glob("*_frontal.png"))
    asked = list[str]()
    words = ("ask", str(image), "--finding", "Edema", "--view", "frontal")
    ask = partial(start_program, *words, "--model", "tiny", text=True)
    with hub_server("acme/tiny", published, SLOW / 2, asked) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub)
        with ask(stderr=subprocess.PIPE) as first:
            assert first.stderr is not None
            said = [next(first.stderr)]
            while " % · downloading, " not in said[-1]:
                said.append(next(first.stderr))
            first.send_signal(signal.SIGINT)
            said += list(first.stderr)
        assert first.returncode == 1
        assert said[0] == "Loading tiny · contacting the hub\n"
        assert said[-1] == "Stopped; what was downloaded so far is kept.\n"
        assert "Traceback" not in "".join(said)
        with ask(stdout=subprocess.PIPE, stderr=subprocess.PIPE) as again:
            said, told = again.communicate()
    assert "loading weights" in told
    assert "status: " in said
    assert again.returncode == 0
    assert sum(each.startswith("model.safetensors") for each in asked) == 2
