"""A model whose files on its server are others than at its check is badged."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.ollama_server import SeeingOllama
from tests.helpers.scripted_server import ScriptedServer
from tests.helpers.tiny_study import a_spec, finish, planned
from viewer.domain.exchange import ModelProfile
from viewer.domain.model_check import ModelCheck
from viewer.domain.probe import Verdict
from viewer.models.openai_api.loopback_servers import ServedFiles
from viewer.services.calibrating.check import check_with_consent
from viewer.services.configuring.model_list import ModelLine, model_lines
from viewer.services.configuring.model_profiles import (
    apply_edit,
    model_named,
    saving,
)
from viewer.services.configuring.served_files import (
    change_of_files,
    files_of,
    other_files,
)
from viewer.services.reporting.figures import write_report
from viewer.settings import Settings
from viewer.store import runs
from viewer.store.database import open_store

A, B = "a" * 64, "b" * 64
NOW = ServedFiles(B, "2026-11-20")


def found(digest: str, at: str = "2026-11-01T10:00:00.000000Z") -> ModelCheck:
    sees = Verdict.YES
    return ModelCheck("m", at, sees, "grid", "grid", 1.0, None, True, "m", digest)


@pytest.fixture
def ollama() -> Iterator[ScriptedServer]:
    with ScriptedServer(SeeingOllama(digest=A)) as server:
        yield server


def script(ollama: ScriptedServer) -> SeeingOllama:
    assert isinstance(ollama.script, SeeingOllama)
    return ollama.script


def profile(url: str, **settings: object) -> ModelProfile:
    base = {"server": "ollama", "base_url": url, "model": "medgemma", "timeout_s": 99.0}
    return ModelProfile("mine", "openai_api", base | settings)


def line(settings: Settings) -> ModelLine:
    return next(each for each in model_lines(settings) if each.name == "mine")


def test_that_a_change_of_files_is_told_with_both_and_since_when() -> None:
    assert change_of_files(found(A), NOW) == (
        "the server has other files for the model: aaaaaaaaaaaa at the check on "
        "2026-11-01, bbbbbbbbbbbb since 2026-11-20"
    )
    assert change_of_files(found(A), ServedFiles(B)).endswith("bbbbbbbbbbbb now")


def test_that_nothing_is_told_of_what_a_server_did_not_tell() -> None:
    assert change_of_files(found(A), None) == ""
    assert change_of_files(found(""), NOW) == ""
    assert change_of_files(found(B), NOW) == ""
    assert other_files(found(B), None) == ""
    assert other_files(found(B), found("")) == ""
    assert other_files(found(""), found(A)) == ""


@pytest.mark.parametrize(
    ("model", "listed"),
    [
        ("medgemma", "medgemma:latest"),
        ("medgemma:4b", "medgemma:4b"),
        ("host:5000/owner/medgemma", "host:5000/owner/medgemma:latest"),
    ],
)
def test_that_a_name_without_a_tag_is_the_latest(
    model: str, listed: str, ollama: ScriptedServer
) -> None:
    script(ollama).model = listed
    files = files_of(profile(ollama.base_url, model=model))
    assert files == ServedFiles(A, "2026-11-20")


def test_that_only_an_ollama_on_this_computer_is_asked(ollama: ScriptedServer) -> None:
    assert files_of(profile(ollama.base_url, server="vllm")) is None
    assert files_of(profile("https://ollama.example.org/v1")) is None
    assert files_of(profile("http://127.0.0.1:9/v1")) is None
    assert files_of(ModelProfile("s", "scripted", {"answer": "D4"})) is None


@pytest.mark.parametrize("digest", ["", "latest", "<b>" * 20])
def test_that_what_is_no_digest_is_not_kept(
    digest: str, ollama: ScriptedServer
) -> None:
    script(ollama).digest = digest
    assert files_of(profile(ollama.base_url)) is None


def test_that_a_date_that_is_none_is_left_out(ollama: ScriptedServer) -> None:
    script(ollama).modified_at = "a while ago"
    assert files_of(profile(ollama.base_url)) == ServedFiles(A)


def test_that_the_list_badges_changed_files_until_the_model_is_checked_again(
    settings: Settings, ollama: ScriptedServer
) -> None:
    mine = profile(ollama.base_url)
    table = {"name": mine.name, "adapter": mine.adapter, **mine.settings}
    apply_edit(saving(table, None, settings.models_file), settings.models_file)
    mine = model_named("mine", settings.models_file)
    first = check_with_consent(settings.store, mine)
    assert first.digest == A
    assert not line(settings).changed
    script(ollama).digest = B
    assert line(settings).changed
    assert line(settings).check_wrong == (
        "Since the check, the server has other files for the model: aaaaaaaaaaaa at "
        f"the check on {first.at[:10]}, bbbbbbbbbbbb since 2026-11-20. Check it again."
    )
    check_with_consent(settings.store, mine)
    assert (line(settings).changed, line(settings).check_wrong) == (False, "")
    assert line(settings).check_words.endswith(
        f"Its files on the server are others than at the check on {first.at[:10]}."
    )


def test_that_a_run_on_other_files_than_checked_is_badged_once_and_in_its_manifest(
    tmp_path: Path, ollama: ScriptedServer
) -> None:
    path, mine = tmp_path / "s.sqlite", profile(ollama.base_url)
    check_with_consent(path, mine)
    with open_store(path) as store:
        run = planned(store, tmp_path / "d", a_spec([mine]))
        script(ollama).digest = B
        finish(store, run)
        finish(store, run)
        (note,) = runs.run_notes(store, run)
        write_report(store, run, tmp_path / "out")
    assert note.kind == "model_changed"
    assert note.text.startswith("the server has other files for the model: aaaa")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["model_checks"]["mine"]["digest"] == A
    assert manifest["run"]["notes"] == [["mine", "model_changed", note.text]]
