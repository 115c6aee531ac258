"""What holds for every study of the catalogue."""

import json
from collections.abc import Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.study_samples import SAMPLES
from tests.helpers.tiny_study import D4, UNIFORM, prepare_trial, write_images
from viewer.domain.answer import UNREADABLE, CellAnswer, Status, Unparsed
from viewer.domain.case import Dataset
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelReply
from viewer.domain.item import Item
from viewer.domain.plain import plain
from viewer.domain.run import RunSpec, Step, Trial
from viewer.readers.datasets.folder import read
from viewer.services.configuring.study_file import make_spec, paper_preset
from viewer.services.trials.run_context import RunContext
from viewer.studies.catalog import OURS, pack_named, places_of, study_named
from viewer.studies.steps import StepReply, Turn

names = pytest.mark.parametrize("name", sorted(OURS))
placing = pytest.mark.parametrize(
    "name", [n for n in sorted(OURS) if study_named(n).words.places]
)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = write_images(tmp_path_factory.mktemp("d"), 3)
    return read(folder, "tiny")


def a_spec(name: str) -> RunSpec:
    return make_spec(
        study=name,
        dataset="tiny",
        preset=paper_preset(name),
        seed=1,
        repeats=2,
        models=[D4, UNIFORM],
        overrides={},
    )


def a_trial(name: str, dataset: Dataset) -> Trial:
    return study_named(name).plan(dataset, a_spec(name))[0]


@names
def test_that_a_study_is_what_the_catalogue_calls_it(name: str) -> None:
    study = study_named(name)
    assert study.name == name
    assert study.title == OURS[name]
    assert study.version
    assert study.parser_version
    assert study.scorer_version
    params = study.read_params(study.defaults.preset, dict(study.defaults.params))
    assert study.words.places == (study.places(params) is not None)
    assert study.defaults.preset in study.presets()
    assert study.read_params(study.defaults.preset, dict(study.defaults.params))
    if study.pack is not None:
        assert study.pack.study == name
        assert pack_named(study.pack.name) is study.pack


@names
def test_that_a_study_explains_itself_on_a_page(name: str) -> None:
    page = (files(f"viewer.studies.{name}") / "README.md").read_text()
    assert len(page) > 500
    assert "20" in page, "the source has a year"


OVERRIDES: Mapping[str, Mapping[str, object]] = {
    "grid_localization": {"grids": [8, "8x10"], "colour": [1, 2, 3]},
    "pathology_mcq": {"arms": ["corruption"], "levels": ["3"], "prompt": "blip2"},
    **{name: sample.overrides for name, sample in SAMPLES.items()},
}


@names
def test_that_parameters_survive_json_and_every_one_is_explained(name: str) -> None:
    study = study_named(name)
    for preset in study.presets():
        params = study.read_params(preset, dict(OVERRIDES[name]))
        stored = json.loads(json.dumps(plain(params)))
        assert study.read_params(preset, stored) == params
        assert set(stored) == {field.name for field in fields(params)}
        hash(params)
    for field in fields(params):
        assert field.metadata["help"].endswith(".")
        assert field.metadata["kind"].expected
        kept = field.metadata["kind"].read(field.name, field.default)
        assert kept == field.default


@names
def test_that_parameters_refuse_what_they_do_not_know(name: str) -> None:
    study = study_named(name)
    with pytest.raises(WrongUseError, match="nonsense"):
        study.read_params(paper_preset(name), {"nonsense": 1})
    with pytest.raises(WrongUseError, match="no-such-preset"):
        study.read_params("no-such-preset", {})


@placing
def test_that_a_plan_is_the_same_every_time_and_names_no_trial_twice(
    name: str, dataset: Dataset
) -> None:
    study = study_named(name)
    trials = study.plan(dataset, a_spec(name))
    assert trials == study.plan(dataset, a_spec(name))
    keys = {(t.item, t.condition.name, t.repeat, t.model) for t in trials}
    assert len(keys) == len(trials) > 0
    assert {t.model for t in trials} == {"says-d4", "uniform"}
    assert {t.repeat for t in trials} == {0, 1}


@placing
def test_that_the_same_trial_gives_the_same_bytes(name: str, dataset: Dataset) -> None:
    trial = a_trial(name, dataset)
    first, second = (
        prepare_trial(RunContext(a_spec(name), dataset), trial).request
        for _ in range(2)
    )
    assert first.messages == second.messages
    assert first.images[0].sha256 == second.images[0].sha256
    assert first.facts.item == trial.item


@placing
@given(text=st.text(max_size=80), finish=st.sampled_from(["stop", "length", "other"]))
def test_that_any_reply_is_an_answer_or_has_one_status(
    name: str, text: str, finish: str
) -> None:
    study = study_named(name)
    params = study.read_params(paper_preset(name), {})
    condition = study.conditions(params)[0]
    trial = Trial("i|Edema", "p", "i", "frontal", "Edema", condition, 0, "m")
    reply = StepReply(Step("answer"), ModelReply(text, finish_reason=finish))
    answer = study.parse(Turn(trial, Item("i", "p"), (reply,)), params)
    if isinstance(answer, Unparsed):
        assert answer.status in UNREADABLE | {Status.REFUSED}
        assert answer.reason
    else:
        assert isinstance(answer, CellAnswer)
        places = places_of(name, paper_preset(name), {})
        assert answer.cell in places.grid(condition).cells()


@placing
def test_that_a_verdict_is_the_same_every_time(name: str, dataset: Dataset) -> None:
    places = places_of(name, paper_preset(name), {})
    trial = a_trial(name, dataset)
    image = next(i for i in dataset.images if i.key == trial.image)
    reference = places.reference(
        image.masks[trial.finding], image.geometry, trial.condition
    )
    scores = [
        places.score(CellAnswer(cell), reference, trial.condition)
        for _ in range(2)
        for cell in reference.grid.cells()
    ]
    half = len(scores) // 2
    assert scores[:half] == scores[half:]
    correct = [
        i for i, s in enumerate(scores[:half]) if s.status is Status.SCORED_CORRECT
    ]
    assert tuple(correct) == reference.hits


def test_that_an_unknown_study_names_the_known_ones() -> None:
    with pytest.raises(WrongUseError, match="grid_localization"):
        study_named("grid_localisation")


def test_that_every_folder_of_a_study_is_in_the_catalogue() -> None:
    folder = Path(str(files("viewer.studies")))
    parts = {p.parent.name for p in folder.glob("*/study.py")}
    assert parts == set(OURS)
