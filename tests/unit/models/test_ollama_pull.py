"""Ollama downloads a model: progress, pause, resume and what goes wrong."""

import json
import threading

import pytest

from tests.helpers.ollama_server import SIZES, UNKNOWN, OllamaServer
from viewer.domain.errors import (
    DiskFullError,
    OverreadError,
    PrivacyError,
    WrongUseError,
)
from viewer.models.loaded import LoadCancelledError, silent
from viewer.models.openai_api.ollama_pull import pull

MODEL = "medgemma:4b"
FULL = "write /m/blobs/sha256-aa-partial: no space left on device"


def refusal(server: OllamaServer, model: str = MODEL) -> OverreadError:
    with pytest.raises(OverreadError) as caught:
        pull(server.base_url, model, silent, threading.Event())
    return caught.value


def says(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def test_that_a_model_is_pulled_with_progress_over_all_files_and_no_image() -> None:
    told = list[tuple[float, str]]()
    with OllamaServer() as server:
        pull(server.base_url, MODEL, lambda *step: told.append(step), threading.Event())
    assert server.asked == [("/api/pull", {"model": MODEL, "stream": True})]
    assert server.here == SIZES
    assert told[0] == (0.0, "pulling manifest")
    assert told[2] == (0.05, "downloading, 0.1 of 2.0 MB")
    assert (1.0, "downloading, 3.0 of 3.0 MB") in told
    assert told[-2:] == [(1.0, "verifying sha256 digest"), (1.0, "success")]


def test_that_a_pause_closes_the_connection_and_the_next_pull_goes_on() -> None:
    paused, told = threading.Event(), list[str]()

    def stop(part: float, _: str) -> None:
        if part > 0.2:
            paused.set()

    with OllamaServer(pause_s=0.02) as server:
        with pytest.raises(LoadCancelledError):
            pull(server.base_url, MODEL, stop, paused)
        assert server.left.wait(10)
        before = server.here["sha256:aa"]
        assert 0 < before < SIZES["sha256:aa"]
        server.pause_s = 0.0
        pull(
            server.base_url, MODEL, lambda _, words: told.append(words),
            threading.Event(),
        )  # fmt: skip
    sizes = [float(words.split()[1]) for words in told if "downloading" in words]
    assert min(sizes[1:]) > before / 1e6  # sizes[0]: the total alone is known
    assert server.here == SIZES


def test_that_a_pause_does_not_wait_for_an_ollama_that_says_nothing() -> None:
    paused = threading.Event()
    soon = threading.Timer(0.2, paused.set)  # while the client waits for a line
    with OllamaServer(says(status="verifying sha256 digest"), hangs=True) as server:
        with pytest.raises(LoadCancelledError):
            pull(server.base_url, MODEL, lambda *_: soon.start(), paused)
        assert server.left.wait(10)


@pytest.mark.parametrize(
    ("said", "kind", "what"),
    [
        (
            UNKNOWN,
            WrongUseError,
            f"Ollama knows no model called '{MODEL}': {UNKNOWN}.",
        ),
        (
            FULL,
            DiskFullError,
            f"The disk is full, so Ollama could not get '{MODEL}': {FULL}.",
        ),
        (
            "max retries exceeded: dial tcp: lookup registry.ollama.ai: no such host",
            WrongUseError,
            f"Ollama could not reach the place from which it gets '{MODEL}': max",
        ),
        (
            "pull model manifest: 412: a newer version of Ollama is required",
            WrongUseError,
            f"Ollama could not get '{MODEL}': pull model manifest: 412: a newer",
        ),
    ],
)
def test_that_what_ollama_says_becomes_one_sentence_and_a_way_out(
    said: str, kind: type[OverreadError], what: str
) -> None:
    with OllamaServer(says(status="pulling manifest"), says(error=said)) as server:
        error = refusal(server)
    assert type(error) is kind
    assert error.what.startswith(what)
    assert error.how


def test_that_a_full_disk_says_how_much_is_missing() -> None:
    file = {"digest": "sha256:aa", "total": 3_000_000, "completed": 1_000_000}
    script = (says(status="pulling aa", **file), says(error=FULL))
    with OllamaServer(*script) as server:
        error = refusal(server)
    assert f"get '{MODEL}', of which 2.0 MB are missing: {FULL}." in error.what


def test_that_an_unknown_name_is_refused_by_the_library() -> None:
    with OllamaServer() as server:
        assert "knows no model called 'medgama'" in refusal(server, "medgama").what


def test_that_an_ollama_that_went_away_is_told() -> None:
    gone = "does not answer any more; it keeps what has arrived."
    with OllamaServer(says(status="pulling manifest")) as server:
        assert gone in refusal(server).what  # it ended without an end
    assert gone in refusal(server).what  # nobody listens now


@pytest.mark.parametrize(
    "line", [b"<html>", b"[1]", b'{"object": "list"}', b"x" * 1_100_000]
)
def test_that_another_program_is_not_taken_for_ollama(line: bytes) -> None:
    with OllamaServer(line) as server:
        assert "does not answer as Ollama does" in refusal(server).what


def test_that_no_other_machine_is_asked_and_no_model_that_runs_on_one() -> None:
    with pytest.raises(PrivacyError):
        pull("http://192.0.2.1:11434/v1", MODEL, silent, threading.Event())
    for name in ("gpt-oss:120b-cloud", "glm-5:cloud"):
        with OllamaServer() as server:
            assert "images would leave" in refusal(server, name).what
        assert not server.asked
