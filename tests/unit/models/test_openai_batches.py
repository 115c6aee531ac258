"""The Batch API's client against a real server that speaks it."""

import io
import json
import time
from collections.abc import Iterator

import pytest

from tests.helpers.batch_server import BatchScript, BatchServer
from tests.helpers.requests import facts, noise, request
from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import LENGTH_CAP, RawReply
from viewer.models.batching import BatchState, BatchStatus, Outcome
from viewer.models.catalog import profile_from_table
from viewer.models.openai_api.adapter import OpenAIAdapter

QUESTION = request(facts(plain=noise(64)), text="Where is ‘Edema’?")


@pytest.fixture
def script() -> BatchScript:
    return BatchScript()


@pytest.fixture
def adapter(script: BatchScript) -> Iterator[OpenAIAdapter]:
    with BatchServer(script) as server:
        table = {"base_url": server.base_url, "model": "tiny", "temperature": 0.5}
        named = {"name": "s", "adapter": "openai_api", **table}
        yield OpenAIAdapter(profile_from_table(named))


def begun(adapter: OpenAIAdapter, names: str = "ab", key: str = "k1") -> BatchState:
    lines = [adapter.batches.line(name, adapter.body(QUESTION)) for name in names]
    file = adapter.batches.upload("q.jsonl", io.BytesIO(b"".join(lines)))
    return adapter.batches.submit(file, key)


def over(adapter: OpenAIAdapter, state: BatchState) -> BatchState:
    while not state.is_over:
        time.sleep(0.005)
        state = adapter.batches.state(state.id)
    return state


def outcomes(
    adapter: OpenAIAdapter, state: BatchState, names: str = "ab"
) -> dict[str, Outcome]:
    noted = dict.fromkeys(names, adapter.batches.noted(QUESTION))
    return dict(adapter.batches.results(over(adapter, state), noted))


def reasons(found: dict[str, Outcome]) -> list[str]:
    return [one.reason for one in found.values() if isinstance(one, ProviderError)]


def test_that_a_line_holds_the_exact_body_of_its_question(
    adapter: OpenAIAdapter,
) -> None:
    body = adapter.body(QUESTION)
    line = adapter.batches.line("7", body)
    assert body in line
    assert line.count(b"\n") == 1
    assert {k: v for k, v in json.loads(line).items() if k != "body"} == {
        "custom_id": "7",
        "method": "POST",
        "url": "/v1/chat/completions",
    }


def test_that_answers_are_read_like_those_that_come_at_once(
    adapter: OpenAIAdapter, script: BatchScript
) -> None:
    found = outcomes(adapter, begun(adapter))
    assert {*found} == {"a", "b"}
    raw = found["a"]
    assert isinstance(raw, RawReply)
    assert adapter.read(raw).text == "D4"
    assert raw.headers[LENGTH_CAP] == "1024"
    assert raw.latency_ms == 0
    assert len(script.billed) == 2


def test_that_a_batch_says_when_its_answers_are_due(
    adapter: OpenAIAdapter, script: BatchScript
) -> None:
    script.takes_s = 60
    state = begun(adapter)
    assert not state.is_over
    assert state.due.endswith("+00:00")
    assert state.look_after_s == 0.01


def test_that_a_batch_is_found_by_its_key_behind_many_others(
    adapter: OpenAIAdapter,
) -> None:
    mine = begun(adapter, key="mine")
    for number in range(25):
        begun(adapter, key=f"other{number}")
    found = adapter.batches.found("no such file", "mine")
    assert found is not None
    assert found.id == mine.id
    by_file = adapter.batches.found(mine.input_file, "no such key")
    assert by_file is not None
    assert by_file.id == mine.id
    assert adapter.batches.found("no such file", "no such key") is None


@pytest.mark.parametrize(
    ("fate", "reason", "retry_class"),
    [
        ("500", "http_500", RetryClass.RETRY),
        ("400", "http_400", RetryClass.FAIL),
        ("401", "http_401", RetryClass.STOP_RUN),
        ("expired", "batch_expired", RetryClass.FAIL),
        ("missing", "batch_missing", RetryClass.FAIL),
        ("400:temperature", "parameter_rejected", RetryClass.RETRY),
    ],
)
def test_that_a_failure_of_one_question_is_its_own(
    adapter: OpenAIAdapter,
    script: BatchScript,
    fate: str,
    reason: str,
    retry_class: RetryClass,
) -> None:
    fates = iter([fate, "ok"])
    script.fate = lambda _body, _again: next(fates)
    found = outcomes(adapter, begun(adapter))
    failed = found["a"]
    assert isinstance(failed, ProviderError)
    assert (failed.reason, failed.retry_class) == (reason, retry_class)
    assert isinstance(found["b"], RawReply)


def test_that_every_question_learns_of_a_rejected_parameter(
    adapter: OpenAIAdapter, script: BatchScript
) -> None:
    script.fate = lambda _body, _again: "400:temperature"
    assert reasons(outcomes(adapter, begun(adapter))) == ["parameter_rejected"] * 2
    assert "temperature" not in json.loads(adapter.body(QUESTION))


def test_that_a_batch_that_expires_names_no_unpaid_answer(
    adapter: OpenAIAdapter, script: BatchScript
) -> None:
    script.expires = True
    fates = iter(["ok", "missing"])
    script.fate = lambda _body, _again: next(fates)
    found = outcomes(adapter, begun(adapter))
    assert isinstance(found["a"], RawReply)
    assert reasons(found) == ["batch_expired"]


def test_that_a_cancelled_batch_keeps_the_answers_it_has(
    adapter: OpenAIAdapter, script: BatchScript
) -> None:
    script.takes_s, script.cancelling_s = 0.4, 0.05
    state = begun(adapter, "abcdefgh")
    time.sleep(0.2)
    assert adapter.batches.cancel(state.id).status is BatchStatus.CANCELLING
    found = outcomes(adapter, state, "abcdefgh")
    assert {*reasons(found)} == {"batch_cancelled"}
    assert len(script.billed) == 8 - len(reasons(found)) > 0


def test_that_a_batch_that_is_refused_says_why(
    adapter: OpenAIAdapter, script: BatchScript
) -> None:
    script.refused = [("invalid_json_line", "Line 1 is no JSON.")]
    state = over(adapter, begun(adapter))
    assert state.status is BatchStatus.FAILED
    assert state.why == "Line 1 is no JSON."
    assert not state.is_crowded
    assert reasons(outcomes(adapter, state)) == ["batch_rejected"] * 2
    script.most_enqueued = 1
    assert begun(adapter).is_crowded


def test_that_lines_that_cannot_be_read_are_passed_over(
    adapter: OpenAIAdapter, script: BatchScript
) -> None:
    state = over(adapter, begun(adapter))
    (results,) = state.files
    first = script.files[results].splitlines()[0]
    script.files[results] = b'no JSON\n[1]\n{"custom_id": "z"}\n' + first + b"\n" * 2
    assert reasons(outcomes(adapter, state)) == ["batch_missing"]


def test_that_an_uploaded_file_can_be_removed(
    adapter: OpenAIAdapter, script: BatchScript
) -> None:
    state = begun(adapter)
    adapter.batches.remove(state.input_file)
    assert state.input_file not in script.files
    adapter.batches.remove(state.input_file)
    script.trouble["DELETE file"] = [403]
    with pytest.raises(ProviderError, match="403"):
        adapter.batches.remove(state.input_file)


def test_that_files_are_found_by_their_exact_name_behind_many_others(
    adapter: OpenAIAdapter, script: BatchScript
) -> None:
    mine = [script.keep(b"", "mine.jsonl") for _ in range(2)]
    for number in range(25):
        script.keep(b"", f"{number}-mine.jsonl")
    assert {*adapter.batches.files_named("mine.jsonl")} == {*mine}
    assert adapter.batches.files_named("jsonl") == ()


@pytest.mark.parametrize("step", ["POST files", "POST batches", "GET batch"])
def test_that_a_step_the_server_fails_at_raises(
    adapter: OpenAIAdapter, script: BatchScript, step: str
) -> None:
    script.takes_s = 60
    script.trouble[step] = [503]
    with pytest.raises(ProviderError) as caught:
        adapter.batches.state(begun(adapter).id)
    assert caught.value.retry_class is RetryClass.RETRY


def test_that_a_server_without_batches_is_named(
    adapter: OpenAIAdapter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.helpers.batch_server.described", lambda _: {})
    with pytest.raises(ProviderError, match="no batch endpoint"):
        begun(adapter)
