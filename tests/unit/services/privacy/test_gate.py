import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag

import numpy as np
import numpy.typing as npt
import pydicom
import pytest
from pydicom.sr.codedict import codes
from pydicom.sr.coding import Code

from tests.helpers.phantom_folders import write_phantom
from tests.helpers.requests import facts as some_facts
from tests.helpers.scripted_server import Received, ScriptedServer
from tests.helpers.tiny_study import a_spec, everything_is_remote, prepare_trial
from viewer.domain.answer import Status
from viewer.domain.case import ImageRef
from viewer.domain.errors import OverreadError, PrivacyError
from viewer.domain.exchange import ImagePart, Message, ModelProfile, ModelRequest
from viewer.domain.geometry import BoxPx, SizePx
from viewer.domain.image import Raster
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.run import ModelStopped, RunSpec, TrialDone
from viewer.imaging.png import decode_png, encode_png, is_bare_png
from viewer.readers.identifiers import BurnedInFacts
from viewer.readers.pixels import load_pixels
from viewer.services.asking.ask import Question, ask
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.privacy import decisions
from viewer.services.privacy.gate import (
    About,
    Looked,
    check_request,
    deidentified,
    open_gate,
)
from viewer.services.running.batch_options import BatchOptions
from viewer.services.running.plan_run import plan_run
from viewer.services.running.run_batch import run_batch
from viewer.services.synthetic.make_phantom import make_phantom
from viewer.services.trials import sources
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, consents, runs
from viewer.store.database import Store, open_store

SIZE = SizePx(200, 160)
ONE = BatchOptions(concurrency=1)


@pytest.fixture(scope="module")
def chests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("phantom") / "chests"
    write_phantom(make_phantom, out, 1, 0, SIZE, compress=False)
    return out


@pytest.fixture
def store(
    tmp_path: Path, chests: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    everything_is_remote(monkeypatch)
    with open_store(tmp_path / "s.sqlite") as opened:
        import_dataset(opened, "chexlocalize", chests, "chests")
        yield opened


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def profile_of(server: ScriptedServer) -> ModelProfile:
    settings = {"base_url": server.base_url, "model": "tiny-vlm"}
    return ModelProfile("far", "openai_api", settings)


def batch_of(server: ScriptedServer, repeats: int = 1, **overrides: object) -> RunSpec:
    spec = a_spec([profile_of(server)], dataset="chests", repeats=repeats)
    return replace(spec, params={**spec.params, **overrides})


def origin_of(server: ScriptedServer) -> str:
    return server.base_url.removesuffix("/v1")


def image_of(store: Store) -> ImageRef:
    return cases.dataset_named(store, "chests").images[0].ref


def question(store: Store, server: ScriptedServer, finding: str = "Edema") -> Question:
    return Question(image_of(store), finding, profile_of(server))


def allow(store: Store, server: ScriptedServer, dataset: str | None = "chests") -> int:
    return consents.add_consent(
        store, origin_of(server), dataset, "questions", granted=True
    )


def look(store: Store, decision: ReviewDecision, *boxes: BoxPx) -> None:
    sha256 = pixels_sha256(load_pixels(image_of(store)))
    consents.add_review(store, PixelReview(sha256, decision, boxes))


def ask_of_clean_pixels(store: Store, server: ScriptedServer) -> None:
    allow(store, server)
    look(store, ReviewDecision.CLEAN)
    ask(store, question(store, server))


def sent_image(received: Received) -> bytes:
    (data,) = re.findall(rb"base64,([A-Za-z0-9+/=]+)", received.body)
    return base64.b64decode(data)


def test_that_nothing_leaves_before_the_endpoint_is_allowed(
    store: Store, server: ScriptedServer
) -> None:
    host = re.escape(origin_of(server))
    with pytest.raises(
        PrivacyError, match=f"overread allow {host} --unencrypted --for"
    ):
        ask(store, question(store, server))
    with pytest.raises(PrivacyError, match="may leave this machine yet"):
        plan_run(store, batch_of(server))
    assert server.script.received == []
    assert runs.run_summaries(store, include_adhoc=True) == ()


def test_that_an_allowed_endpoint_gets_no_image_that_nobody_looked_at(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    with pytest.raises(OverreadError, match="header says that text is burned in"):
        ask(store, question(store, server))
    assert server.script.received == []
    (run,) = runs.run_summaries(store, include_adhoc=True)
    assert run.counts == {Status.PENDING: 1}
    assert consents.departures(store) == ()


def test_that_what_left_is_in_the_audit_with_its_hash_and_consent(
    store: Store, server: ScriptedServer
) -> None:
    consent = allow(store, server)
    look(store, ReviewDecision.CLEAN)
    ask(store, question(store, server))
    (received,) = server.script.received
    (left,) = consents.departures(store)
    assert left.body_sha256 == hashlib.sha256(received.body).hexdigest()
    assert (left.endpoint, left.consent) == (origin_of(server), consent)
    assert is_bare_png(sent_image(received))
    begun = store.rows("SELECT started_at FROM attempt")[0][0]
    assert begun <= left.sent_at


def test_that_a_departure_is_committed_before_the_request_leaves(
    store: Store, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    take = server.script.take

    def counted(path: str, headers: dict[str, str], body: bytes) -> Received:
        with open_store(store.path) as other:
            seen.append(len(consents.departures(other)))
        return take(path, headers, body)

    monkeypatch.setattr(server.script, "take", counted)
    ask_of_clean_pixels(store, server)
    assert seen == [1]


def test_that_consent_withdrawn_closes_the_gate(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    look(store, ReviewDecision.CLEAN)
    consents.add_consent(store, origin_of(server), "chests", "", granted=False)
    with pytest.raises(PrivacyError, match="overread allow"):
        ask(store, question(store, server))
    assert server.script.received == []


def test_that_consent_for_another_data_set_opens_nothing(
    store: Store, chests: Path, server: ScriptedServer
) -> None:
    import_dataset(store, "folder", chests / "CheXpert", "others")
    allow(store, server, "others")
    assert open_gate(store, cases.dataset_named(store, "chests")).consents == {}
    assert open_gate(store, cases.dataset_named(store, "others")).consents != {}


def test_that_black_boxes_are_black_in_what_is_sent(
    store: Store, server: ScriptedServer
) -> None:
    ask_of_clean_pixels(store, server)
    look(store, ReviewDecision.BLACKED_OUT, BoxPx(0, 0, 160, 100))
    ask(store, question(store, server))
    whole, blacked = (decode_png(sent_image(r)).pixels for r in server.script.received)
    side = blacked.shape[0]
    upper = slice(0, side // 2 - 4)  # the crop begins at row 20 of the native image
    levels = {tuple(pixel) for pixel in blacked[upper].reshape(-1, 3)}
    assert len({tuple(pixel) for pixel in whole[upper].reshape(-1, 3)}) > 10 * len(
        levels
    )
    assert (whole[side // 2 + 4 :] == blacked[side // 2 + 4 :]).all()


def test_that_a_person_can_keep_an_image_here(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    look(store, ReviewDecision.BLOCKED)
    with pytest.raises(OverreadError, match="decided that it may not leave"):
        ask(store, question(store, server))
    assert server.script.received == []


def test_that_a_restricted_data_set_stays_here_under_any_name(
    store: Store, chests: Path, server: ScriptedServer
) -> None:
    import_dataset(store, "folder", chests / "CheXpert", "others")
    consents.set_restricted(store, "chests", restricted=True)
    allow(store, server, None)
    look(store, ReviewDecision.CLEAN)
    for name in ("chests", "others"):
        dataset = cases.dataset_named(store, name)
        gate = open_gate(store, dataset)
        with pytest.raises(PrivacyError, match="'chests' is restricted"):
            gate.check_model(profile_of(server), dataset.images)


def test_that_a_prompt_with_the_patients_name_stays_here(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    look(store, ReviewDecision.CLEAN)
    name = str(pydicom.dcmread(image_of(store).path).PatientID)
    with pytest.raises(OverreadError) as caught:
        ask(store, question(store, server, f"Edema of {name.lower()}"))
    assert "PatientID" in str(caught.value)
    assert name not in str(caught.value)
    assert server.script.received == []


def test_that_other_images_of_a_batch_go_on(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    look(store, ReviewDecision.CLEAN)
    run = plan_run(store, batch_of(server))
    events = list(run_batch(store, run, ONE, Flag()))
    stopped = [e.sentence for e in events if isinstance(e, ModelStopped)]
    counts = runs.status_counts(store, run)
    n = len(server.script.received)
    assert n > 0
    assert counts[Status.PENDING] > 0
    assert len(stopped) == 1
    assert "burned in" in stopped[0]
    assert len(consents.departures(store)) == n
    first = image_of(store).path
    key = cases.dataset_named(store, "chests").images[0].key
    assert {d.item.split("|")[0] for d in consents.departures(store) if d.item} == {key}
    assert first.name.encode() not in b"".join(r.body for r in server.script.received)


def test_that_only_a_bare_png_passes() -> None:
    bare = encode_png(Raster(load_grey()))
    text = b"\x00\x00\x00\x04tEXtname" + b"\x00" * 4
    spoilt = (bare[:33] + text + bare[33:], bare + b"SMITH", bare[:40], b"", b"GIF89a")
    assert is_bare_png(bare)
    assert not any(is_bare_png(data) for data in spoilt)
    for data in spoilt:
        message = Message("user", (ImagePart(data),))
        request = ModelRequest((message,), None, "")  # type: ignore[arg-type]
        with pytest.raises(PrivacyError, match="more than the pixels"):
            check_request(request)


def load_grey() -> npt.NDArray[np.uint8]:
    return np.arange(64, dtype=np.uint8).reshape(8, 8)


def test_that_the_body_holds_no_word_of_the_facts(
    store: Store, server: ScriptedServer
) -> None:
    ask_of_clean_pixels(store, server)
    body = json.loads(server.script.received[0].body)
    assert set(body) <= {"model", "messages", "max_tokens"}


def withdraw(store: Store, server: ScriptedServer) -> None:
    assert decisions.withdraw(store, origin_of(server)) == 1


def block(store: Store, _: ScriptedServer) -> None:
    look(store, ReviewDecision.BLOCKED)


def black_out(store: Store, _: ScriptedServer) -> None:
    look(store, ReviewDecision.BLACKED_OUT, BoxPx(0, 0, 160, 100))


def restrict(store: Store, _: ScriptedServer) -> None:
    consents.set_restricted(store, "chests", restricted=True)


@pytest.mark.parametrize(
    ("decide", "said"),
    [
        (withdraw, "may leave this machine yet"),
        (block, "changed"),
        (black_out, "changed"),
        (restrict, "is restricted"),
    ],
)
def test_that_what_is_decided_while_a_batch_is_asked_holds_from_the_next_question(
    store: Store,
    server: ScriptedServer,
    decide: Callable[[Store, ScriptedServer], None],
    said: str,
) -> None:
    allow(store, server)
    look(store, ReviewDecision.CLEAN)
    run = plan_run(store, batch_of(server, repeats=3))
    events = []
    for event in run_batch(store, run, ONE, Flag()):
        events.append(event)
        if isinstance(event, TrialDone) and len(server.script.received) == 1:
            with open_store(store.path) as other:  # as another window would
                decide(other, server)
    stopped = " ".join(e.sentence for e in events if isinstance(e, ModelStopped))
    assert len(server.script.received) == 1
    assert said in stopped
    counts = runs.status_counts(store, run)
    assert counts[Status.PENDING] == sum(counts.values()) - 1
    assert len(consents.departures(store)) == 1


def test_that_a_decision_about_something_else_stops_nothing(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    look(store, ReviewDecision.CLEAN)
    run = plan_run(store, batch_of(server, repeats=3))
    for event in run_batch(store, run, ONE, Flag()):
        if isinstance(event, TrialDone):
            consents.add_consent(store, "other.example:443", None, "x", granted=True)
            consents.add_review(store, PixelReview("0" * 64, ReviewDecision.BLOCKED))
            look(store, ReviewDecision.CLEAN)
    assert len(server.script.received) > 1


def test_that_a_file_that_changes_while_it_is_asked_about_stays_here(
    store: Store, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(store, server)
    look(store, ReviewDecision.CLEAN)
    monkeypatch.setattr(sources, "PIXEL_IMAGES_KEPT", 0)
    run = plan_run(store, batch_of(server))
    dataset = cases.dataset_named(store, "chests")
    context = RunContext(runs.run_spec(store, run), dataset, open_gate(store, dataset))
    trials = runs.trials_in(store, run, [Status.PENDING])
    key = dataset.images[0].key
    trial = next(stored.trial for stored in trials if stored.trial.image == key)
    path = image_of(store).path
    whole = path.read_bytes()
    context.drawn.raster((trial.image, None))
    try:
        changed = pydicom.dcmread(path)
        changed.PixelData = changed.PixelData[::-1]
        changed.save_as(path)
        with pytest.raises(PrivacyError, match="file changed in"):
            prepare_trial(context, trial)
    finally:
        path.write_bytes(whole)


def test_that_what_a_person_calls_a_view_is_searched_too(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    look(store, ReviewDecision.CLEAN)
    name = str(pydicom.dcmread(image_of(store).path).PatientID)
    spec = batch_of(server, frontal_label=name, views=["frontal"])
    run = plan_run(store, spec)
    events = list(run_batch(store, run, ONE, Flag()))
    stopped = " ".join(e.sentence for e in events if isinstance(e, ModelStopped))
    assert server.script.received == []
    assert "PatientID" in stopped
    assert name not in stopped


def test_that_a_departure_tells_how_its_image_was_deidentified(
    store: Store, server: ScriptedServer
) -> None:
    ask_of_clean_pixels(store, server)
    (left,) = decisions.audit(store)["departures"]
    told = left["deidentification"]
    assert isinstance(told, list)
    assert told[0] == {
        "value": "113100",
        "scheme": "DCM",
        "meaning": "Basic Application Confidentiality Profile",
    }
    # the text of each code is that of PS3.16, as pydicom has it
    named = {code.value: code.meaning for code in codes_of_scheme()}
    assert all(named[code["value"]] == code["meaning"] for code in told)
    assert {code["value"] for code in told} == {*map(str, range(113100, 113106))}


def codes_of_scheme() -> list[Code]:
    dcm = codes.DCM
    return [
        getattr(dcm, name) for name in dcm.dir() if name.endswith(("Option", "Profile"))
    ]


@pytest.mark.parametrize(
    ("header", "recognised"), [("NO", True), ("YES", False), ("", False)]
)
def test_that_nobody_can_be_recognised_is_told_where_it_is_known(
    header: str, *, recognised: bool
) -> None:
    facts = BurnedInFacts("NO", "DX", header)
    assert ("113102" in deidentified(facts, None)) is recognised
    review = PixelReview("0" * 64, ReviewDecision.CLEAN)
    assert "113102" in deidentified(facts, review)


def test_that_an_image_nobody_looked_at_stays_here_beside_one_that_was(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    gate = open_gate(store, cases.dataset_named(store, "chests"))
    shown, other = (encode_png(Raster(load_grey() + n)) for n in (0, 1))
    image = cases.dataset_named(store, "chests").images[0]
    about = About((Looked(image, "0" * 64),), frozenset({shown}))
    facts = some_facts()
    for pngs, passes in (((shown,), True), ((shown, other), False), ((other,), False)):
        message = Message("user", tuple(map(ImagePart, pngs)))
        request = ModelRequest((message,), facts, "")
        if passes:
            assert gate.passed(profile_of(server), request, about) is not None
        else:
            with pytest.raises(PrivacyError, match="image that was not reviewed"):
                gate.passed(profile_of(server), request, about)


def test_that_a_file_that_is_replaced_is_searched_for_its_new_patient(
    store: Store, server: ScriptedServer
) -> None:
    allow(store, server)
    look(store, ReviewDecision.CLEAN)
    ask(store, question(store, server))
    path = image_of(store).path
    whole = path.read_bytes()
    try:
        replaced = pydicom.dcmread(path)
        replaced.PatientID = "ANOTHERONE-77"
        replaced.save_as(path)
        with pytest.raises(OverreadError, match="PatientID"):
            ask(store, question(store, server, "Edema of anotherone 77"))
    finally:
        path.write_bytes(whole)
    assert len(server.script.received) == 1
