"""Controls of images are conditions of one run, held against the same with images."""

import base64
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.helpers.bundled_run import bundled_run
from tests.helpers.proof_params import always
from tests.helpers.scripted_server import Received, Script, ScriptedServer
from tests.helpers.study_samples import SAMPLES, item_run
from tests.helpers.tiny_study import (
    D4,
    a_spec,
    finish,
    plan_and_finish,
    planned,
    server_profile,
)
from viewer.domain.answer import Status
from viewer.domain.case import Dataset
from viewer.domain.conditions import control_of
from viewer.domain.controls import CONTROLS, OF_IMAGES, Control
from viewer.domain.exchange import ImagePart, ModelProfile, TextPart
from viewer.domain.figure import RateFigure
from viewer.domain.run import Trial
from viewer.domain.study_words import PLACING
from viewer.readers.datasets.medsyn import read as read_cases
from viewer.services.configuring.study_file import make_spec
from viewer.services.exporting.export_bundle import run_bundle
from viewer.services.reporting.figures import run_figures
from viewer.services.reporting.report_run import report_data
from viewer.services.running.plan_run import plan_sha256
from viewer.services.running.supported_findings import planned_trials
from viewer.services.trials.run_context import RunContext
from viewer.store import cases, runs
from viewer.store.database import Store, open_store
from viewer.studies.catalog import study_named
from viewer.studies.controls import GUESS
from viewer.studies.steps import Question
from viewer.writers.verify.main import verify

CONTROLLED = (
    *("evidence_diagnosis", "grid_localization", "grounded_vqa"),
    "rubric_reading",
)
_PNG = re.compile(rb"data:image/png;base64,([A-Za-z0-9+/=]+)")


def controls_of(study: str) -> list[str]:
    return list(CONTROLS if study == "evidence_diagnosis" else OF_IMAGES)


def controlled_run(store: Store, folder: Path, study: str) -> int:
    """Ask everything of a study's sample, under every control that it has."""
    controls = controls_of(study)
    if study == "grid_localization":
        return bundled_run(store, folder, 3, controls=controls)
    return item_run(store, folder / "d", study, {"controls": controls}, odd="B")


def pictures_in(body: bytes) -> list[np.ndarray[Any, Any]]:
    """Return the pixels of the images that a server was sent."""
    found = (base64.b64decode(data) for data in _PNG.findall(body))
    return [np.asarray(Image.open(io.BytesIO(png)), dtype=float) for png in found]


@dataclass
class NamesBrightest(Script):
    """A server that names the brightest cell of 4 × 4, and D4 without an image."""

    def answer_to(self, body: bytes) -> str:
        """Return the cell; the grid's yellow has no blue."""
        pictures = pictures_in(body)
        if not pictures:
            return self.answer
        blue = pictures[-1][..., 2]
        side = blue.shape[0] // 4
        means = np.median(blue.reshape(4, side, 4, side), axis=(1, 3))
        row, column = divmod(int(means.argmax()), 4)
        return f"{'ABCD'[row]}{column + 1}"


def test_that_a_place_is_found_in_the_pixels_that_a_control_shows(
    tmp_path: Path,
) -> None:
    params = {"grids": [4], "controls": list(OF_IMAGES)}
    with (
        ScriptedServer(NamesBrightest()) as sees,
        ScriptedServer(Script(answer="B2")) as blind,
        open_store(tmp_path / "s.sqlite") as store,
    ):
        models = [
            replace(server_profile(server.base_url), name=name)
            for name, server in (("sees", sees), ("blind", blind))
        ]
        run = planned(store, tmp_path / "d", a_spec(models, params=params), 16)
        finish(store, run)
        tables = {one.name: one for one in report_data(store, run).data.tables}
    rows = {(r["model"], r["control"]): r for r in tables["image_dependence"].records()}
    for control in OF_IMAGES:
        row: dict[str, Any] = rows["blind", control]
        assert row["with_image"] == row["under_control"] == row["accuracy"] > 0
        assert (row["difference"], row["p"], row["n_need_image"]) == (0, 1, 0)
        assert row["difference_low"] < 0 < row["difference_high"]
        row = rows["sees", control]
        assert row["with_image"] > 0.9
        assert 0 < row["chance"] < 0.15
        assert row["difference_low"] > 0.2
        assert row["n_need_image"] == round(16 * row["difference"])
    needing = list(tables["needs_image"].records())
    assert {row["model"] for row in needing} == {"sees"}
    assert {row["control"] for row in needing} == {"no_image", "guess"}


NAMES = ("Alpha", "Beta", "Gamma", "Delta")
CASES, DARKEST, STEP = 24, 30, 50


def write_cases(folder: Path) -> Dataset:
    """Write cases whose images are as bright as their diagnosis is far in ``NAMES``.

    Of 3 in 5 the history names it too.
    """
    for i in range(CASES):
        own, right = folder / f"case{i:03d}", i % len(NAMES)
        own.mkdir(parents=True)
        for name in ("a", "b"):
            grey = np.full((16, 16), DARKEST + STEP * right, np.uint8)
            grey[0, 0] = i  # no two are the same file
            Image.fromarray(grey).save(own / f"{name}.png")
        told = NAMES[right] if i % 5 < 3 else "nothing"
        case = {
            "id": own.name,
            "language": "en",
            "specialty": "Rheumatology",
            "history": f"Case {i}. The letter says {told}.",
            "examination": "",
            "evidence": [
                {"type": kind, "images": [f"{name}.png"], "finding": "Bright."}
                for kind, name in (("X-ray", "a"), ("CT", "b"))
            ],
            "options": list(NAMES),
            "diagnosis": NAMES[right],
        }
        (own / "case.json").write_text(json.dumps(case))
    return read_cases(folder, "cases")


@dataclass
class Diagnoses(Script):
    """A server that reads the images, or else the letter; it guesses without."""

    looks: bool = True

    def answer_to(self, body: bytes) -> str:
        """Return the letter of a diagnosis, or one that the body's hash decides."""
        text = body.decode()
        letters = {name: letter for letter, name in _LISTED.findall(text)}
        pictures = pictures_in(body)
        if self.looks and pictures:
            place = round((float(np.median(pictures[-1])) - DARKEST) / STEP)
            return str(letters[NAMES[place]])
        told = _TOLD.search(text)
        if told and not self.looks:
            return str(letters[told[1]])
        return "ABCD"[hashlib.sha256(body).digest()[0] % 4] if self.looks else "A"


_LISTED = re.compile(rf"([A-D])\. ({'|'.join(NAMES)})")
_TOLD = re.compile(rf"letter says ({'|'.join(NAMES)})")


def test_that_a_blind_model_loses_nothing_and_a_sighted_one_all_but_chance(
    tmp_path: Path,
) -> None:
    with (
        ScriptedServer(Diagnoses()) as sees,
        ScriptedServer(Diagnoses(looks=False)) as blind,
        open_store(tmp_path / "s.sqlite") as store,
    ):
        cases.add_dataset(store, write_cases(tmp_path / "d"))
        spec = make_spec(
            study="evidence_diagnosis",
            dataset="cases",
            preset="medsyn2026",
            seed=0,
            repeats=1,
            models=[
                replace(server_profile(server.base_url), name=name)
                for name, server in (("sees", sees), ("blind", blind))
            ],
            overrides={"tasks": ["fdx"], "controls": list(CONTROLS)},
        )
        run = plan_and_finish(store, spec)
        tables = {one.name: one for one in report_data(store, run).data.tables}
        figure = run_figures(tmp_path / "s.sqlite", run).figures[-1]
    rows = {(r["model"], r["control"]): r for r in tables["image_dependence"].records()}
    assert len(rows) == 2 * len(CONTROLS)
    for control in CONTROLS:
        row: dict[str, Any] = rows["sees", control]
        assert (row["n_pairs"], row["with_image"], row["chance"]) == (CASES, 1, 0.25)
        if control == Control.SHUFFLED_OPTIONS:
            assert (row["difference"], row["n_need_image"]) == (0, 0)
        else:
            assert row["ci_low"] <= 0.25 <= row["ci_high"], control
            assert row["difference_low"] <= 0.75 <= row["difference_high"], control
            assert row["p"] < 0.001
    for control in OF_IMAGES:
        row = rows["blind", control]
        assert row["with_image"] == row["under_control"] == row["accuracy"] > 0.6
        assert (row["difference"], row["n_need_image"]) == (0, 0)
    assert rows["blind", "options_only"]["accuracy"] < 0.4
    assert isinstance(figure, RateFigure)
    (panel,) = figure.panels
    assert (panel.title, len(panel.groups)) == ("Final diagnosis, one of four", 7)


@pytest.mark.parametrize(
    "study", always({"grounded_vqa", "rubric_reading"}, CONTROLLED)
)
def test_that_a_bundle_with_controls_verifies(study: str, tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = controlled_run(store, tmp_path, study)
        found = verify(run_bundle(store, run), lambda _: None)
        tables = {one.name: one for one in report_data(store, run).data.tables}
    assert (found.wrong, found.left) == ([], [])
    graded = study == "rubric_reading"
    name = "answered_under_control" if graded else "image_dependence"
    assert any(one.startswith(f"tables/{name}.csv: ") for one in found.done)
    rows = list(tables[name].records())
    assert {row["control"] for row in rows} == set(controls_of(study))
    assert ("needs_image" in tables) is not graded
    scored = tables.get("image_dependence_scores")
    assert (scored is not None) is (study == "evidence_diagnosis")
    if scored is not None:
        assert {row["task"] for row in scored.records()} == {"ddx", "open_fdx"}
        assert {row["with_image"] for row in scored.records()} == {4}


class NeedsPictures(Script):
    """A server that refuses requests without a picture."""

    def reply_to(self, request: Received) -> tuple[int, object]:
        """Return A, or an error that is no answer."""
        if pictures_in(request.body):
            return super().reply_to(request)
        return 422, {"error": {"message": "An image is required."}}


@pytest.mark.statement("X-01", "X-09")
@pytest.mark.parametrize(
    ("study", "params", "name"),
    [
        ("pathology_mcq", {"arms": ["image", "text_only"]}, "image_dependence"),
        ("rubric_reading", {"controls": ["no_image"]}, "answered_under_control"),
        ("question_set", {"arms": ["image", "no_image"]}, "image_dependence"),
    ],
)
def test_that_a_control_whose_requests_all_failed_has_no_difference_and_says_so(
    study: str, params: Mapping[str, object], name: str, tmp_path: Path
) -> None:
    with (
        ScriptedServer(NeedsPictures(answer="A")) as server,
        open_store(tmp_path / "s.sqlite") as store,
    ):
        sample = SAMPLES[study]
        cases.add_dataset(store, replace(sample.make(tmp_path / "d"), name="sample"))
        params = {**sample.overrides, **params}
        model, helper = (
            server_profile(server.base_url),
            ModelProfile("helper", "scripted", {"answer": "A"}),
        )
        spec = a_spec(
            [model],
            study=study,
            dataset="sample",
            params=params,
            known={one.name: one for one in (model, helper)},
        )
        run = plan_and_finish(store, spec)
        data = report_data(store, run).data
        found = verify(run_bundle(store, run), lambda _: None)
    assert (found.wrong, found.left) == ([], [])
    table = next(one for one in data.tables if one.name == name)
    (row,) = table.records()
    assert row["n_failed"] == row["n_planned"] > 0
    assert (row["n_pairs"], row["difference"], row["p"]) == (0, None, None)
    (sentence,) = (one for one in data.warnings if one.startswith("Every request of"))
    assert f"failed ({row['n_failed']}), so there is no difference" in sentence
    section = next(one for one in data.sections if one.table.name == "unanswered")
    assert section.table.rows[0][2] == row["n_failed"]


@pytest.mark.parametrize(
    "study", always({"grid_localization", "rubric_reading"}, CONTROLLED)
)
def test_that_a_run_without_controls_has_the_plan_and_tables_it_had(
    study: str, tmp_path: Path
) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = controlled_run(store, tmp_path, study)
        spec, dataset = runs.run_spec(store, run), cases.dataset_of_run(store, run)
        without = replace(spec, params={**spec.params, "controls": []})
        older = {k: v for k, v in spec.params.items() if k != "controls"}
        own = study_named(study)
        hashes = [
            plan_sha256(one, dataset, own)
            for one in (spec, without, replace(spec, params=older))
        ]
        assert hashes[0] != hashes[1] == hashes[2]
        alone = plan_and_finish(store, without)
        wide, plain = (report_data(store, one).data for one in (run, alone))
    kept = {one.name: one.rows for one in plain.tables if one.name not in _OF_RUN}
    assert kept.items() <= {one.name: one.rows for one in wide.tables}.items()


_OF_RUN = ("items", "versions")


def asked(study: str, folder: Path) -> dict[str, list[tuple[Trial, Question]]]:
    """Return the first question of each trial of a study, by its control."""
    sample = SAMPLES[study]
    dataset = replace(sample.make(folder), name="sample")
    models = [ModelProfile(n, "scripted", {"answer": "A"}) for n in ("one", "helper")]
    spec = make_spec(
        study=study,
        dataset="sample",
        preset=study_named(study).presets()[0],
        seed=3,
        repeats=1,
        models=models[:1],
        overrides={**sample.overrides, "controls": controls_of(study)},
        known={one.name: one for one in models},
    )
    context = RunContext(spec, dataset)
    found: dict[str, list[tuple[Trial, Question]]] = {}
    for trial in planned_trials(context.study, dataset, spec):
        control = control_of(trial.condition.name)
        step = context.next_step(trial, ())
        if trial.exclusion or step is None:
            continue
        sources = context.sources(models[0], trial.condition.name)
        question = context.question(trial, step, (), sources)
        found.setdefault(control, []).append((trial, question))
    return found


def parts(question: Question) -> tuple[list[bytes], str]:
    """Return the images and the words of a question."""
    every = [part for message in question.messages for part in message.parts]
    images = [part.png for part in every if isinstance(part, ImagePart)]
    return images, "\n".join(p.text for p in every if isinstance(p, TextPart))


def by_item(
    questions: list[tuple[Trial, Question]],
) -> dict[str, tuple[list[bytes], str]]:
    return {trial.item: parts(question) for trial, question in questions}


PLAIN = {
    "evidence_diagnosis": "raw",
    "grounded_vqa": "plain",
    "rubric_reading": "plain",
}


@pytest.mark.parametrize("study", PLAIN)
def test_that_a_control_changes_the_images_and_no_word(
    study: str, tmp_path: Path
) -> None:
    found = asked(study, tmp_path)
    plain = by_item([q for q in found[""] if q[0].condition.name == PLAIN[study]])
    under = {control: by_item(found[control]) for control in OF_IMAGES}
    for control, questions in under.items():
        assert questions.keys() <= plain.keys()
        for item, (images, words) in questions.items():
            own_images, own_words = plain[item]
            hidden = control in {Control.NO_IMAGE, Control.GUESS}
            assert len(images) == (0 if hidden else len(own_images))
            assert not {*images} & {*own_images}
            guess = f".*({GUESS}|请猜测).*\n\n" if control == Control.GUESS else "^$"
            assert re.sub(guess, "", words, count=1) == own_words
    every = {image for images, _ in plain.values() for image in images}
    others = {one for images, _ in under["other_image"].values() for one in images}
    assert others <= every
    noises = [one for images, _ in under["noise"].values() for one in images]
    for png in noises:
        pixels = np.asarray(Image.open(io.BytesIO(png)).convert("L"), dtype=float)
        assert 100 < pixels.mean() < 155
        assert pixels.std() > 10


def test_that_another_patients_image_is_of_another_patient(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = bundled_run(store, tmp_path, 4, controls=["other_image"])
        context = RunContext(
            runs.run_spec(store, run), cases.dataset_of_run(store, run)
        )
    images = context.images
    given = context._others
    assert given.keys() == images.keys()
    assert all(images[k].patient != images[o].patient for k, o in given.items())
    assert all(images[k].view == images[o].view for k, o in given.items())
    assert max(Counter(given.values()).values()) == 1


def test_that_what_controls_cannot_ask_is_excluded_or_left_out(tmp_path: Path) -> None:
    models = [D4, ModelProfile("asymmetry", "asymmetry")]
    params = {"grids": [4], "controls": ["no_image", "other_image"]}
    with open_store(tmp_path / "s.sqlite") as store:
        run = planned(store, tmp_path / "d", a_spec(models, params=params), 1)
        told = finish(store, run)
        assert told
        results = report_data(store, run).results
        notes = runs.run_summary(store, run).notes
    why = {
        (one.model, control_of(one.condition)): one.score.reason
        for one in results
        if one.score.status is Status.EXCLUDED
    }
    assert why == {
        ("asymmetry", "no_image"): "needs_image",
        ("asymmetry", "other_image"): "no_other_patient",
        ("says-d4", "other_image"): "no_other_patient",
    }
    assert "works on an image alone" in " ".join(map(str, notes))


def test_that_absent_findings_and_options_of_no_question_have_no_control(
    tmp_path: Path,
) -> None:
    found = asked("evidence_diagnosis", tmp_path)
    options = {c: found[c] for c in ("options_only", "shuffled_options")}
    assert {t.finding for of in options.values() for t, _ in of} == {"fdx"}
    plain = {t.item: q for t, q in found[""] if t.condition.name == "raw"}
    for trial, question in options["options_only"]:
        images, words = parts(question)
        own = parts(plain[trial.item])[1]
        assert not images
        assert {*words.split("\n")} < {*own.split("\n")}
        assert "A. " in words
    for trial, question in options["shuffled_options"]:
        images, words = parts(question)
        own_images, own = parts(plain[trial.item])
        assert images == own_images
        assert words != own
        assert sorted(re.sub(r"[A-D]\. ", "", words).split("\n")) == sorted(
            re.sub(r"[A-D]\. ", "", own).split("\n")
        )
    with open_store(tmp_path / "s.sqlite") as store:
        params: dict[str, Any] = {
            "grids": [8, 4],
            "absent_findings": True,
            "controls": ["noise"],
        }
        run = bundled_run(store, tmp_path / "b", 3, **params)
        named = {one.condition for one in report_data(store, run).results}
    assert named == {
        *("grid=8", "grid=8 absent", "grid=8 control=noise"),
        *("grid=4", "grid=4 absent", "grid=4 control=noise"),
    }


def test_that_the_card_is_drawn_and_named_in_words(tmp_path: Path) -> None:
    path = tmp_path / "s.sqlite"
    with open_store(path) as store:
        run = controlled_run(store, tmp_path, "evidence_diagnosis")
        section = report_data(store, run).data.sections[0]
    figure = run_figures(path, run).figures[-1]
    assert isinstance(figure, RateFigure)
    assert figure.head.name == "image_dependence"
    panels = figure.panels
    assert [panel.title for panel in panels] == [
        *("Differential", "Final diagnosis, one of four", "Final diagnosis, open"),
    ]
    assert {len(panel.groups) for panel in panels} == {7}
    assert panels[0].groups[1] == "without the image"
    assert section.title == "Image dependence"
    assert section.table.header[1:4] == ("Question kind", "Condition", "Control")
    assert section.table.rows[0][1:4] == (
        *("Differential", "raw images", "without the image"),
    )
    assert PLACING.called("condition", "grid=8 control=noise") == (
        "8 × 8 grid, noise instead of the image"
    )


def test_that_grades_are_of_outputs_with_images_alone(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite") as store:
        run = controlled_run(store, tmp_path, "rubric_reading")
        results = report_data(store, run).results
        item = results[0].item
        root = cases.dataset_of_run(store, run).root
        header = "reader,model,item,image,process,execution,synthesis,language"
        graded_by = f"{header},image_content,image_style\nA,studied,{item},,5,5,5,5,,\n"
        (root / "grades.csv").write_text(graded_by)
        graded = report_data(store, run).results
        found = verify(run_bundle(store, run), lambda _: None)
    right = [o.condition for o in graded if o.score.status is Status.SCORED_CORRECT]
    assert right == ["plain"]
    assert (found.wrong, found.left) == ([], [])
