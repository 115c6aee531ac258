import hashlib
import json
from pathlib import Path

import pytest

from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import (
    a_spec,
    everything_is_remote,
    plan_and_finish,
    planned,
)
from viewer.domain.exchange import ModelProfile
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.models.coordinates.forms import form_of
from viewer.readers.pixels import load_pixels
from viewer.services.asking.preview import keep_consent, previews_of_batch
from viewer.store import cases, consents, runs
from viewer.store.database import Store, open_store

CORNER = json.dumps({"box": [10, 10, 20, 20], "label": "Edema"})


def call_every_pixel_clean(store: Store) -> None:
    for image in cases.dataset_named(store, "tiny").images:
        sha256 = pixels_sha256(load_pixels(image.ref))
        consents.add_review(store, PixelReview(sha256, ReviewDecision.CLEAN))


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("convention", ["xyxy_1000", "gemini", "grid"])
def test_that_what_is_shown_before_consent_is_what_leaves(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    convention: str,
    *,
    structured: bool,
) -> None:
    path = tmp_path / "s.sqlite"
    with ScriptedServer(Script(answer=CORNER)) as server:
        settings = {"base_url": server.base_url, "model": "m", "convention": convention}
        asked = {**settings, "structured": structured}
        spec = a_spec([ModelProfile("far", "openai_api", asked)])
        here = ModelProfile("far", "scripted", {"answer": "D4"})
        with open_store(path) as store:
            planned(store, tmp_path / "d", a_spec([here]), n=1)
            call_every_pixel_clean(store)
        everything_is_remote(monkeypatch)
        (preview,) = previews_of_batch(path, spec)
        keep_consent(path, preview, for_any=False, unencrypted=True)
        with open_store(path) as store:
            run = plan_and_finish(store, spec)
            counts = runs.run_summary(store, run).counts
        (received,) = server.script.received
    assert hashlib.sha256(received.body).hexdigest() == preview.body_sha256
    assert len(received.body) == preview.body_bytes
    assert not preview.is_encrypted
    body = json.loads(received.body)
    assert preview.text[-1][1] == body["messages"][-1]["content"][-1]["text"]
    assert ("response_format" in body) is structured
    if structured and convention != "grid":
        form = body["response_format"]["json_schema"]["schema"]
        assert form == form_of(convention, "Edema")
    assert counts == {"unparsed" if convention == "grid" else "scored_wrong": 1}
