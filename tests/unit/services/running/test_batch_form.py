from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.quiz_study import quiz_in_catalog
from tests.helpers.tiny_study import SERVER, a_form, write_images
from viewer.domain.errors import WrongUseError
from viewer.models.catalog import builtin_profiles
from viewer.services.configuring.study_file import read_study_file
from viewer.services.importing.import_dataset import import_dataset
from viewer.services.running.batch_form import (
    answering,
    dataset_names,
    finding_names,
    form_fields,
    model_states,
    preset_titles,
    read_study,
    role_names,
    spec_of,
    study_titles,
    write_study,
)
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.studies.catalog import OURS, study_named


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(tmp_path, tmp_path / "s.sqlite")


def test_that_every_parameter_has_a_field_whose_default_the_study_takes() -> None:
    for preset in preset_titles("grid_localization"):
        fields = form_fields("grid_localization", preset)
        defaults = {f.name: f.default for f in fields}
        form = a_form(preset=preset, models=(), params=defaults)
        assert spec_of(form, Settings(Path("x"), Path("y"))) == spec_of(
            a_form(preset=preset, models=(), params={}),
            Settings(Path("x"), Path("y")),
        )
        assert all(f.help for f in fields)


def test_that_a_field_says_what_may_be_chosen() -> None:
    fields = {f.name: f for f in form_fields("grid_localization", "recommended")}
    assert fields["findings"].choices == finding_names()
    assert fields["views"].choices == ("frontal", "lateral", "other")
    assert (fields["mask_mode"].kind, fields["mask_mode"].default) == (
        "choice",
        "exact",
    )
    assert fields["mask_mode"].choices == ("paper", "exact")
    assert (fields["grids"].kind, fields["grids"].choices) == ("choices", ())
    side = fields["side"]
    assert (side.kind, side.default, side.low, side.high) == ("int", 256, 32, 4096)
    assert fields["opacity"].kind == "float"
    assert fields["frontal_label"].kind == "text"


def test_that_the_rule_of_readers_offers_those_of_the_data_set() -> None:
    for readers, offered in (((), ()), (("R1", "R2"), ("R1", "R2"))):
        fields = form_fields("grid_localization", "gosai2025", readers)
        (rule,) = [f for f in fields if f.name == "reader_rule"]
        assert (rule.kind, rule.default) == ("choice", "any")
        assert rule.choices == ("any", "majority", *offered)
        assert len(rule.words) == len(rule.choices)


def test_that_people_read_titles_and_files_keep_names() -> None:
    assert list(study_titles()) == list(OURS)
    for study in study_titles():
        titles = preset_titles(study)
        assert tuple(titles) == study_named(study).presets()
        fields = form_fields(study, next(iter(titles)))
        said = (*study_titles().values(), *titles.values())
        assert not [words for words in said if "_" in words]
        for field in fields:
            assert len(field.words) in {0, len(field.choices)}, field.name
            assert field.label or "_" not in field.name, "a name of the code"
            assert field.words or not [c for c in field.choices if "_" in c]


def test_that_studies_data_sets_and_models_are_listed(settings: Settings) -> None:
    assert dataset_names(settings.store) == ()
    with open_store(settings.store) as opened:
        for name in ("one", "two"):
            folder = write_images(settings.home / name, 1)
            import_dataset(opened, "folder", folder, name)
    assert dataset_names(settings.store) == ("two", "one")
    settings.models_file.write_text(SERVER)
    states = {state.name: state for state in model_states(settings)}
    built_in = [profile.name for profile in builtin_profiles()]
    assert list(states) == sorted(["mine", *built_in])
    assert (states["uniform"].state, states["uniform"].ready) == ("ready", True)


def test_that_a_form_written_is_read_back_the_same(
    settings: Settings, tmp_path: Path
) -> None:
    settings.models_file.write_text(SERVER)
    own = {"gosai2025_user": "Where is\n'{condition}'?"}
    params = {"grids": [4], "opacity": 0.25, "prompts": own}
    form = a_form(models=("uniform", "mine"), params=params, limit=7)
    path = tmp_path / "study.toml"
    write_study(form, path)
    assert "hit_threshold" not in path.read_text()
    assert "[prompts]\ngosai2025_user = '''\nWhere is\n" in path.read_text()
    again = read_study(path, settings)
    assert replace(again, params={}) == replace(form, params={})
    assert spec_of(again, settings) == spec_of(form, settings)
    assert read_study_file(path, settings.models_file) == spec_of(form, settings)
    write_study(again, tmp_path / "again.toml")
    assert (tmp_path / "again.toml").read_text() == path.read_text()


def test_that_a_files_own_models_are_kept(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "in.toml"
    path.write_text(
        'study = "grid_localization"\ndataset = "tiny"\nmodels = ["mine"]\n' + SERVER
    )
    form = read_study(path, settings)
    assert [profile.name for profile in form.profiles] == ["mine"]
    assert form.profiles[0].settings["price_in"] == 150_000
    write_study(form, tmp_path / "out.toml")
    assert read_study(tmp_path / "out.toml", settings) == form


def test_that_a_form_the_study_refuses_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(WrongUseError, match="grids"):
        write_study(a_form(params={"grids": []}), tmp_path / "study.toml")
    assert not (tmp_path / "study.toml").exists()


def test_that_an_unknown_model_is_told_with_the_closest(settings: Settings) -> None:
    with pytest.raises(WrongUseError, match="Did you mean 'uniform'"):
        spec_of(a_form(models=("unifrom",)), settings)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:9/v1", ""),
        ("http://localhost:9/v1", ""),
        ("https://api.example.org/v1", "api.example.org"),
    ],
)
def test_that_a_model_names_the_other_machine_that_it_is_asked_at(
    settings: Settings, url: str, host: str
) -> None:
    settings.models_file.write_text(SERVER.replace("http://127.0.0.1:9/v1", url))
    hosts = {state.name: state.host for state in model_states(settings)}
    assert hosts.pop("mine") == host
    assert set(hosts.values()) == {""}


def test_that_a_study_in_words_is_offered_no_model_that_only_points(
    settings: Settings,
) -> None:
    settings.models_file.write_text(SERVER)
    states = model_states(settings)
    assert answering("grid_localization", states) == states
    assert [state.name for state in answering("pathology_mcq", states)] == ["mine"]
    assert set(role_names(settings)) >= {"mine", "uniform"}


def test_that_a_role_is_one_of_the_models_or_none() -> None:
    with quiz_in_catalog():
        (judge,) = (
            f for f in form_fields("quiz", "own", (), ("a", "b")) if f.name == "judge"
        )
        (typed,) = (f for f in form_fields("quiz", "own") if f.name == "judge")
    assert (judge.kind, judge.default) == ("choice", "")
    assert dict(zip(judge.choices, judge.words, strict=True)) == {
        "": "none",
        "a": "a",
        "b": "b",
    }
    assert typed.kind == "text"
