"""A batch that is cancelled while a model in this process writes a long answer."""

import threading
import time
from pathlib import Path

import pytest

from tests.helpers import tiny_vlm
from tests.helpers.tiny_study import a_spec, planned
from viewer.domain.answer import Status
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunEnded
from viewer.models.catalog import ADAPTERS, adapter_for, missing_dependency
from viewer.models.loaded import Loadable, LoadState
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.run_batch import run_batch
from viewer.store import runs, trials
from viewer.store.database import open_store

MISSING = missing_dependency(ADAPTERS["transformers_local"])
pytestmark = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")


def profile(folder: Path, tokens: int) -> ModelProfile:
    settings = {"model": str(folder), "device": "cpu", "max_new_tokens": tokens}
    return ModelProfile("local", "transformers_local", settings)


def test_that_a_cancelled_batch_does_not_wait_for_a_long_answer(tmp_path: Path) -> None:
    folder = tiny_vlm.build("llava", tmp_path / "llava")
    cancel, asked = threading.Event(), profile(folder, 3900)
    adapter = adapter_for(asked)
    assert isinstance(adapter, Loadable)
    with open_store(tmp_path / "store.sqlite") as store:
        run = planned(store, tmp_path / "d", a_spec([asked]), n=3)
        threading.Thread(target=_cancel_once_loaded, args=(adapter, cancel)).start()
        events = list(run_batch(store, run, BatchOptions(concurrency=2), cancel))
        assert isinstance(events[-1], RunEnded)
        assert events[-1].cancelled
        # had the answers been awaited, they would be here
        assert runs.status_counts(store, run) == {Status.PENDING: 3}
        assert trials.orphans(store, run) == ()


def _cancel_once_loaded(adapter: Loadable, cancel: threading.Event) -> None:
    while adapter.state is not LoadState.LOADED:
        time.sleep(0.01)
    time.sleep(0.3)
    cancel.set()
