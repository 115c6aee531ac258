"""Each departure is noted with what really left, also where a server rejects a part."""

import hashlib
import multiprocessing
import sys
import threading
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from tests.helpers.scripted_endpoint import EndpointScript
from tests.helpers.scripted_server import ScriptedServer
from tests.helpers.tiny_study import (
    a_spec,
    count_every_host_as_remote,
    everything_is_remote,
    finish,
    plan_and_finish,
    planned,
)
from viewer.domain.exchange import ModelProfile
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.probe import Verdict
from viewer.readers.pixels import load_pixels
from viewer.services.calibrating.calibrate import calibrate_with_consent
from viewer.services.probing.probe import probe_with_consent
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.store import cases, consents, runs
from viewer.store.database import Store, open_store

_STARTED = "spawn" if sys.platform == "win32" else "forkserver"
SIX = {
    "temperature": 0.5,
    "top_k": 3,
    "min_p": 0.1,
    "repetition_penalty": 1.1,
    "seed": 1,
    "top_p": 0.5,
}


def far_profile(server: ScriptedServer, **settings: object) -> ModelProfile:
    two = {"seed": 1, "top_p": 0.5}
    values = {"base_url": server.base_url, "model": "m", **two, **settings}
    return ModelProfile("far", "openai_api", values)


def with_data_set(store: Store, folder: Path) -> None:
    planned(store, folder, a_spec([ModelProfile("far", "scripted", {"answer": "D4"})]))


def allow(store: Store, server: ScriptedServer) -> None:
    address = server.base_url.removesuffix("/v1")
    consents.add_consent(store, address, None, "a test", granted=True)
    for dataset in cases.dataset_summaries(store):
        for image in cases.dataset_named(store, dataset.name).images:
            sha256 = pixels_sha256(load_pixels(image.ref))
            consents.add_review(store, PixelReview(sha256, ReviewDecision.CLEAN))


def assert_that_all_that_arrived_was_noted(
    store: Store, server: ScriptedServer
) -> None:
    """A body noted may have stayed here, where a part was rejected meanwhile."""
    noted = Counter(departure.body_sha256 for departure in consents.departures(store))
    arrived = Counter(
        hashlib.sha256(received.body).hexdigest() for received in server.script.received
    )
    assert arrived <= noted


def test_that_a_question_put_again_without_a_parameter_departs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = EndpointScript(rejects={"seed": "openai", "top_p": "vllm"})
    with ScriptedServer(script) as server, open_store(tmp_path / "s.sqlite") as store:
        spec = a_spec([far_profile(server)])
        with_data_set(store, tmp_path / "d")
        everything_is_remote(monkeypatch)
        allow(store, server)
        run = plan_and_finish(store, spec)
        counts = runs.run_summary(store, run).counts
        assert not {"provider_error", "pending"} & {*counts}
        assert {n.text.split()[0] for n in runs.run_notes(store, run)} == {
            "seed",
            "top_p",
        }
        assert_that_all_that_arrived_was_noted(store, server)


def test_that_a_probe_puts_its_questions_again_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything_is_remote(monkeypatch)
    path = tmp_path / "s.sqlite"
    script = EndpointScript(rejects={"seed": "ollama", "logprobs": "llama_cpp"})
    with ScriptedServer(script) as server:
        with open_store(path) as store:
            allow(store, server)
        report = probe_with_consent(path, far_profile(server))
        with open_store(path) as store:
            assert_that_all_that_arrived_was_noted(store, server)
    assert report.verdict("seed") is Verdict.NO
    assert report.verdict("logprobs") is Verdict.NO
    assert report.verdict("answers") is Verdict.YES


def test_that_any_number_of_refused_parameters_ends_no_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = EndpointScript(rejects=dict.fromkeys(SIX, "openai"))
    with ScriptedServer(script) as server, open_store(tmp_path / "s.sqlite") as store:
        with_data_set(store, tmp_path / "d")
        everything_is_remote(monkeypatch)
        allow(store, server)
        run = plan_run(store, a_spec([far_profile(server, **SIX)]))
        finish(store, run, BatchOptions(concurrency=1))
        counts = runs.run_summary(store, run).counts
        assert not {"provider_error", "pending"} & {*counts}
        assert len(runs.run_notes(store, run)) == len(SIX)
        assert len(script.received) == len(SIX) + 4
        assert_that_all_that_arrived_was_noted(store, server)


def test_that_processes_learn_of_one_another_what_a_server_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a process that asked knows what another was refused, nor who sends."""
    script = EndpointScript(rejects={"seed": "openai", "top_p": "vllm"})
    with ScriptedServer(script) as server, open_store(tmp_path / "s.sqlite") as store:
        with_data_set(store, tmp_path / "d")
        everything_is_remote(monkeypatch)
        allow(store, server)
        run = plan_run(store, a_spec([far_profile(server, max_tokens=99)]))
        with ProcessPoolExecutor(
            2, multiprocessing.get_context(_STARTED), count_every_host_as_remote
        ) as pool:
            list(run_batch(store, run, BatchOptions(), threading.Event(), pool))
        counts = runs.run_summary(store, run).counts
        assert not {"provider_error", "pending"} & {*counts}
        assert {n.text.split()[0] for n in runs.run_notes(store, run)} == {
            "seed",
            "top_p",
        }
        assert_that_all_that_arrived_was_noted(store, server)


def test_that_a_calibration_puts_its_questions_again_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything_is_remote(monkeypatch)
    path = tmp_path / "s.sqlite"
    script = EndpointScript(rejects=dict.fromkeys(SIX, "openai"))
    with ScriptedServer(script) as server:
        with open_store(path) as store:
            allow(store, server)
        profile = far_profile(server, **SIX, max_tokens=98)
        found = calibrate_with_consent(path, profile, wordings=["grid"])
        with open_store(path) as store:
            assert_that_all_that_arrived_was_noted(store, server)
    assert len(script.received) == len(SIX) + found.asked
    assert found.asked == 16
