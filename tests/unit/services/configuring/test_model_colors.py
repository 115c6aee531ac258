"""A model's colour is stored with its profile, and no other model changes it."""

import tomllib
from itertools import pairwise

import pytest

from tests.helpers.tiny_study import write_images
from viewer.domain.errors import WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.run import RunSpec
from viewer.domain.styles import MODEL_NAMES, MODELS, looks_of
from viewer.models.catalog import profile_from_table
from viewer.services.configuring.model_colors import assign_model_colors
from viewer.services.configuring.model_profiles import apply_edit, deleting, saving
from viewer.services.importing.import_dataset import import_dataset
from viewer.settings import Settings
from viewer.store.database import open_store
from viewer.store.runs import create_run


def _table(name: str, **more: object) -> dict[str, object]:
    return {"name": name, "adapter": "scripted", "answer": "D4", **more}


def _save(settings: Settings, *tables: dict[str, object]) -> None:
    for table in tables:
        apply_edit(saving(table, None, settings.models_file), settings.models_file)


def _colours(settings: Settings, *names: str) -> tuple[str, ...]:
    """Return each model's colour as it is when it is drawn alone."""
    with open_store(settings.store) as store:
        assign_model_colors(store)
    return tuple(looks_of([name])[name].colour for name in names)


def test_that_a_model_keeps_its_colour_when_another_goes(settings: Settings) -> None:
    _save(settings, _table("one"), _table("two"), _table("three"))
    before = _colours(settings, "one", "two", "three")
    assert before == MODELS[:3]
    file = settings.models_file
    apply_edit(deleting("one", file), file)
    assert _colours(settings, "two", "three") == before[1:]
    _save(settings, _table("four"))
    assert _colours(settings, "two", "three", "four") == (*before[1:], MODELS[0])


def test_that_the_colour_stands_in_the_profile(settings: Settings) -> None:
    _save(settings, _table("one", colour="green"), _table("two"))
    tables = tomllib.loads(settings.models_file.read_text())["model"]
    assert [table["colour"] for table in tables] == ["green", "orange"]
    assert _colours(settings, "one") == (MODELS[MODEL_NAMES.index("green")],)
    changed = saving(_table("one", colour="violet"), "one", settings.models_file)
    apply_edit(changed, settings.models_file)
    assert _colours(settings, "one") == (MODELS[MODEL_NAMES.index("violet")],)


def test_that_a_colour_is_not_how_a_model_is_asked() -> None:
    plain, green = _table("one"), _table("one", colour="green")
    assert profile_from_table(plain) == profile_from_table(green)
    with pytest.raises(WrongUseError, match="an unknown colour"):
        profile_from_table(_table("one", colour="mauve"))


def test_that_baselines_differ_from_the_first_models(settings: Settings) -> None:
    _save(settings, _table("one"), _table("two"))
    names = "one", "two", "asymmetry", "uniform", "frequent_cell"
    assert len(set(_colours(settings, *names))) == len(names)


def test_that_a_model_without_a_profile_has_the_colour_of_its_first_run(
    settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = write_images(tmp_path_factory.mktemp("films"), 1)
    with open_store(settings.store) as store:
        import_dataset(store, "folder", folder, "films")
        colours = []
        for n, models in enumerate((["gone"], ["imported", "gone"], ["last"])):
            spec = RunSpec(
                "grid_localization",
                "films",
                "gosai2025",
                0,
                1,
                tuple(ModelProfile(name, "scripted") for name in models),
            )
            create_run(
                store, spec, 1, [], study_version="1", scorer_version="1",
                plan_sha256=f"{n}",
            )  # fmt: skip
            colours.append(_colours(settings, "gone"))
    assert all(one == other for one, other in pairwise(colours))
    assert _colours(settings, "gone", "imported", "last") == MODELS[:3]


def test_that_models_of_one_colour_differ_in_hatch() -> None:
    looks = looks_of([f"model {n}" for n in range(12)]).values()
    assert len({(look.colour, look.hatch) for look in looks}) == 12
