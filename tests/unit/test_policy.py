"""What an administrator decides holds, whatever users say."""

import sys
from pathlib import Path

import pytest

from tests.helpers.policies import Decide, deciding
from viewer import cli
from viewer import settings as module
from viewer.domain.errors import OverreadError, PrivacyError, UnreadableInputError
from viewer.domain.exchange import ModelProfile
from viewer.models.endpoint import LOCAL_ONLY, Allowance, endpoint_at
from viewer.services.configuring.model_list import Readiness, model_lines
from viewer.services.configuring.model_profiles import (
    apply_edit,
    deleting,
    known_models,
    saving,
)
from viewer.services.configuring.study_file import profiles_for
from viewer.services.inspecting.listing import doctor_rows
from viewer.services.privacy.decisions import allow
from viewer.services.privacy.gate import Gate
from viewer.settings import (
    NONE,
    STORE_VARIABLE,
    Policy,
    Settings,
    policy_file,
    read_policy,
    read_settings,
)
from viewer.store.database import open_store
from viewer.terminal import WindowParts

OUTSIDE = "https://api.example.org"
INSIDE = "https://models.hospital.example"
MODELS = """
[[model]]
name = "inside"
adapter = "openai_api"
base_url = "https://models.hospital.example/v1"
model = "medgemma"

[[model]]
name = "outside"
adapter = "openai_api"
base_url = "https://api.example.org/v1"
model = "large"
"""


@pytest.fixture
def decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Decide:
    return deciding(tmp_path, monkeypatch)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = Settings(tmp_path, tmp_path / "s.sqlite")
    made.models_file.write_text(MODELS, "utf-8")
    return made


def test_that_without_a_file_users_choose(decide: Decide, settings: Settings) -> None:
    del decide
    assert read_policy() == NONE
    assert policy_file() is None
    Allowance(frozenset({f"{OUTSIDE}:443"})).check(endpoint_at(OUTSIDE))
    assert settings.models_file == settings.home / "models.toml"
    rows = {row["what"]: row["state"] for row in doctor_rows(settings)}
    assert rows["policy"] == "none"


def test_that_only_an_administrator_s_folder_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "OVERREAD_HOME", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    assert not any(tmp_path in one.parents for one in module._places())
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "overread"))
    assert module._places()[-1] == tmp_path / "policy.toml"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("local_only = yes", "Invalid value"),
        ("local-only = true", "local-only"),
        ('local_only = "true"', "local_only"),
        ('allowed_hosts = "https://a.example"', "allowed_hosts"),
        ("\x00", "at line 1"),
        ("#" * 1_000_001, "too long"),
    ],
    ids=["not TOML", "misspelt", "wrong type", "no list", "no text", "long"],
)
def test_that_a_policy_that_cannot_be_read_stops_everything(
    text: str, told: str, decide: Decide, tmp_path: Path
) -> None:
    file = decide(text)
    with pytest.raises(UnreadableInputError) as caught:
        read_policy()
    assert str(file) in str(caught.value)
    assert told in str(caught.value)
    for guarded in (
        lambda: read_settings(tmp_path / "s.sqlite"),
        lambda: LOCAL_ONLY.check(endpoint_at(OUTSIDE)),
        lambda: Allowance(frozenset({f"{OUTSIDE}:443"})).check(endpoint_at(OUTSIDE)),
    ):
        with pytest.raises(UnreadableInputError):
            guarded()


def test_that_a_change_takes_effect_at_once(decide: Decide) -> None:
    decide("local_only = true")
    assert read_policy() == Policy(local_only=True)
    decide('local_only = false\ncontact = "IT, 4711"')
    assert read_policy() == Policy(contact="IT, 4711")


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("local_only = true", (False, False)),
        (f'allowed_hosts = ["{INSIDE}"]', (True, False)),
        ("allowed_hosts = []", (False, False)),
        (f'local_only = true\nallowed_hosts = ["{INSIDE}"]', (False, False)),
        ('contact = "IT"', (True, True)),
    ],
)
def test_that_nothing_goes_where_it_may_not(
    text: str, may: tuple[bool, bool], decide: Decide, tmp_path: Path
) -> None:
    file = decide(text)
    with open_store(tmp_path / "s.sqlite") as store:
        for address, is_allowed in zip((INSIDE, OUTSIDE), may, strict=True):
            endpoint = endpoint_at(address)
            consented = Allowance(frozenset({endpoint.origin}))
            profile = ModelProfile(
                "m", "openai_api", {"base_url": address, "model": "x"}
            )
            if is_allowed:
                consented.check(endpoint)
                allow(store, address, "any")
                continue
            for ask in (
                lambda: consented.check(endpoint),  # noqa: B023 - called at once
                lambda: allow(store, address, "any"),  # noqa: B023
                lambda: Gate().check_model(profile, ()),  # noqa: B023
            ):
                with pytest.raises(PrivacyError, match="administrator") as caught:
                    ask()
                assert str(file) in str(caught.value)
        endpoint_at("http://127.0.0.1:8131").check_policy()


def test_that_an_address_which_is_none_allows_nothing(decide: Decide) -> None:
    decide('allowed_hosts = ["*.hospital.example"]')
    with pytest.raises(OverreadError, match=r"allowed_hosts of .*policy.toml"):
        endpoint_at(INSIDE).check_policy()


def test_that_there_is_one_store(
    decide: Decide, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = tmp_path / "one.sqlite"
    decide(f'store = "{one}"\ncontact = "IT, 4711"')
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    assert read_settings().store == read_settings(one).store == one
    with pytest.raises(OverreadError, match=r"one\.sqlite.*Only IT, 4711"):
        read_settings(tmp_path / "other.sqlite")
    monkeypatch.setenv(STORE_VARIABLE, str(tmp_path / "other.sqlite"))
    with pytest.raises(OverreadError, match=r"The store of this computer is"):
        read_settings()


def test_that_only_the_models_chosen_are_offered(
    decide: Decide, settings: Settings, tmp_path: Path
) -> None:
    chosen, study = tmp_path / "etc" / "models.toml", tmp_path / "study.toml"
    chosen.write_text(MODELS.replace('"outside"', '"elsewhere"'), "utf-8")
    study.write_text(MODELS, "utf-8")
    decide(f'models = "{chosen}"\nallowed_hosts = ["{INSIDE}"]')
    known = {model.name: model for model in known_models(settings.models_file)}
    assert {"inside", "elsewhere"} <= set(known)
    assert "outside" not in known
    assert not any(model.own for model in known.values())
    states = {line.name: line for line in model_lines(settings)}
    assert states["inside"].readiness is not Readiness.UNUSABLE
    assert states["elsewhere"].readiness is Readiness.UNUSABLE
    assert f"lets nothing go to {OUTSIDE}:443" in states["elsewhere"].state
    table = {"name": "mine", "adapter": "scripted", "answer": "D4"}
    with pytest.raises(OverreadError, match="chose its models"):
        saving(table, None, settings.models_file)
    with pytest.raises(OverreadError, match="chose its models"):
        profiles_for(settings.models_file, study)
    assert profiles_for(settings.models_file, None).keys() == known.keys()


def test_that_users_change_their_models_without_a_policy(settings: Settings) -> None:
    apply_edit(deleting("outside", settings.models_file), settings.models_file)
    assert "outside" not in {m.name for m in known_models(settings.models_file)}


def test_that_the_rules_are_told(
    decide: Decide, settings: Settings, tmp_path: Path
) -> None:
    file = decide(
        f'allowed_hosts = ["{INSIDE}"]\nstore = "{tmp_path / "s.sqlite"}"\n'
        'contact = "Radiology IT"'
    )
    rows = {row["what"]: row for row in doctor_rows(settings)}
    assert rows["policy"]["state"] == (
        f"Images and questions may only leave for {INSIDE}. The store is "
        f"{tmp_path / 's.sqlite'}."
    )
    assert rows["policy"]["mend"] == f"Only Radiology IT can change that, in {file}."
    decide("local_only = true")
    rules = {row["what"]: row["state"] for row in doctor_rows(settings)}["policy"]
    assert rules == "Nothing leaves this computer."


def test_that_a_command_says_what_is_wrong_with_a_policy(
    decide: Decide, capsys: pytest.CaptureFixture[str]
) -> None:
    file = decide("local-only = true")
    assert cli.run_command_line(["runs"], WindowParts()) != 0
    told = capsys.readouterr().err
    assert str(file) in told
    assert "Traceback" not in told
