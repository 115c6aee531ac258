"""One check says whether a model sees, what it answers, how fast and how steadily."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.scripted_endpoint import EndpointScript
from tests.helpers.scripted_server import Script, ScriptedServer
from tests.helpers.seeing_server import Seeing
from tests.helpers.tiny_study import a_spec, finish, planned, server_profile
from viewer.domain.errors import PrivacyError, ProviderError
from viewer.domain.exchange import ModelProfile
from viewer.domain.model_check import ModelCheck
from viewer.domain.probe import Verdict
from viewer.models import provider_errors
from viewer.services.calibrating.check import (
    check_model,
    check_with_consent,
    warning_before,
)
from viewer.services.configuring.check_words import check_in_words, wrong_in_words
from viewer.services.privacy import made_questions
from viewer.services.reporting.figures import write_report
from viewer.store import runs
from viewer.store.database import open_store
from viewer.store.model_checks import add_check, changed_since, latest_check

FOUND = ModelCheck(
    "m", "2026-01-01", Verdict.YES, "grid", "grid", 1.94, None, repeats=True
)


def checked(script: Script, **settings: object) -> ModelCheck:
    with ScriptedServer(script) as server:
        return check_model(server_profile(server.base_url, **settings))


def remote(**settings: object) -> ModelProfile:
    base = {"base_url": "https://api.example.com/v1", "model": "m"}
    return ModelProfile("far", "openai_api", {**base, **settings})


def test_that_a_model_that_finds_the_mark_is_told_in_plain_words() -> None:
    found = checked(Seeing())
    assert (found.sees, found.convention, found.repeats) == (Verdict.YES, "grid", True)
    assert found.answered_as == "scripted-1"
    assert wrong_in_words(found) == ""
    words = check_in_words(replace(found, seconds=1.94))
    assert words == (
        "Sees the image. Answers cells. 1.9 s per answer. Same answer twice."
    )


@pytest.mark.parametrize("convention", ["xyxy_1000", "gemini", "qwen2_5_vl"])
def test_that_boxes_where_cells_were_asked_for_name_the_convention_to_set(
    convention: str,
) -> None:
    found = checked(Seeing(convention=convention))
    assert found.sees is Verdict.YES
    assert found.named == "grid"
    assert f"Set Coordinates to {found.convention}." in wrong_in_words(found)
    again = checked(Seeing(convention=convention), convention=found.convention)
    assert wrong_in_words(again) == ""


def test_that_the_convention_of_the_settings_goes_before_one_that_reads_the_same() -> (
    None
):
    found = checked(Seeing(convention="xyxy_1000"), convention="xyxy_1000")
    assert found.convention == "xyxy_1000"
    assert "Answers boxes in 0-1000 coordinates." in check_in_words(found)


def test_that_a_server_that_pretends_to_see_is_found_out() -> None:
    found = checked(EndpointScript(images="ignored"))
    assert found.sees is Verdict.NO
    assert "same whatever the image shows" in wrong_in_words(found)
    assert "Does not see the image. Names no location." in check_in_words(found)


def test_that_guesses_are_not_taken_for_sight() -> None:
    found = checked(EndpointScript(answer_by_hash=True))
    assert found.sees is Verdict.UNKNOWN
    assert "Try Calibrate" in wrong_in_words(found)


def test_that_another_answer_to_the_same_question_is_told() -> None:
    found = checked(EndpointScript(answer_by_hash=True, streak=1))
    assert not found.repeats
    assert "Two different answers to the same question." in check_in_words(found)


def test_that_an_answer_costs_what_its_tokens_cost() -> None:
    found = checked(Seeing(), price_in=10_000_000, price_out=10_000_000)
    assert found.cost_microusd is not None
    assert found.cost_microusd > 0
    assert " and $" in check_in_words(found)


def test_that_only_what_leaves_or_costs_is_asked_about_before() -> None:
    here = server_profile("http://127.0.0.1:9/v1")
    assert warning_before(here) == ""
    assert warning_before(ModelProfile("s", "scripted", {"answer": ""})) == ""
    assert warning_before(remote()) == (
        "Up to 5 short questions about made images go to api.example.com. "
        "What that costs is not known."
    )
    priced = remote(price_in=1_000_000, price_out=1_000_000, max_tokens=10)
    assert "They cost $0." in warning_before(priced)
    paid = server_profile("http://127.0.0.1:9/v1", price_in=1, price_out=1)
    assert "made images go. They cost" in warning_before(paid)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [("401", "key"), ("reset", "connection"), ("not-json", "JSON"), ("404", "404")],
)
def test_that_a_server_that_cannot_be_asked_says_why_and_keeps_nothing(
    behaviour: str, words: str, tmp_path: Path
) -> None:
    with ScriptedServer(Script(default=behaviour)) as server:
        profile = server_profile(server.base_url)
        with pytest.raises(ProviderError) as caught:
            check_with_consent(tmp_path / "s.sqlite", profile)
    assert words.casefold() in str(caught.value).casefold()
    with open_store(tmp_path / "s.sqlite") as store:
        assert latest_check(store, profile) is None


def test_that_a_server_that_still_loads_its_model_is_waited_for() -> None:
    found = checked(Seeing(behaviours=["503", "503"]))
    assert found.sees is Verdict.YES


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask a server that is loading again after a moment."""
    monkeypatch.setattr(provider_errors, "_LOADING_PAUSE_S", 0.01)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("says", ["loading", "loading-ollama"])
def test_that_loading_a_model_may_take_longer_than_a_failure_may(says: str) -> None:
    told = list[tuple[int, int, str]]()
    with ScriptedServer(Seeing(behaviours=[says] * 8)) as server:
        profile = server_profile(server.base_url)
        found = check_model(profile, progress=lambda *step: told.append(step))
    assert found.sees is Verdict.YES
    assert told[0] == (0, 5, "The server is loading my-server… (0 s)")
    assert told[8] == (1, 5, "")


@pytest.mark.usefixtures("soon")
def test_that_waiting_for_a_model_to_load_can_be_cancelled(tmp_path: Path) -> None:
    class CancelledError(Exception): ...

    def check() -> None:
        if len(server.script.received) == 2:
            raise CancelledError

    with ScriptedServer(Seeing(default="loading")) as server:
        profile = server_profile(server.base_url)
        with pytest.raises(CancelledError):
            check_with_consent(tmp_path / "s.sqlite", profile, check=check)


def test_that_a_model_that_never_finishes_loading_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(made_questions, "LOADING_LIMIT_S", 0.0)
    with pytest.raises(ProviderError, match="is still loading the model") as caught:
        checked(Seeing(default="loading"))
    assert caught.value.loading


def test_that_a_server_that_never_has_its_model_ready_says_so() -> None:
    with pytest.raises(ProviderError) as caught:
        checked(Seeing(default="503"))
    assert "503" in str(caught.value)


def test_that_nothing_is_sent_elsewhere_without_consent(tmp_path: Path) -> None:
    with open_store(tmp_path / "s.sqlite"):
        pass
    with pytest.raises(PrivacyError):
        check_with_consent(tmp_path / "s.sqlite", remote())


def test_that_the_last_check_stays_with_the_settings_and_in_manifests(
    tmp_path: Path,
) -> None:
    path, script = tmp_path / "s.sqlite", Seeing()
    with ScriptedServer(script) as server:
        profile = server_profile(server.base_url)
        check_with_consent(path, profile)
        last = check_with_consent(path, profile)
        script.reply_to = Script.reply_to.__get__(script)  # type: ignore[method-assign]
        with open_store(path) as store:
            other = ModelProfile(
                profile.name, profile.adapter, {**profile.settings, "seed": 2}
            )
            assert latest_check(store, profile) == last
            assert latest_check(store, other) is None
            run = planned(store, tmp_path / "d", a_spec([profile]))
            finish(store, run)
            write_report(store, run, tmp_path / "out")
    with open_store(path) as store:
        assert latest_check(store, profile, before=last.at) != last
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["model_checks"][profile.name]["at"] == last.at


def test_that_a_run_under_another_name_than_the_check_is_badged(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.sqlite"
    with ScriptedServer(Seeing(called="m-7b-q4")) as server:
        profile = server_profile(server.base_url)
        found = check_with_consent(path, profile)
    with ScriptedServer(Script()) as server, open_store(path) as store:
        moved = server_profile(server.base_url)
        add_check(store, moved, found)
        assert changed_since(store, found) == ""
        run = planned(store, tmp_path / "d", a_spec([moved]))
        finish(store, run)
        (note,) = runs.run_notes(store, run)
        assert note.text == ("the endpoint answered as m-7b-q4 and later as scripted-1")
        assert changed_since(store, found) == note.text


def test_that_a_check_that_found_nothing_is_not_sound() -> None:
    assert FOUND.is_sound
    assert not replace(FOUND, convention="gemini").is_sound
    assert not replace(FOUND, sees=Verdict.UNKNOWN, convention="").is_sound
