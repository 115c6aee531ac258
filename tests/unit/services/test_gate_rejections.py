"""Each departure is noted with what really left, also where a server rejects a part."""

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.remote import everything_is_remote
from tests.helpers.scripted_endpoint import EndpointScript
from tests.helpers.scripted_server import ScriptedServer
from tests.helpers.tiny_study import a_spec, finish, planned
from viewer.domain.exchange import ModelProfile
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.probe import Verdict
from viewer.readers.pixels import load_pixels
from viewer.services.plan_run import plan_run
from viewer.services.probe import probe_with_consent
from viewer.store import asking, cases, runs
from viewer.store.database import Store, open_store


def far_profile(server: ScriptedServer) -> ModelProfile:
    settings = {"base_url": server.base_url, "model": "m", "seed": 1, "top_p": 0.5}
    return ModelProfile("far", "openai_api", settings)


def allow(store: Store, server: ScriptedServer) -> None:
    address = server.base_url.split("/")[2]
    asking.add_consent(store, address, None, "a test", granted=True)
    for dataset in cases.dataset_summaries(store):
        for image in cases.dataset_named(store, dataset.name).images:
            sha256 = pixels_sha256(load_pixels(image.ref))
            asking.add_review(store, PixelReview(sha256, ReviewDecision.CLEAN))


def assert_that_all_that_arrived_was_noted(
    store: Store, server: ScriptedServer
) -> None:
    """A body noted may have stayed here, where a part was rejected meanwhile."""
    noted = Counter(departure.body_sha256 for departure in asking.departures(store))
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
        planning = ModelProfile("far", "scripted", {"answer": "D4"})
        planned(store, tmp_path / "d", a_spec([planning]))
        everything_is_remote(monkeypatch)
        allow(store, server)
        run = plan_run(store, spec)
        finish(store, run)
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
