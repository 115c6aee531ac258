"""Examples from a validation split stand before every question (E000-11)."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.tiny_study import (
    D4,
    a_spec,
    everything_is_remote,
    plan_and_finish,
    prepare_trial,
    server_profile,
)
from viewer.domain.answer import BoxesAnswer
from viewer.domain.case import Dataset, ImageRef
from viewer.domain.errors import PrivacyError, WrongUseError
from viewer.domain.exchange import ModelProfile, ModelReply
from viewer.domain.geometry import BoxPx
from viewer.domain.privacy import PixelReview, ReviewDecision, pixels_sha256
from viewer.domain.report import Table
from viewer.domain.run import RunSpec
from viewer.models.catalog import adapter_for
from viewer.readers.datasets.catalog import read_dataset
from viewer.readers.datasets.files import content_sha256
from viewer.readers.pixels import load_pixels
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.privacy.gate import GateWatch, open_gate
from viewer.services.reporting.report_run import report_data
from viewer.services.running.batch_estimate import longest_of_trial
from viewer.services.running.batch_form import form_fields
from viewer.services.running.plan_run import plan_run
from viewer.services.trials.placed_answer import placed_answer
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, consents, runs, trials
from viewer.store.database import Store, open_store
from viewer.studies.grid_localization.few_shot import examples

Json = Mapping[str, object]
PARAMS = {"grids": [8], "examples": 2, "examples_dataset": "val"}


def write(folder: Path, first: int, n: int) -> Path:
    """Write ``n`` frontal images of patients from ``first`` on, each with a mask."""
    folder.mkdir()
    rng = np.random.default_rng(first)
    for patient in range(first, first + n):
        pixels = (rng.random((96, 96)) * 200).astype(np.uint8)
        mask = np.zeros((96, 96), np.uint8)
        row, column = (int(v) for v in rng.integers(0, 70, 2))
        mask[row : row + 25, column : column + 25] = 255
        name = f"patient{patient:05d}_frontal"
        Image.fromarray(pixels).save(folder / f"{name}.png")
        Image.fromarray(mask).save(folder / f"{name}.Edema.png")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "s.sqlite") as opened:
        for name, first, n in (("tiny", 0, 3), ("val", 100, 6)):
            found = read_dataset("folder", write(tmp_path / name, first, n), name)
            split = {"tiny": "test", "val": "val"}[name]
            cases.add_dataset(opened, replace(found, split=split))
        yield opened


def messages(store: Store, run: int) -> list[Sequence[Json]]:
    """Return what was sent for each trial, in the order planned."""
    sent = (t.request_sha256 for t in trials.scored_trials(store, run))
    documents = (trials.sent_request(store, sha256).document for sha256 in sent)
    return [json.loads(json.dumps(d["messages"])) for d in documents]


def renamed(store: Store, name: str, **changes: object) -> Dataset:
    """Register the validation set again with something changed."""
    found = replace(cases.dataset_named(store, "val"), name=name, **changes)  # type: ignore[arg-type]
    found = replace(found, root_sha256=content_sha256(found.images))
    cases.add_dataset(store, found)
    return found


@pytest.mark.statement("E000-11")
def test_that_every_question_begins_with_the_same_solved_examples(
    store: Store,
) -> None:
    run = plan_and_finish(store, a_spec([D4], params=PARAMS))
    sent = messages(store, run)
    assert len(sent) == 3
    roles = ["system", "user", "assistant", "user", "assistant", "user"]
    for one in sent:
        assert [m["role"] for m in one] == roles
        assert one[:5] == sent[0][:5]
        words = [m["parts"][1] for m in one if m["role"] == "user"]  # type: ignore[index]
        assert words[0] == words[1] == words[2]
    assert len({json.dumps(one[5]) for one in sent}) == 3


def test_that_examples_are_asked_and_answered_in_own_words(store: Store) -> None:
    own = {"example": "Once: {task}", "example_answer": "It is in {cell}."}
    run = plan_and_finish(store, a_spec([D4], params={**PARAMS, "prompts": own}))
    _, first, answered, *_, last = messages(store, run)[0]
    words = [one["parts"][-1]["text"] for one in (first, answered, last)]  # type: ignore[index]
    assert words[0] == f"Once: {words[2]}"
    assert re.fullmatch(r"It is in [A-H]\d\.", words[1])
    context = RunContext(runs.run_spec(store, run), cases.dataset_of_run(store, run))
    ((_, template),) = dict.fromkeys(context.prompts())
    assert "example:\nOnce: {task}\n\nexample_answer:\nIt is in {cell}." in template


@pytest.mark.statement("E000-11")
def test_that_an_examples_answer_is_the_cell_its_mask_covers_most(
    store: Store,
) -> None:
    spec = a_spec([D4], params=PARAMS)
    context = RunContext(spec, cases.dataset_named(store, "tiny"))
    validation = cases.dataset_named(store, "val")
    trial = context.study.plan(context.dataset, spec)[0]
    chosen = examples(validation, trial, context.params, 0)
    masks = {image.key: image.masks["Edema"] for image in validation.images}
    for one in chosen:
        array = masks[one.image].array()
        shares = [
            array[r : r + 12, c : c + 12].mean()
            for r in range(0, 96, 12)
            for c in range(0, 96, 12)
        ]
        row, column = "ABCDEFGH".index(one.answer[0]), int(one.answer[1])
        best = shares[8 * row + column - 1]
        assert best >= max(shares) - 0.05
    assert len({one.image for one in chosen}) == 2


@pytest.mark.statement("E000-11")
def test_that_a_synonym_finds_examples(store: Store) -> None:
    validation = cases.dataset_named(store, "val")
    images = tuple(
        replace(image, masks={"Airspace Opacity": image.masks["Edema"]})
        for image in validation.images
    )
    context = RunContext(a_spec([D4], params=PARAMS), validation)
    run = plan_run(store, a_spec([D4], params=PARAMS))
    trial = replace(trials.scored_trials(store, run)[0].trial, finding="Lung Opacity")
    other = replace(validation, images=images, root_sha256="other")
    assert len(examples(other, trial, context.params, 0)) == 2


def test_that_the_seed_draws_the_examples(store: Store) -> None:
    context = RunContext(
        a_spec([D4], params=PARAMS), cases.dataset_named(store, "tiny")
    )
    validation = cases.dataset_named(store, "val")
    trial = context.study.plan(context.dataset, context.spec)[0]
    drawn = {
        seed: examples(validation, trial, context.params, seed) for seed in range(20)
    }
    assert drawn[3] == examples(validation, trial, context.params, 3)
    assert len({tuple(e.image for e in found) for found in drawn.values()}) > 5


@pytest.mark.statement("E000-11")
def test_that_the_report_names_the_examples_shown(store: Store) -> None:
    run = plan_and_finish(store, a_spec([D4], params=PARAMS))
    report = report_data(store, run)
    table = next(t for t in report.data.tables if t.name == "examples")
    validation = cases.dataset_named(store, "val")
    trial = trials.scored_trials(store, run)[0].trial
    chosen = examples(validation, trial, report.context.params, 0)
    assert [(row[4], row[6]) for row in table.rows] == [
        (one.image, one.answer) for one in chosen
    ]
    plain = plan_run(store, a_spec([D4], params={"grids": [8]}))
    names = [t.name for t in report_data(store, plain).data.tables]
    assert "examples" not in names


@pytest.mark.statement("E000-11")
def test_that_a_bundle_names_no_patient_of_the_examples(store: Store) -> None:
    run = plan_and_finish(store, a_spec([D4], params=PARAMS))
    named = examples_table(report_data(store, run).data.tables)
    with zipfile.ZipFile(io.BytesIO(run_bundle(store, run))) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}
    names = [image.key for image in cases.dataset_named(store, "val").images]
    for name in (*names, *(name.removesuffix("_frontal") for name in names)):
        assert not [path for path, data in held.items() if name.encode() in data]
    shown = list(csv.reader(io.StringIO(held["tables/examples.csv"].decode())))[1:]
    assert all(row[4][:2] == "XI" and row[5][:2] == "XP" for row in shown)
    assert [row[6] for row in shown] == [row[6] for row in named]
    assert [names[int(row[4][2:]) - 1] for row in shown] == [row[4] for row in named]
    assert examples_table(report_data(store, run).data.tables) == named


def examples_table(tables: Sequence[Table]) -> tuple[tuple[object, ...], ...]:
    """Return the rows of examples.csv."""
    return next(t.rows for t in tables if t.name == "examples")


@pytest.mark.statement("E000-11")
def test_that_examples_are_part_of_the_request_and_of_its_key(store: Store) -> None:
    keys = set()
    for params in (PARAMS, {**PARAMS, "examples": 1}, {"grids": [8]}):
        run = plan_and_finish(store, a_spec([D4], params=params))
        keys.add(trials.scored_trials(store, run)[0].request_sha256)
        assert runs.run_summary(store, run).counts.get("provider_error") is None
    assert len(keys) == 3


@pytest.mark.statement("E000-11")
def test_that_shared_patients_are_refused_and_not_named(store: Store) -> None:
    validation = cases.dataset_named(store, "val")
    asked = cases.dataset_named(store, "tiny").images[0].patient
    images = (replace(validation.images[0], patient=asked), *validation.images[1:])
    renamed(store, "leaky", images=images)
    params = {**PARAMS, "examples_dataset": "leaky"}
    told = "of 'leaky', 1 are also in 'tiny'"
    with pytest.raises(WrongUseError, match=told) as refused:
        plan_run(store, a_spec([D4], params=params))
    assert asked not in str(refused.value)
    assert runs.run_summaries(store, include_adhoc=True) == ()


@pytest.mark.statement("E000-11")
def test_that_the_same_file_under_another_patient_is_refused(store: Store) -> None:
    validation = cases.dataset_named(store, "val")
    sha256 = cases.dataset_named(store, "tiny").images[0].sha256
    images = (replace(validation.images[0], sha256=sha256), *validation.images[1:])
    renamed(store, "twin", images=images)
    with pytest.raises(WrongUseError, match="same image under two names"):
        plan_run(store, a_spec([D4], params={**PARAMS, "examples_dataset": "twin"}))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"examples_dataset": ""}, "no data set to draw them from"),
        ({"examples_dataset": "nowhere"}, "No data set is named 'nowhere'"),
        ({"examples_dataset": "tiny"}, "is a test split"),
        ({"examples": 7}, "has 6 frontal examples of edema"),
        ({"examples": 17}, "from 0 to 16"),
    ],
)
def test_that_examples_which_cannot_be_had_are_told_before_the_run(
    store: Store, change: dict[str, object], sentence: str
) -> None:
    with pytest.raises(WrongUseError, match=sentence):
        plan_run(store, a_spec([D4], params={**PARAMS, **change}))
    assert runs.run_summaries(store, include_adhoc=True) == ()


def iou(one: BoxPx, other: BoxPx) -> float:
    """Return the overlap of two boxes."""
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    both = max(wide, 0) * max(high, 0)
    areas = [(b.x1 - b.x0) * (b.y1 - b.y0) for b in (one, other)]
    return both / (sum(areas) - both)


@pytest.mark.statement("E000-11")
@pytest.mark.parametrize(
    ("convention", "view"),
    [
        *((name, "none") for name in ("qwen2_5_vl", "qwen3_vl", "gemini", "internvl")),
        ("qwen2_5_vl", "qwen2_5"),
    ],
)
@pytest.mark.parametrize("scale", [1, 2])
def test_that_a_model_of_places_sees_examples_answered_as_it_answers(
    store: Store, convention: str, view: str, scale: int
) -> None:
    settings = {"answer": "x", "convention": convention, "provider_view": view}
    model = ModelProfile("p", "scripted", settings)
    spec = a_spec([model], params={**PARAMS, "render_scale": scale})
    validation = cases.dataset_named(store, "val")
    plan_run(store, spec)
    context = RunContext(
        spec, cases.dataset_named(store, "tiny"), validation=validation
    )
    trial = context.study.plan(context.dataset, spec)[0]
    sent = prepare_trial(context, trial).request.messages
    assert [m.role for m in sent] == [*("user", "assistant") * 2, "user"]
    questions = [m for m in sent if m.role == "user"]
    assert len({one.parts[1] for one in questions}) == 1
    for message in questions:
        png = message.parts[0].png  # type: ignore[union-attr]
        assert Image.open(io.BytesIO(png)).size == (256 * scale, 256 * scale)
    chosen = examples(validation, trial, context.params, 0)
    shown = context.shown(trial)
    for one, message in zip(chosen, sent[1::2], strict=False):
        reply = ModelReply(message.parts[0].text)  # type: ignore[union-attr]
        answer = placed_answer(model, reply, shown)
        assert isinstance(answer, BoxesAnswer)
        mask = next(i.masks["Edema"] for i in validation.images if i.key == one.image)
        rows, columns = np.nonzero(mask.array())
        box = BoxPx(columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        assert iou(answer.boxes[0], box) > 0.9


def test_that_a_family_for_single_images_gets_no_examples(store: Store) -> None:
    places = ModelProfile("p", "scripted", {"answer": "x", "convention": "florence2"})
    with pytest.raises(WrongUseError, match="one image at a time"):
        plan_run(store, a_spec([places], params=PARAMS))


def far_spec(server: ScriptedServer) -> RunSpec:
    return a_spec([server_profile(server.base_url)], params=PARAMS)


def allow(store: Store, server: ScriptedServer, dataset: str) -> None:
    origin = server.base_url.removesuffix("/v1")
    consents.add_consent(store, origin, dataset, "questions", granted=True)


def look_at(store: Store, dataset: str, *, skip: int = 0) -> None:
    for image in cases.dataset_named(store, dataset).images[skip:]:
        sha256 = pixels_sha256(load_pixels(image.ref))
        consents.add_review(store, PixelReview(sha256, ReviewDecision.CLEAN))


@pytest.fixture
def far(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """Serve on this machine as if it were another one."""
    everything_is_remote(monkeypatch)
    with ScriptedServer(Script()) as server:
        yield server


@pytest.mark.statement("E000-11")
def test_that_examples_leave_only_where_their_own_data_set_may(
    store: Store, far: ScriptedServer
) -> None:
    allow(store, far, "tiny")
    with pytest.raises(PrivacyError, match="nothing of 'val' may leave"):
        plan_run(store, far_spec(far))
    allow(store, far, "val")
    look_at(store, "tiny")
    look_at(store, "val")
    run = plan_and_finish(store, far_spec(far))
    assert runs.run_summary(store, run).counts.get("pending", 0) == 0
    bodies = [json.loads(received.body) for received in far.script.received]
    assert len(bodies) == 3
    for body in bodies:
        assert len(body["messages"]) == 6
        assert json.dumps(body).count("data:image/png;base64") == 3
    left = consents.departures(store)
    assert len(left) == 3


def test_that_a_restricted_data_set_gives_no_examples_to_a_model_elsewhere(
    store: Store, far: ScriptedServer
) -> None:
    allow(store, far, "tiny")
    allow(store, far, "val")
    consents.set_restricted(store, "val", restricted=True)
    with pytest.raises(PrivacyError, match="'val' is restricted"):
        plan_run(store, far_spec(far))
    assert far.script.received == []


def test_that_an_example_that_nobody_looked_at_stays_here(
    store: Store, far: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(store, far, "tiny")
    allow(store, far, "val")
    look_at(store, "tiny")
    kept = {image.ref for image in cases.dataset_named(store, "val").images}

    def refuse(ref: ImageRef, *_: object) -> None:
        if ref in kept:
            raise PrivacyError("Nobody looked at this example.", "Look at it.")

    monkeypatch.setattr("viewer.services.trials.sources.check_pixels", refuse)
    run = plan_and_finish(store, far_spec(far))
    assert far.script.received == []
    assert runs.run_summary(store, run).counts == {"pending": 3}
    assert consents.departures(store) == ()


def test_that_consent_withdrawn_from_the_examples_stops_the_run(
    store: Store, far: ScriptedServer
) -> None:
    for dataset in ("tiny", "val"):
        allow(store, far, dataset)
        look_at(store, dataset)
    tiny, val = (cases.dataset_named(store, name) for name in ("tiny", "val"))
    then = open_gate(store, tiny, val)
    context = RunContext(far_spec(far), tiny, then, val)
    trial = context.study.plan(tiny, context.spec)[0]
    prepared = prepare_trial(context, trial)
    assert prepared.outgoing is not None
    images = {image.key for image in prepared.shown}
    assert len(images) == 3
    watch = GateWatch(store, tiny, then, val)
    watch.check(prepared.profile, prepared.shown, prepared.outgoing)
    origin = far.base_url.removesuffix("/v1")
    consents.add_consent(store, origin, "val", "no more", granted=False)
    with pytest.raises(PrivacyError, match="nothing of 'val' may leave"):
        watch.check(prepared.profile, prepared.shown, prepared.outgoing)
    allow(store, far, "val")
    with pytest.raises(PrivacyError, match="decision about what may leave has changed"):
        watch.check(prepared.profile, prepared.shown, prepared.outgoing)


def test_that_the_most_a_run_can_cost_counts_its_examples(store: Store) -> None:
    spec = a_spec([D4], params=PARAMS)
    dataset = cases.dataset_named(store, "tiny")
    ((one,), (alone,)) = (
        longest_of_trial(a_spec([D4], params=params), dataset, spec.models[0])
        for params in (PARAMS, {"grids": [8]})
    )
    assert len(one.images) == 3 * len(alone.images)
    assert len(one.text) > 2 * len(alone.text)
    assert one.messages == 6


@pytest.mark.statement("E000-11")
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_that_a_server_gets_each_example_as_a_turn_that_was_answered(
    store: Store, api: str
) -> None:
    spec = a_spec([D4], params=PARAMS)
    validation = cases.dataset_named(store, "val")
    context = RunContext(
        spec, cases.dataset_named(store, "tiny"), validation=validation
    )
    trial = context.study.plan(context.dataset, spec)[0]
    request = prepare_trial(context, trial).request
    profile = server_profile("http://127.0.0.1:9/v1", api=api)
    body = json.loads(adapter_for(profile).body(request))  # type: ignore[attr-defined]
    turns = body["messages"] if api == "chat" else body["input"]
    said = [turn for turn in turns if turn["role"] == "assistant"]
    assert len(said) == 2
    answer = request.messages[2].parts[0]
    text = said[0]["content"]
    shown = text if api == "chat" else text[0]["text"]
    assert shown == answer.text  # type: ignore[union-attr]
    if api == "responses":
        assert text[0]["type"] == "output_text"


def test_that_a_scripted_server_answers_after_examples(store: Store) -> None:
    with ScriptedServer(Script()) as server:
        plan_and_finish(store, a_spec([server_profile(server.base_url)], params=PARAMS))
        bodies = [json.loads(r.body) for r in server.script.received]
    assert len(bodies) == 3
    assert all(len(body["messages"]) == 6 for body in bodies)


def test_that_the_form_has_both_fields_of_examples() -> None:
    fields = {f.name: f for f in form_fields("grid_localization", "gosai2025")}
    assert (fields["examples"].kind, fields["examples"].default) == ("int", 0)
    assert (fields["examples_dataset"].kind, fields["examples_dataset"].default) == (
        "text",
        "",
    )
    assert fields["absent_findings"].kind == "bool"
