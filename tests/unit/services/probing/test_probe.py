"""The Test button against servers with known habits, and a real one."""

import hashlib
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.llama_server import MODEL, llama_server
from tests.helpers.scripted_endpoint import EndpointScript
from tests.helpers.scripted_server import Script, ScriptedServer
from viewer.cli import run_command_line
from viewer.domain.errors import PrivacyError, WrongUseError
from viewer.domain.exchange import ModelProfile
from viewer.domain.probe import ProbeReport, Verdict
from viewer.models import endpoint
from viewer.models.catalog import profile_from_table
from viewer.services.privacy import decisions
from viewer.services.probing.probe import (
    list_models,
    list_with_consent,
    probe,
    probe_with_consent,
)
from viewer.store import consents
from viewer.store.database import open_store

YES, NO, UNKNOWN = Verdict.YES, Verdict.NO, Verdict.UNKNOWN


def profile_at(base_url: str, **settings: object) -> ModelProfile:
    table = {
        "name": "s",
        "adapter": "openai_api",
        "base_url": base_url,
        "model": "scripted-1",
        **settings,
    }
    return profile_from_table(table)


def report_of(script: Script, **settings: object) -> ProbeReport:
    with ScriptedServer(script) as server:
        return probe(profile_at(server.base_url, **settings))


def sentence(report: ProbeReport, capability: str) -> str:
    return next(r.sentence for r in report.rows if r.capability == capability)


def test_that_a_server_that_does_everything_is_found_to() -> None:
    report = report_of(EndpointScript(answer_by_hash=True))
    assert {row.capability for row in report.rows} == {
        "reachable",
        "key",
        "model listed",
        "answers",
        "image input",
        "seed",
        "logprobs",
        "json schema",
        "says when cut short",
        "temperature",
        "top_p",
        "reasoning_effort",
        "detail",
        "Responses",
    }
    assert {row.verdict for row in report.rows} == {YES}
    assert all(row.sentence.endswith(".") for row in report.rows)
    assert report.models == ("scripted-1",)
    assert "64 tokens" in sentence(report, "image input")


@pytest.mark.parametrize(
    ("script", "capability", "verdict", "said"),
    [
        (EndpointScript(images="ignored"), "image input", NO, "silently"),
        (EndpointScript(images="text"), "image input", NO, "as text"),
        (EndpointScript(streak=1), "seed", NO, "not have the same answer"),
        (EndpointScript(rejects={"seed": "vllm"}), "seed", NO, "rejects a seed"),
        (EndpointScript(tells_logprobs=False), "logprobs", NO, "silently"),
        (EndpointScript(rejects={"logprobs": "openai"}), "logprobs", NO, "rejects"),
        (EndpointScript(keeps_schema=False), "json schema", NO, "not follow"),
        (
            EndpointScript(rejects={"response_format": "llama_cpp"}),
            "json schema",
            NO,
            "rejects",
        ),
        (EndpointScript(tells_length=False), "says when cut short", NO, "not marked"),
        (EndpointScript(rejects={"top_p": "ollama"}), "top_p", NO, "left out"),
        (EndpointScript(rejects={"detail": "openai"}), "detail", NO, "left out"),
        (EndpointScript(responds=False), "Responses", NO, "404"),
        (EndpointScript(models=("other",)), "model listed", UNKNOWN, "not among"),
        (EndpointScript(models=()), "key", UNKNOWN, "404"),
    ],
)
def test_that_a_habit_is_found_out(
    script: EndpointScript, capability: str, verdict: Verdict, said: str
) -> None:
    script.answer_by_hash = True
    report = report_of(script)
    assert report.verdict(capability) is verdict
    assert said in sentence(report, capability)


def test_that_a_constant_answer_does_not_tell_whether_images_are_seen() -> None:
    report = report_of(EndpointScript(tells_logprobs=False))
    assert report.verdict("image input") is UNKNOWN


def test_that_chat_is_looked_for_behind_responses() -> None:
    report = report_of(EndpointScript(answer_by_hash=True), api="responses")
    assert report.verdict("Chat Completions") is YES
    assert report.verdict("logprobs") is YES
    assert report.verdict("says when cut short") is YES


def test_that_a_refused_key_ends_the_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OVERREAD_TEST_KEY", "wrong")
    script = EndpointScript(key="right")
    report = report_of(script, api_key_env="OVERREAD_TEST_KEY")
    assert report.is_reachable
    assert report.verdict("key") is NO
    assert not script.received


def test_that_a_key_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OVERREAD_TEST_KEY", raising=False)
    report = report_of(EndpointScript(), api_key_env="OVERREAD_TEST_KEY")
    assert report.verdict("reachable") is UNKNOWN
    assert "OVERREAD_TEST_KEY" in sentence(report, "reachable")


def test_that_nobody_at_the_address_is_told() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        report = probe(profile_at(f"http://127.0.0.1:{free.getsockname()[1]}/v1"))
    assert not report.is_reachable
    assert [row.capability for row in report.rows] == ["reachable"]


def test_that_a_server_that_fails_is_not_taken_for_one_that_cannot() -> None:
    report = report_of(Script(default="500"))
    assert report.is_reachable
    assert report.verdict("answers") is NO
    assert report.rows[-1].capability == "answers"


def test_that_only_endpoints_are_probed_and_only_where_allowed() -> None:
    with pytest.raises(WrongUseError, match="has no endpoint"):
        probe(ModelProfile("uniform", "uniform"))
    with pytest.raises(WrongUseError, match="has no endpoint"):
        list_models(ModelProfile("uniform", "uniform"))
    with pytest.raises(PrivacyError):
        probe(profile_at("https://example.org/v1"))


def test_that_every_question_is_told_of_before_it_leaves() -> None:
    told: list[object] = []
    script = EndpointScript()
    with ScriptedServer(script) as server:
        probe(
            profile_at(server.base_url),
            before_sending=lambda _, asked: told.append(asked),
        )
    assert told[0] is None  # the list of models
    assert len(told) - 1 == len(script.received)


def test_that_a_consent_lets_a_probe_leave_and_its_questions_are_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "is_loopback", lambda _: False)
    path = tmp_path / "s.sqlite"
    script = EndpointScript()
    with ScriptedServer(script) as server:
        profile = profile_at(server.base_url)
        address = f"http://127.0.0.1:{server.port}"
        with pytest.raises(PrivacyError):
            probe_with_consent(path, profile)
        with open_store(path):
            pass
        with pytest.raises(PrivacyError):
            probe_with_consent(path, profile)
        assert not script.received
        with open_store(path) as store:
            consents.add_consent(store, address, None, "a test", granted=True)
        assert probe_with_consent(path, profile).is_reachable
    with open_store(path) as store:
        left = consents.departures(store)
    hashes = {hashlib.sha256(r.body).hexdigest() for r in script.received}
    the_list = hashlib.sha256(b"").hexdigest()
    assert left[0].body_sha256 == the_list
    assert {d.body_sha256 for d in left[1:]} == hashes - {the_list}
    assert {d.deidentified for d in left} == {()}
    assert {(d.endpoint, d.run) for d in left} == {(address, None)}


def test_that_consent_withdrawn_ends_a_probe_at_its_next_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "is_loopback", lambda _: False)
    path = tmp_path / "s.sqlite"
    script = EndpointScript()
    with ScriptedServer(script) as server, open_store(path) as store:
        address = f"http://127.0.0.1:{server.port}"
        consents.add_consent(store, address, None, "a test", granted=True)
        checks: list[int] = []

        def check() -> None:
            checks.append(1)
            if len(checks) == 4:
                decisions.withdraw(store, address)

        with pytest.raises(PrivacyError, match="Nothing may be sent to"):
            probe_with_consent(path, profile_at(server.base_url), check)
        left = consents.departures(store)
    assert len(left) == 3
    assert len(script.received) == 2  # besides the list of models


def test_that_the_list_of_models_needs_consent_and_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "is_loopback", lambda _: False)
    path = tmp_path / "s.sqlite"
    with ScriptedServer(EndpointScript()) as server, open_store(path) as store:
        profile = profile_at(server.base_url)
        with pytest.raises(PrivacyError, match="overread allow"):
            list_with_consent(path, profile)
        consents.add_consent(
            store, f"http://127.0.0.1:{server.port}", None, "a test", granted=True
        )
        assert list_with_consent(path, profile)
        assert len(consents.departures(store)) == 1


def test_that_the_command_prints_the_verdicts_and_fails_where_nobody_answers(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OVERREAD_HOME", str(tmp_path))
    store = tmp_path / "s.sqlite"
    lines = '[[model]]\nname = "{}"\nadapter = "openai_api"\nmodel = "m"\n'
    with ScriptedServer(EndpointScript(answer_by_hash=True)) as server:
        (tmp_path / "models.toml").write_text(
            lines.format("here")
            + f'base_url = "{server.base_url}"\n'
            + lines.format("gone")
            + 'base_url = "http://127.0.0.1:9/v1"\n'
        )
        command = ["probe", "here", "--store", str(store), "--json"]
        assert run_command_line(command) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["reachable"] is True
    assert printed["rows"][0] == {
        "capability": "reachable",
        "verdict": "yes",
        "sentence": "A server responds there.",
    }
    assert run_command_line(["probe", "gone", "--store", str(store)]) == 1
    assert "Nothing answers at 127.0.0.1:9" in capsys.readouterr().out
    assert run_command_line(["probe", "none", "--store", str(store)]) == 2
    study = tmp_path / "study.toml"
    study.write_text(
        'study = "grid_localization"\ndataset = "d"\n'
        + lines.format("none")
        + 'base_url = "http://127.0.0.1:9/v1"\n'
    )
    command = ["probe", "none", "--study", str(study), "--store", str(store)]
    assert run_command_line(command) == 1
    assert "Nothing answers at 127.0.0.1:9" in capsys.readouterr().out


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("xllamacpp", reason="needs xllamacpp")
    with llama_server(Path(tmp_path_factory.mktemp("llama"))) as url:
        yield url


def test_that_a_real_server_is_found_to_do_what_it_does(llama: str) -> None:
    report = probe(profile_at(llama, model=MODEL))
    verdicts = {row.capability: row.verdict for row in report.rows}
    assert report.models == (MODEL,)
    for capability in ("image input", "seed", "logprobs", "json schema", "Responses"):
        assert verdicts[capability] is YES, sentence(report, capability)


def test_that_a_real_server_s_silent_habits_are_found_out(llama: str) -> None:
    report = probe(profile_at(llama, model=MODEL, api="responses"))
    assert report.verdict("logprobs") is NO
    assert report.verdict("json schema") is NO
    assert report.verdict("Chat Completions") is YES
