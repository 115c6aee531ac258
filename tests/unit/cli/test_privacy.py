import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from PIL import Image

from tests.helpers.scripted_server import ScriptedServer
from tests.helpers.tiny_study import everything_is_remote, write_images
from viewer.cli import run_command_line
from viewer.cli.privacy import ask_for_keys
from viewer.domain.exchange import ModelProfile
from viewer.imaging.burned_in_text import text_finder_missing
from viewer.models import keys
from viewer.settings import read_settings

Overread = Callable[..., tuple[int, str, str]]

STUDY = """
study = "grid_localization"
dataset = "films"
models = ["far"]
"""
MODELS = """
[[model]]
name = "far"
adapter = "openai_api"
base_url = "{url}"
model = "tiny-vlm"
"""


@pytest.fixture
def overread(capsys: pytest.CaptureFixture[str]) -> Overread:
    def run(*words: object) -> tuple[int, str, str]:
        code = run_command_line([str(word) for word in words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def films(tmp_path: Path, overread: Overread) -> Path:
    folder = write_images(tmp_path / "films", 2)
    overread("import", "folder", folder)
    return folder


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    everything_is_remote(monkeypatch)
    with ScriptedServer() as running:
        home = read_settings().home
        home.mkdir(exist_ok=True)
        (home / "models.toml").write_text(MODELS.format(url=running.base_url))
        yield running


def rows_of(out: str) -> Any:  # noqa: ANN401 - JSON
    return json.loads(out)


def test_that_a_host_is_allowed_listed_and_withdrawn(
    overread: Overread, films: Path
) -> None:
    assert "Local only" in overread("allow", "--list")[1]
    code, out, _ = overread("allow", "api.example.org", "--for", films.name, "--json")
    (row,) = rows_of(out)
    assert code == 0
    assert (row["endpoint"], row["for"]) == ("https://api.example.org:443", "films")
    overread("allow", "https://api.example.org:8080/v1", "--for", "any")
    rows = rows_of(overread("allow", "--list", "--json")[1])
    assert [row["endpoint"] for row in rows] == [
        "https://api.example.org:443",
        "https://api.example.org:8080",
    ]
    overread("allow", "api.example.org", "--withdraw")
    rows = rows_of(overread("allow", "--list", "--json")[1])
    assert [row["for"] for row in rows] == ["any"]
    words = rows_of(overread("audit", "--json")[1])["consents"]
    assert [w["decision"] for w in words] == ["granted", "granted", "withdrawn"]


def test_that_what_can_be_read_on_its_way_is_allowed_only_where_somebody_says_so(
    overread: Overread, films: Path
) -> None:
    words = ("allow", "http://api.example.org:8000", "--for", films.name)
    assert overread(*words)[0] == 2
    assert "Local only" in overread("allow", "--list")[1]
    assert overread(*words, "--unencrypted")[0] == 0
    (row,) = rows_of(overread("allow", "--list", "--json")[1])
    assert row["endpoint"] == "http://api.example.org:8000"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["allow"], "No host is named."),
        (["allow", "api.example.org"], "Use --for DATASET"),
        (["allow", "api.example.org", "--for", "nothing"], "No data set is named"),
        (["allow", "api.example.org", "--withdraw"], "There is no consent"),
        (["allow", "http://api.example.org", "--for", "any"], "is not encrypted"),
        (["allow", "api.example.org", "--for", "any", "--unencrypted"], "is encrypted"),
        (["allow", "not a host/ at all?x", "--for", "any"], "not the address"),
        (["review", "films", "--clean", "--block"], "More than one decision"),
        (["review", "films", "--black", "1,2,3"], "is not a box"),
        (["review", "films", "--black", "9,9,3,3"], "is an empty box"),
        (["review", "nothing"], "No data set is named"),
    ],
)
@pytest.mark.usefixtures("films")
def test_that_what_cannot_be_is_said_in_a_sentence(
    words: list[str], said: str, overread: Overread
) -> None:
    code, _, err = overread(*words)
    assert code == 2
    assert said in err
    assert len(err.splitlines()) == 1


def test_that_a_restricted_data_set_cannot_be_allowed(
    overread: Overread, films: Path
) -> None:
    overread("import", "folder", films, "--restricted")
    code, _, err = overread("allow", "api.example.org", "--for", "films")
    assert code == 2
    assert "'films' is restricted" in err
    overread("import", "folder", films)
    assert overread("allow", "api.example.org", "--for", "films")[0] == 2
    overread("import", "folder", films, "--unrestricted")
    assert overread("allow", "api.example.org", "--for", "films")[0] == 0


@pytest.mark.usefixtures("films")
def test_that_a_batch_says_what_to_type_and_then_runs(
    overread: Overread, server: ScriptedServer, tmp_path: Path
) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    code, out, err = overread("run", study)
    origin = server.base_url.removesuffix("/v1")
    typed = f"overread allow {origin} --unencrypted --for films"
    assert (code, out) == (2, "")
    assert err.strip().endswith(typed)
    assert overread(*typed.split()[1:])[0] == 0
    assert overread("review", "films", "--clean")[0] == 0
    assert overread("run", study)[0] == 0
    left = rows_of(overread("audit", "--json")[1])["departures"]
    assert len(left) == len(server.script.received) == 2
    assert {row["endpoint"] for row in left} == {origin}
    assert "sent at" in overread("audit")[1]


def test_that_nothing_left_at_first(overread: Overread) -> None:
    assert "Nothing has left this machine" in overread("audit")[1]


def test_that_boxes_are_kept_and_listed(overread: Overread, films: Path) -> None:
    image = films / "patient00000_frontal.png"
    code, out, _ = overread("review", image, "--black", "1,2,30,40", "--json")
    (row,) = rows_of(out)
    assert code == 0
    assert (row["decision"], row["boxes"]) == ("blacked_out", [[1, 2, 30, 40]])
    overread("review", image, "--block")
    (row,) = rows_of(overread("review", image, "--json")[1])
    assert row["decision"] == "blocked"


def test_that_images_are_listed_by_the_names_that_the_list_of_cases_has(
    overread: Overread, tmp_path: Path
) -> None:
    for patient in ("one", "two"):
        folder = tmp_path / "many" / patient
        folder.mkdir(parents=True)
        grey = np.full((40, 40), len(patient) + ord(patient[0]), np.uint8)
        Image.fromarray(grey).save(folder / "frontal.png")
    assert overread("import", "folder", tmp_path / "many", "--name", "many")[0] == 0
    cases = rows_of(overread("cases", "many", "--json")[1])
    listed = [row["image"] for row in cases["images"]]
    rows = rows_of(overread("review", "many", "--json")[1])
    assert [row["image"] for row in rows] == listed
    assert len(set(listed)) == 2


@pytest.mark.skipif(text_finder_missing() is not None, reason="no extra ocr")
def test_that_what_the_finder_finds_is_accepted_at_once(
    overread: Overread, films: Path
) -> None:
    overread("review", films / "patient00000_frontal.png", "--block")
    rows = rows_of(overread("review", "films", "--black-found", "--json")[1])
    assert [row["decision"] for row in rows] == ["blocked", "clean"]


def test_that_a_key_is_read_from_standard_input_only(
    overread: Overread, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[str, str] = {}
    monkeypatch.setattr(keys, "store_key", kept.__setitem__)
    monkeypatch.setattr(sys, "stdin", io.StringIO("sk-CANARY-1\n"))
    code, out, err = overread("key", "set", "MY_KEY")
    assert code == 0
    assert kept == {"MY_KEY": "sk-CANARY-1\n"}
    assert "CANARY" not in out + err
    assert overread("key", "set", "MY_KEY", "sk-CANARY-1")[0] == 2
    monkeypatch.setenv("MY_KEY", "sk-CANARY-1")
    assert overread("key", "where", "MY_KEY")[1] == "environment\n"
    assert overread("key", "where", "OTHER_KEY")[1] == "nowhere\n"
    monkeypatch.setattr(keys, "forget_key", lambda name: kept.pop(name, None))
    code, out, _ = overread("key", "forget", "MY_KEY")
    assert (code, out) == (0, "The keyring no longer holds MY_KEY.\n")
    code, out, err = overread("key", "forget", "MY_KEY")
    assert (code, out) == (2, "")
    assert err == (
        "No keyring of this computer has a key MY_KEY, so none was removed. It is in "
        "the environment: unset the variable MY_KEY.\n"
    )
    code, _, err = overread("key", "forget", "OTHER_KEY")
    assert code == 2
    assert "overread key where OTHER_KEY says where a key was found." in err


def test_that_a_key_found_nowhere_is_typed_for_this_command_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def prompt(text: str, **_: object) -> str:
        asked.append(text)
        return "sk-CANARY-1"

    monkeypatch.setattr(click, "prompt", prompt)
    monkeypatch.setattr(keys, "_memory", {})
    far = ModelProfile("far", "openai_api", {"api_key_env": "MY_KEY"})
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    ask_for_keys([far])
    assert asked == []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    ask_for_keys([far, far, ModelProfile("uniform", "uniform")])
    ask_for_keys([far])
    assert asked == ["Key MY_KEY"]
    assert keys.key_named("MY_KEY") == "sk-CANARY-1"
