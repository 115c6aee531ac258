from collections.abc import Mapping

import pytest

from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.models import catalog
from viewer.models.catalog import builtin_profiles
from viewer.services.configuring import model_list
from viewer.services.configuring.model_list import ModelLine, Readiness, model_lines
from viewer.services.configuring.model_profiles import (
    apply_edit,
    check_model,
    deleting,
    free_name,
    known_models,
    model_named,
    saving,
    settings_fields,
)
from viewer.services.configuring.new_models import Section, new_models
from viewer.settings import Settings
from viewer.store import consents
from viewer.store.database import open_store

SERVER = {
    "name": "here",
    "adapter": "openai_api",
    "base_url": "http://127.0.0.1:9/v1",
    "model": "m",
}


def put(settings: Settings, *tables: Mapping[str, object]) -> None:
    for table in tables:
        apply_edit(saving(table, None, settings.models_file), settings.models_file)


def line(settings: Settings, name: str) -> ModelLine:
    return next(each for each in model_lines(settings) if each.name == name)


def test_that_what_comes_with_the_program_is_ready_and_not_to_be_changed(
    settings: Settings,
) -> None:
    lines = model_lines(settings)
    built_in = sorted(profile.name for profile in builtin_profiles())
    assert [each.name for each in lines] == built_in
    assert {(each.state, each.own, each.can_ask) for each in lines} == {
        ("ready", False, True)
    }


def test_that_each_model_says_what_it_needs(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    far = {**SERVER, "name": "far", "base_url": "https://api.example.org/v1"}
    put(
        settings,
        SERVER,
        far,
        {**SERVER, "name": "locked", "api_key_env": "NO_SUCH_KEY"},
    )
    assert line(settings, "here").state == "ready"
    assert line(settings, "far").state == "sends to api.example.org: needs consent"
    assert (line(settings, "far").host, line(settings, "far").can_ask) == (
        "api.example.org",
        True,
    )
    locked = line(settings, "locked")
    assert locked.state == "needs a key: NO_SUCH_KEY"
    assert (locked.readiness, locked.can_ask) == (Readiness.NEEDS_KEY, False)
    with open_store(settings.store) as store:
        consents.add_consent(
            store, "https://api.example.org:443", None, "tests", granted=True
        )
    assert line(settings, "far").state == "ready, sends to api.example.org"
    monkeypatch.setenv("NO_SUCH_KEY", "canary")
    assert line(settings, "locked").state == "ready"


def test_that_a_package_that_is_absent_is_named_with_the_way_to_get_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        model_list, "missing_import", lambda _spec: ("torch", "overread[local]")
    )
    assert {each.state for each in model_lines(settings)} == {
        "needs torch: pip install overread[local]"
    }
    assert not any(each.can_ask for each in model_lines(settings))


def test_that_a_table_that_cannot_be_used_says_why_and_spoils_no_other(
    settings: Settings,
) -> None:
    settings.models_file.write_text(
        '[[model]]\nname = "bad"\nadapter = "openai_api"\ntemprature = 1\n'
        '[[model]]\nname = "worse"\nadapter = "telepathy"\n'
        '[[model]]\nname = "good"\nadapter = "scripted"\nanswer = "D4"\n'
    )
    assert "temprature" in line(settings, "bad").state
    assert "telepathy" in line(settings, "worse").state
    assert line(settings, "good").state == "ready"
    assert model_named("good", settings.models_file).settings["answer"] == "D4"
    with pytest.raises(WrongUseError, match="temprature"):
        model_named("bad", settings.models_file)
    with pytest.raises(WrongUseError, match="No model is named"):
        model_named("nobody", settings.models_file)


def test_that_a_models_file_that_is_no_toml_raises_its_sentence(
    settings: Settings,
) -> None:
    settings.models_file.write_text("[[model]\n")
    with pytest.raises(UnreadableInputError, match="not valid TOML"):
        known_models(settings.models_file)
    settings.models_file.write_text("model = 3\n")
    with pytest.raises(WrongUseError, match="must be a list"):
        known_models(settings.models_file)


def test_that_every_change_can_be_taken_back_to_the_byte(settings: Settings) -> None:
    file = settings.models_file
    first = saving(SERVER, None, file)
    apply_edit(first, file)
    written = file.read_bytes()
    second = deleting("here", file)
    apply_edit(second, file)
    assert [m.name for m in known_models(file) if m.own] == []
    apply_edit(second.back, file)
    assert file.read_bytes() == written
    apply_edit(first.back, file)
    assert not file.exists()


def test_that_a_file_changed_by_somebody_else_is_left_alone(
    settings: Settings,
) -> None:
    file = settings.models_file
    edit = saving(SERVER, None, file)
    file.write_text("# mine\n")
    with pytest.raises(WrongUseError, match="changed by another program"):
        apply_edit(edit, file)
    assert file.read_text() == "# mine\n"


def test_that_a_name_is_given_once(settings: Settings) -> None:
    put(settings, SERVER)
    file = settings.models_file
    with pytest.raises(WrongUseError, match="already"):
        check_model(SERVER, None, file)
    check_model(SERVER, "here", file)
    with pytest.raises(WrongUseError, match="already"):
        check_model({**SERVER, "name": "uniform"}, "here", file)
    assert (free_name("here", file), free_name("new", file)) == ("here-2", "new")


def test_that_a_key_written_out_is_refused_and_never_repeated(
    settings: Settings,
) -> None:
    with pytest.raises(WrongUseError) as caught:
        saving({**SERVER, "api_key": "sk-canary"}, None, settings.models_file)
    assert "canary" not in str(caught.value)
    assert not settings.models_file.exists()


def test_that_every_way_of_asking_with_settings_can_be_chosen_and_set() -> None:
    offered = {new.adapter for new in new_models()}
    assert offered == {spec.name for spec in catalog.ADAPTERS.values() if spec.settings}
    for adapter in offered:
        names = [f.name for f in settings_fields(adapter)]
        own = [s.key for s in catalog.ADAPTERS[adapter].settings]
        assert names == [*own, catalog.COLOUR]
    papers = [new for new in new_models() if new.summary == "Gosai 2025"]
    assert [new.table["name"] for new in papers] == [
        "gpt-4o-2024-05-13",
        "gpt-5-medium",
        "medgemma-27b-q8",
    ]
    known = {new.title: new for new in new_models() if new.section is Section.KNOWN}
    qwen = known["Qwen3-VL 8B Instruct"]
    assert qwen.table["convention"] == "qwen3_vl"
    assert "Licence: Apache 2.0. Memory: bfloat16 18.4 GiB" in qwen.note
    assert "Writes places as: unknown." in known["GPT-5"].note
    assert known["MAIRA-2"].note.endswith("It sees the centred square of an image.")
    labels = {f.name: f.label for f in settings_fields("openai_api")}
    assert labels["base_url"] == "Server address"
    assert labels["convention"] == "Coordinates"  # as messages call it
    kinds = {f.name: f.kind for f in settings_fields("openai_api")}
    assert (kinds["base_url"], kinds["seed"]) == ("text", "maybe_int")
    assert kinds["price_in"] == "maybe_float"
    assert settings_fields("telepathy") == ()


def test_that_the_form_has_words_for_every_choice_that_it_names() -> None:
    named = ("answers", "convention", "provider_view", "server")
    for adapter in ("openai_api", "imported"):
        for field in settings_fields(adapter):
            assert (field.words != ()) is (field.name in named)
            for choice, words in zip(field.choices, field.words, strict=False):
                told = field.name == "convention" and choice  # what messages call it
                assert words.endswith(f" ({choice})") if told else words != choice


def test_that_a_default_is_said_as_the_form_shows_it() -> None:
    said = {field.name: field.sentence for field in settings_fields("openai_api")}
    assert said["timeout_s"].endswith("Default: 120.")
    local = {field.name: field.sentence for field in settings_fields("imported")}
    assert "a grid cell by default" in local["convention"]


def test_that_the_form_says_what_a_batch_is() -> None:
    (field,) = [f for f in settings_fields("openai_api") if f.name == "answers"]
    assert field.choices == ("", "batch")
    assert field.words == ("at once", "as a batch: half the price, within a day")
