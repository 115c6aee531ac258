"""The catalogue of adapters, and [[model]] tables."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import EntryPoint
from importlib.util import find_spec
from pathlib import Path

import pytest

from viewer.domain.errors import MissingDependencyError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.models import catalog
from viewer.models.catalog import (
    ADAPTERS,
    adapter_for,
    adapters,
    builtin_profiles,
    missing_dependency,
    profile_from_table,
    spec_of,
)
from viewer.models.protocol import AdapterSpec, Setting
from viewer.models.transformers_local.files import folder_of
from viewer.services.synthetic.demo_run import BASELINES

SERVER: dict[str, object] = {
    "name": "my-server",
    "adapter": "openai_api",
    "base_url": "http://127.0.0.1:8131/v1",
    "model": "tiny-vlm",
}


def test_that_the_table_of_the_manual_is_read() -> None:
    table = {
        **SERVER,
        "temperature": 0,
        "seed": 1,
        "max_tokens": 64,
        "timeout_s": 30,
        "api_key_env": "MY_KEY",
        "price_in": 2.5,
        "price_out": 10,
    }
    profile = profile_from_table(table)
    assert profile.name == "my-server"
    assert spec_of(profile) is ADAPTERS["openai_api"]
    assert profile.settings["temperature"] == 0.0
    assert isinstance(profile.settings["temperature"], float)
    assert profile.settings["price_in"] == 2_500_000
    assert profile.settings["price_out"] == 10_000_000
    assert isinstance(profile.settings["price_in"], int)
    assert "reasoning_effort" not in profile.settings


def test_that_a_price_is_whole_micro_dollars_without_binary_rounding() -> None:
    for dollars, micro in ((0.1, 100_000), (0.000001, 1), (1.005, 1_005_000)):
        assert (
            profile_from_table({**SERVER, "price_in": dollars}).settings["price_in"]
            == micro
        )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"temprature": 0}, "unknown setting 'temprature'. Did you mean temperature"),
        ({"hue": 0}, "unknown setting 'hue'. openai_api knows server"),
        ({"api_key": "sk-CANARY"}, "keys must not be stored in a file"),
        ({"bearer_token": "sk-CANARY"}, "keys must not be stored in a file"),
        ({"Authorization": "sk-CANARY"}, "keys must not be stored in a file"),
        ({"note": "sk-CANARY0123456789abcdef"}, "keys must not be stored in a file"),
        ({"model": "AKIAIOSFODNN7CANARYX"}, "keys must not be stored in a file"),
        ({"proxy": "http://a:CANARY@b:1"}, "keys must not be stored in a file"),
        (
            {"api_key_env": "ghp_CANARY0123456789abcdefghij"},
            "keys must not be stored in",
        ),
        ({"max_new_tokens": 5}, "unknown setting 'max_new_tokens'"),
        ({"api_key_env": "sk-CANARY"}, "not the name of an environment variable"),
        ({"temperature": "hot"}, "temperature that is not a number"),
        ({"temperature": True}, "temperature that is not a number"),
        ({"temperature": float("nan")}, "out of range"),
        ({"temperature": -1}, "below 0"),
        ({"seed": 1.5}, "seed that is not a whole number"),
        ({"seed": 2**60}, "out of range"),
        ({"max_tokens": 0}, "below 1"),
        ({"timeout_s": 0}, "below 0.01"),
        ({"price_in": -1}, "below 0"),
        ({"price_in": "1"}, "not dollars per million tokens"),
        ({"detail": "finest"}, "Choose low or high"),
        ({"base_url": 5}, "base_url that is not text"),
        ({"name": "a b"}, "holds a space"),
        ({"name": ""}, "is empty"),
        ({"name": 5}, "has no name"),
        ({"adapter": 5}, "has no adapter"),
        ({"adapter": "openai"}, "no adapter called 'openai'"),
    ],
)
def test_that_a_bad_table_is_refused_in_a_sentence(
    change: dict[str, object], sentence: str
) -> None:
    with pytest.raises(WrongUseError) as caught:
        profile_from_table({**SERVER, **change})
    assert sentence in str(caught.value)
    assert "CANARY" not in str(caught.value)


def test_that_a_missing_setting_is_named_with_its_meaning() -> None:
    table = {key: value for key, value in SERVER.items() if key != "model"}
    with pytest.raises(WrongUseError, match="has no model"):
        profile_from_table(table)


def test_that_a_switch_must_be_true_or_false(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting("strict", bool, default=False, meaning="strictness")
    spec = AdapterSpec("switched", "", "nowhere:at_all", (setting,))
    monkeypatch.setattr(catalog, "ADAPTERS", {"switched": spec})
    table: dict[str, object] = {"name": "x", "adapter": "switched"}
    assert profile_from_table({**table, "strict": True}).settings == {"strict": True}
    with pytest.raises(WrongUseError, match="not true or false"):
        profile_from_table({**table, "strict": 1})


def test_that_a_relative_file_starts_from_the_study_file() -> None:
    table = {"name": "x", "adapter": "scripted", "answers_file": "a/b.json"}
    assert profile_from_table(table, Path("base")).settings["answers_file"] == str(
        Path("base") / "a" / "b.json"
    )
    assert profile_from_table(table).settings["answers_file"] == "a/b.json"


def test_that_a_home_folder_is_one_in_a_profile_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    table = {"name": "x", "adapter": "cnn_cam", "card": "~/nets/card.toml"}
    card = profile_from_table(table, Path("base")).settings["card"]
    assert card == str(tmp_path / "nets" / "card.toml")


def test_that_a_model_of_the_hub_is_a_folder_only_where_it_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here" / "google" / "medgemma").mkdir(parents=True)
    (tmp_path / "started" / "google" / "gemma").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "started")

    def model(named: str) -> object:
        table = {"name": "x", "adapter": "transformers_local", "model": named}
        return profile_from_table(table, tmp_path / "here").settings["model"]

    assert model("google/medgemma") == str(tmp_path / "here" / "google" / "medgemma")
    assert model("google/gemma") == "google/gemma"
    assert folder_of("google/gemma") is None
    for folder in ("tiny-llava", "./tiny/llava", "../tiny-llava", "a/b/c"):
        assert model(folder) == str(tmp_path / "here" / folder)


def test_that_a_profile_survives_a_pickle() -> None:
    profile = profile_from_table(SERVER)
    again = pickle.loads(pickle.dumps(profile))  # noqa: S301 - our own bytes
    assert again == profile
    assert hash(again) == hash(profile)


def test_that_one_profile_has_one_adapter_also_from_threads() -> None:
    profile = ModelProfile("fresh", "scripted", {"answer": "A1"})
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: adapter_for(profile), range(64)))
    assert len({id(adapter) for adapter in made}) == 1
    other = ModelProfile("fresh", "scripted", {"answer": "A2"})
    assert adapter_for(other) is not made[0]


def test_that_the_baselines_need_no_settings() -> None:
    assert {*BASELINES} <= {profile.name for profile in builtin_profiles()}
    for profile in builtin_profiles():
        assert adapter_for(profile).identity(0).model == profile.name


def test_that_a_missing_package_is_named_with_the_way_to_get_it() -> None:
    spec = AdapterSpec("local", "", "x:y", imports={"no_such_package": "local"})
    sentence = "local needs no_such_package (pip install overread[local])."
    assert missing_dependency(spec) == sentence
    for known in ADAPTERS.values():
        absent = [name for name in known.imports or {} if find_spec(name) is None]
        said = missing_dependency(known)
        assert (said is None) == (not absent), known.name
        assert said is None or absent[0] in said


def test_that_a_missing_package_stops_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = AdapterSpec("needy", "", "x:y", imports={"no_such_package": ""})
    monkeypatch.setattr(catalog, "ADAPTERS", {"needy": spec})
    with pytest.raises(MissingDependencyError, match="pip install no_such_package"):
        adapter_for(ModelProfile("needy", "needy"))


OUTSIDE = AdapterSpec(
    "outside", "from another package", "viewer.models.baselines:Uniform"
)


def _offer(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    entry = EntryPoint("outside", value, catalog.ENTRY_POINTS)
    monkeypatch.setattr(catalog, "entry_points", lambda group: [entry])  # noqa: ARG005
    catalog._others.cache_clear()


def test_that_another_package_can_offer_a_way_of_asking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "outside_package", sys.modules[__name__])
    _offer(monkeypatch, "outside_package:OUTSIDE")
    assert adapters()["outside"] is OUTSIDE
    assert set(ADAPTERS) < set(adapters())
    profile = profile_from_table({"name": "theirs", "adapter": "outside"})
    assert adapter_for(profile).identity(0).model == "outside"
    catalog._others.cache_clear()


@pytest.mark.parametrize("value", ["no_such_package:SPEC", "json:loads", "json:spec"])
def test_that_a_broken_offer_is_named(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    _offer(monkeypatch, value)
    (why,) = (one.why for one in catalog.broken_adapters())
    assert why.startswith("The adapter 'outside' of package ")
    assert set(adapters()) == set(ADAPTERS)
    with pytest.raises(WrongUseError, match="no adapter called 'outside'"):
        spec_of(ModelProfile("theirs", "outside"))
    assert spec_of(ModelProfile("uniform", "uniform")).name == "uniform"
    catalog._others.cache_clear()


def test_that_a_number_of_tokens_is_no_key() -> None:
    table = {"name": "c", "adapter": "cnn_cam", "card": "c.toml", "max_tokens": 1024}
    with pytest.raises(WrongUseError, match="unknown setting 'max_tokens'"):
        profile_from_table(table)


def test_that_a_key_the_program_knows_may_not_stand_in_any_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = "opaque/CANARY+of=nobody"
    monkeypatch.setenv("MY_THING", key)
    profile_from_table({**SERVER, "api_key_env": "MY_THING"})
    with pytest.raises(WrongUseError, match="keys must not be stored") as caught:
        profile_from_table({**SERVER, "reasoning_effort": key})
    assert "CANARY" not in str(caught.value)
