"""Questions about items leave this machine only with images that were looked at."""

import base64
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.helpers.quiz_study import Quiz, quiz_in_catalog, quiz_spec, registered
from tests.helpers.scripted_server import Received, ScriptedServer
from tests.helpers.tiny_study import everything_is_remote, finish, plan_and_finish
from viewer.domain.answer import Status
from viewer.domain.errors import PrivacyError
from viewer.domain.exchange import ImagePart, ModelProfile
from viewer.domain.geometry import BoxPx
from viewer.domain.image import Raster
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.run import ModelStopped
from viewer.imaging.png import decode_png, encode_png
from viewer.readers.pixels import load_pixels
from viewer.services.asking.preview import keep_consent, previews_of_batch
from viewer.services.running.plan_run import plan_run
from viewer.store import cases, consents, runs
from viewer.store.database import Store, open_store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    everything_is_remote(monkeypatch)
    with quiz_in_catalog(), open_store(tmp_path / "s.sqlite") as opened:
        registered(opened, tmp_path / "pictures")
        yield opened


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def far(server: ScriptedServer) -> ModelProfile:
    settings = {"base_url": server.base_url, "model": "tiny-vlm"}
    return ModelProfile("far", "openai_api", settings)


def allow(store: Store, server: ScriptedServer) -> None:
    address = server.base_url.removesuffix("/v1")
    consents.add_consent(store, address, "quizzes", "questions", granted=True)


def decide(store: Store, image: int, decision: ReviewDecision, *boxes: BoxPx) -> None:
    ref = cases.dataset_named(store, "quizzes").images[image].ref
    sha256 = pixels_sha256(load_pixels(ref))
    consents.add_review(store, PixelReview(sha256, decision, boxes))


def sent_images(received: Received) -> list[bytes]:
    found = re.findall(rb"base64,([A-Za-z0-9+/=]+)", received.body)
    return [base64.b64decode(data) for data in found]


def test_that_every_image_of_a_question_leaves_once_it_was_looked_at(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    for image in range(3):
        decide(store, image, ReviewDecision.CLEAN)
    plan_and_finish(store, quiz_spec([far(server)]))
    assert sorted(len(sent_images(one)) for one in server.script.received) == [0, 1, 2]
    two = next(o for o in server.script.received if len(sent_images(o)) == 2)
    dataset = cases.dataset_named(store, "quizzes")
    native = [load_pixels(image.ref).size for image in dataset.images[:2]]
    assert [decode_png(png).size for png in sent_images(two)] == native
    assert len(consents.departures(store)) == 3


def test_that_one_image_that_may_not_leave_keeps_its_question_here(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    decide(store, 0, ReviewDecision.CLEAN)
    decide(store, 1, ReviewDecision.BLOCKED)
    decide(store, 2, ReviewDecision.CLEAN)
    run = plan_run(store, quiz_spec([far(server)]))
    events = finish(store, run)
    told = [event.sentence for event in events if isinstance(event, ModelStopped)]
    assert "decided that it may not leave" in told[0]
    assert sorted(len(sent_images(one)) for one in server.script.received) == [0, 1]
    pending = runs.trials_in(store, run, [Status.PENDING])
    assert [stored.trial.item for stored in pending] == ["two"]


def test_that_what_a_person_blacked_out_is_black_in_every_image(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    for image in range(3):
        decide(store, image, ReviewDecision.BLACKED_OUT, BoxPx(0, 0, 30, 10))
    finish(store, plan_run(store, quiz_spec([far(server)])))
    sent = [png for one in server.script.received for png in sent_images(one)]
    assert len(sent) == 3
    assert all((decode_png(png).pixels[:10] == 0).all() for png in sent)


def test_that_nothing_of_a_restricted_data_set_leaves_not_even_its_text(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    consents.set_restricted(store, "quizzes", restricted=True)
    with pytest.raises(PrivacyError, match="'quizzes' is restricted"):
        plan_run(store, quiz_spec([far(server)], images=False))
    assert server.script.received == []


def test_that_a_judge_elsewhere_needs_consent_before_anything_is_planned(
    store: Store, server: ScriptedServer
) -> None:
    here = ModelProfile("here", "scripted", {"answer": "C"})
    with pytest.raises(PrivacyError, match="may leave this machine yet"):
        plan_run(store, quiz_spec([here], far(server)))
    allow(store, server)
    plan_and_finish(store, quiz_spec([here], far(server)))
    assert all(not sent_images(one) for one in server.script.received)
    assert len(consents.departures(store)) == len(server.script.received) > 0


def test_that_a_person_sees_what_leaves_first_and_what_is_made_of_replies(
    store: Store, server: ScriptedServer
) -> None:
    studied, judge = far(server), replace(far(server), name="judge")
    previews = previews_of_batch(store.path, quiz_spec([studied], judge))
    assert [one.model for one in previews] == ["far", "judge"]
    first, later = previews
    assert len(first.images) == 2
    assert first.body_bytes > 0
    assert (later.images, later.body_bytes, later.requests) == ((), 0, 3)
    assert "depend on replies" in later.text[0][1]
    for preview in previews:
        keep_consent(store.path, preview, for_any=False, unencrypted=True)
    assert previews_of_batch(store.path, quiz_spec([studied], judge)) == ()


def test_that_an_image_that_a_study_made_past_its_sources_is_not_sent(
    store: Store, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(store, server)
    foreign = ImagePart(encode_png(Raster(np.zeros((4, 4), np.uint8))))
    honest = Quiz.question

    def smuggles(study: Quiz, *given: object) -> object:
        question = honest(study, *given)  # type: ignore[arg-type]
        (message,) = question.messages
        parts = (*message.parts, foreign)
        return type(question)(
            (type(message)("user", parts),), question.prompt, question.template
        )

    monkeypatch.setattr(Quiz, "question", smuggles)
    run = plan_run(store, quiz_spec([far(server)], images=False))
    events = finish(store, run)
    told = [event.sentence for event in events if isinstance(event, ModelStopped)]
    assert "contains an image that was not reviewed" in told[0]
    assert server.script.received == []
