"""Servers of every kind: what each is sent, refuses and says of itself."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.helpers.requests import facts, noise, request
from tests.helpers.scripted_endpoint import EndpointScript, refusing, response
from tests.helpers.scripted_server import Script, ScriptedServer
from viewer.domain.errors import ProviderError, RetryClass, WrongUseError
from viewer.domain.exchange import ModelRequest, ReplyKind
from viewer.models.catalog import adapter_for, profile_from_table
from viewer.models.openai_api.address import address_of
from viewer.models.openai_api.question import Parameter
from viewer.models.openai_api.rejection import rejected_member
from viewer.models.openai_api.servers import SERVERS
from viewer.models.protocol import Adapter, ListsModels
from viewer.models.structured import CELL_SCHEMA
from viewer.services.trials.request_key import request_document, request_key

QUESTION = request(facts(plain=noise(64)), text="Where is it?")
KEY = "sk-CANARY-0123456789"


def adapter_of(server: ScriptedServer, /, **settings: object) -> Adapter:
    table = {
        "name": "s",
        "adapter": "openai_api",
        "base_url": server.base_url,
        "model": "scripted-1",
        **settings,
    }
    return adapter_for(profile_from_table(table))


def sent(server: ScriptedServer) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(server.script.received[-1].body)
    return body


def members(**settings: object) -> dict[str, Any]:
    """Return what a chat's body holds besides model and messages."""
    with ScriptedServer(EndpointScript()) as server:
        adapter_of(server, **settings).generate(QUESTION)
        body = sent(server)
    return {key: body[key] for key in body.keys() - {"model", "messages", "input"}}


def test_that_every_kind_of_server_answers_through_both_interfaces() -> None:
    with ScriptedServer(EndpointScript(answer_by_hash=True)) as server:
        for kind in SERVERS:
            for api in ("chat", "responses"):
                adapter = adapter_of(server, server=kind, api=api, max_tokens=8)
                raw = adapter.generate(QUESTION)
                assert len(adapter.read(raw).text) == 2
                assert adapter.identity(0).endpoint["api"] == api


def test_that_a_response_is_asked_for_and_never_stored() -> None:
    with ScriptedServer(EndpointScript()) as server:
        adapter = adapter_of(server, api="responses", detail="low", max_tokens=9)
        raw = adapter.generate(QUESTION)
        received, body = server.script.received[-1], sent(server)
    (turn,) = body["input"]
    assert received.path == "/v1/responses"
    assert raw.kind is ReplyKind.RESPONSE
    assert body["store"] is False
    assert body["instructions"] == "You are an expert chest radiologist."
    assert body["max_output_tokens"] == 9
    assert turn["content"][0]["type"] == "input_image"
    assert turn["content"][0]["detail"] == "low"
    assert turn["content"][1] == {"type": "input_text", "text": "Where is it?"}
    assert received.image_sha256 == (QUESTION.images[0].sha256,)


def test_that_settings_have_each_interface_s_names() -> None:
    settings = {
        "reasoning_effort": "low",
        "logprobs": 3,
        "structured": True,
        "max_tokens": 8,
    }
    chat = members(**settings)
    form = {"name": "answer", "strict": True, "schema": dict(CELL_SCHEMA)}
    assert chat == {
        "reasoning_effort": "low",
        "logprobs": True,
        "top_logprobs": 3,
        "response_format": {"type": "json_schema", "json_schema": form},
        "max_tokens": 8,
    }
    assert members(api="responses", **settings) == {
        "store": False,
        "stream": False,
        "instructions": "You are an expert chest radiologist.",
        "reasoning": {"effort": "low"},
        "include": ["message.output_text.logprobs"],
        "top_logprobs": 3,
        "text": {"format": {"type": "json_schema", **form}},
        "max_output_tokens": 8,
    }


def test_that_logprobs_without_others_beside_them_name_none() -> None:
    assert "top_logprobs" not in members(logprobs=0)
    with pytest.raises(WrongUseError, match="above 20"):
        members(logprobs=21)


def test_that_vllm_is_told_what_it_would_take_from_the_model_s_files() -> None:
    assert members(server="vllm", temperature=0) == {
        "temperature": 0.0,
        "top_p": 1.0,
        "top_k": -1,
        "min_p": 0.0,
        "repetition_penalty": 1.0,
        "max_tokens": 1024,
    }


def test_that_openai_s_names_are_used_for_openai() -> None:
    with ScriptedServer(EndpointScript()) as server:
        adapter_of(server, server="openai").generate(QUESTION)
        body = sent(server)
    assert body["max_completion_tokens"] == 1024
    assert body["messages"][0]["role"] == "developer"


def test_that_what_a_server_is_known_not_to_take_is_left_out_and_named() -> None:
    with ScriptedServer(EndpointScript()) as server:
        adapter = adapter_of(server, server="openai", api="responses", seed=3)
        raw = adapter.generate(QUESTION)
        assert "seed" not in sent(server)
        detailed = request(QUESTION.facts, detail="high")
        other = adapter_of(server, server="ollama").generate(detailed)
        assert b'"detail"' not in server.script.received[-1].body
    assert raw.dropped == ("seed",)
    assert other.dropped == ("detail",)
    assert "seed" not in adapter.identity(0).params


def test_that_azure_is_asked_at_its_deployment_with_its_own_header(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OVERREAD_TEST_KEY", KEY)
    with ScriptedServer(EndpointScript()) as server:
        root = server.base_url.removesuffix("/v1")
        settings = {
            "server": "azure",
            "base_url": root,
            "model": "my-gpt",
            "api_key_env": "OVERREAD_TEST_KEY",
        }
        adapter = adapter_of(server, **settings)
        adapter.generate(QUESTION)
        chat = server.script.received[-1]
        adapter_of(server, **settings, api="responses").generate(QUESTION)
        responses = server.script.received[-1]
    assert chat.path == (
        "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
    )
    assert responses.path == "/openai/responses?api-version=2024-10-21"
    assert chat.headers["api-key"] == KEY
    assert "authorization" not in chat.headers
    endpoint = adapter.identity(0).endpoint
    assert endpoint["path"] == "/openai/deployments/my-gpt"
    assert endpoint["api_version"] == "2024-10-21"


def test_that_azure_s_newer_address_needs_neither_deployment_nor_version() -> None:
    url = "https://x.openai.azure.com/openai/v1"
    address = address_of({"server": "azure", "base_url": url, "model": "m"})
    assert address.endpoint.url == "https://x.openai.azure.com:443/openai/v1"
    assert not address.query


@pytest.mark.parametrize("kind", ["azure", "custom"])
def test_that_a_server_without_a_usual_address_must_be_given_one(kind: str) -> None:
    table = {"name": "s", "adapter": "openai_api", "model": "m", "server": kind}
    with pytest.raises(WrongUseError, match="has no base_url"):
        profile_from_table(table)


def test_that_a_server_with_a_usual_address_needs_none() -> None:
    table = {"name": "s", "adapter": "openai_api", "model": "m", "server": "ollama"}
    settings = profile_from_table(table).settings
    assert settings["base_url"] == "http://127.0.0.1:11434/v1"


@pytest.mark.parametrize("server", ["ollama", "custom"])
def test_that_a_model_of_ollamas_cloud_is_no_model_of_this_machine(server: str) -> None:
    table: dict[str, object] = {
        "name": "m", "adapter": "openai_api", "server": server,
        "model": "qwen3-vl:235b-cloud", "base_url": "http://127.0.0.1:11434/v1",
    }  # fmt: skip
    with pytest.raises(WrongUseError, match="would send the images on"):
        profile_from_table(table)
    elsewhere = {**table, "base_url": "https://models.example.org/v1"}
    assert profile_from_table(elsewhere).settings["model"] == table["model"]


def test_that_only_azure_has_an_api_version() -> None:
    with ScriptedServer() as server, pytest.raises(WrongUseError, match="api_version"):
        adapter_of(server, api_version="2025-01-01")


STYLES = ("openai", "vllm", "llama_cpp", "ollama", "fastapi")


@pytest.mark.parametrize("style", STYLES)
def test_that_a_rejected_parameter_is_left_out_once_and_for_all(style: str) -> None:
    script = EndpointScript(rejects={"seed": style, "temperature": style})
    with ScriptedServer(script) as server:
        adapter = adapter_of(server, seed=1, temperature=0, logprobs=2)
        raw = adapter.generate(QUESTION)
        assert raw.dropped == ("temperature", "seed")
        assert len(script.received) == 3
        assert {"logprobs", "top_logprobs"} < set(sent(server))
        assert adapter.generate(QUESTION).dropped == ("temperature", "seed")
        assert len(script.received) == 4
    assert adapter.identity(0).params["seed"] == 1


@pytest.mark.parametrize(
    ("api", "member", "setting"),
    [
        ("chat", "top_logprobs", "logprobs"),
        ("chat", "response_format", "structured"),
        ("chat", "reasoning_effort", "reasoning_effort"),
        ("chat", "detail", "detail"),
        ("responses", "include", "logprobs"),
        ("responses", "text", "structured"),
        ("responses", "reasoning", "reasoning_effort"),
        ("responses", "detail", "detail"),
    ],
)
def test_that_a_member_s_refusal_leaves_its_setting_out(
    api: str, member: str, setting: str
) -> None:
    settings = {
        "logprobs": 2,
        "structured": True,
        "reasoning_effort": "low",
        "detail": "low",
    }
    with ScriptedServer(EndpointScript(rejects={member: "openai"})) as server:
        raw = adapter_of(server, api=api, **settings).generate(QUESTION)
        assert member not in sent(server)
        if member == "detail":
            assert b'"detail"' not in server.script.received[-1].body
    assert raw.dropped == (setting,)


@pytest.mark.parametrize("kind", ["custom", "openai"])
def test_that_the_token_cap_is_renamed_rather_than_left_out(kind: str) -> None:
    names = {"custom": "max_tokens", "openai": "max_completion_tokens"}
    with ScriptedServer(EndpointScript(rejects={names[kind]: "openai"})) as server:
        raw = adapter_of(server, server=kind, max_tokens=5).generate(QUESTION)
        body = sent(server)
    assert raw.dropped == ()
    assert [body[name] for name in names.values() if name in body] == [5]


def test_that_a_server_without_any_token_cap_fails_the_trial() -> None:
    rejects = {"max_tokens": "openai", "max_completion_tokens": "openai"}
    with ScriptedServer(EndpointScript(rejects=rejects)) as server:
        with pytest.raises(ProviderError, match="max_completion_tokens"):
            adapter_of(server).generate(QUESTION)
        assert len(server.script.received) == 2


SENT = (
    Parameter("temperature", {"temperature": 0.0}),
    Parameter("max_tokens", {"max_tokens": 5}),
    Parameter("logprobs", {"logprobs": True, "top_logprobs": 5}),
    Parameter("reasoning_effort", {"reasoning_effort": "low"}),
)


@pytest.mark.parametrize(
    ("message", "member"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model.", 0),
        ("You are not allowed to request logprobs from this model", 2),
        ("top_logprobs requires logprobs to be set to true", 2),
        ("Unknown parameter: 'logprobs'.", 2),
        ("Unrecognized request argument supplied: reasoning_effort", 3),
        ('"gemma3:4b" does not support thinking', 3),
        ("`temperature` is not supported by this model", 0),
        (
            "1 validation error\ntemperature\n  Extra inputs are not permitted [...]",
            0,
        ),
        ("Unsupported parameter: 'max_tokens' is not supported", 1),
        ("max_tokens is too large: 5. This model supports 4", None),
        ("maximum context length is 4096 tokens, you requested max_tokens 5", None),
        ("Invalid image", None),
        ("Unsupported parameter: 'seed'", None),
        ("", None),
    ],
)
def test_that_real_wordings_name_what_was_sent_or_nothing(
    message: str, member: int | None
) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    found = rejected_member(400, body, SENT)
    assert (found is None) is (member is None)
    assert member is None or found in SENT[member].sent


@pytest.mark.parametrize("body", [b"", b"\xff", b"[]", b'{"error": 4}', b"[" * 99_999])
def test_that_any_body_is_searched(body: bytes) -> None:
    assert rejected_member(400, body, SENT) is None


def test_that_other_statuses_speak_of_no_parameter() -> None:
    document = json.dumps(refusing("openai", "temperature")[1]).encode()
    assert rejected_member(400, document, SENT) == "temperature"
    assert rejected_member(500, document, SENT) is None


class Odd(Script):
    """A server with one document for every question."""

    def __init__(self, document: Mapping[str, object], status: int = 200) -> None:
        super().__init__()
        self.document, self.status = document, status

    def reply_to(self, request: object) -> tuple[int, object]:  # noqa: ARG002 - always
        """Return the document."""
        return self.status, self.document


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize(
    ("status", "code", "refused"),
    [
        (400, "content_filter", True),
        (400, "content_policy_violation", True),
        (400, "invalid_prompt", True),
        (400, "invalid_value", False),
        (400, ["content_filter"], False),
        (500, "content_filter", False),
    ],
)
def test_that_a_filter_s_error_is_a_refusal_and_no_other_is(
    api: str, status: int, code: object, *, refused: bool
) -> None:
    document = {"error": {"message": "Filtered.", "param": "prompt", "code": code}}
    with ScriptedServer(Odd(document, status)) as server:
        adapter = adapter_of(server, api=api)
        if not refused:
            with pytest.raises(ProviderError, match="Filtered"):
                adapter.generate(QUESTION)
            return
        raw = adapter.generate(QUESTION)
    reply = adapter.read(raw)
    assert raw.http_status == 400
    assert (reply.refusal, reply.finish_reason) == ("Filtered.", "content_filter")


@pytest.mark.parametrize(
    ("code", "reason", "retry_class"),
    [
        ("server_error", "response_server_error", RetryClass.RETRY),
        ("rate_limit_exceeded", "response_rate_limit_exceeded", RetryClass.RETRY),
        ("vector_store_timeout", "response_vector_store_timeout", RetryClass.FAIL),
        ("not a word", "response_failed", RetryClass.FAIL),
        (None, "response_unknown", RetryClass.FAIL),
    ],
)
def test_that_a_response_that_failed_is_no_reply(
    code: object, reason: str, retry_class: RetryClass
) -> None:
    error = {"code": code, "message": "It broke."}
    document = response("", status="failed", error=error)
    with (
        ScriptedServer(Odd(document)) as server,
        pytest.raises(ProviderError, match=r"It broke") as caught,
    ):
        adapter_of(server, api="responses").generate(QUESTION)
    assert (caught.value.reason, caught.value.retry_class) == (reason, retry_class)


@pytest.mark.parametrize(
    ("document", "text", "end", "refusal"),
    [
        (response("D4"), "D4", "stop", None),
        (
            response(
                "The",
                status="incomplete",
                incomplete_details={"reason": "max_output_tokens"},
            ),
            "The",
            "length",
            None,
        ),
        (
            response(
                "", status="incomplete", incomplete_details={"reason": "content_filter"}
            ),
            "",
            "content_filter",
            None,
        ),
        (
            response(
                "",
                output=[
                    {
                        "type": "message",
                        "content": [{"type": "refusal", "refusal": "No."}],
                    }
                ],
            ),
            "",
            "stop",
            "No.",
        ),
    ],
)
def test_that_ends_of_a_response_are_statuses(
    document: Mapping[str, object], text: str, end: str, refusal: str | None
) -> None:
    with ScriptedServer(Odd(document)) as server:
        adapter = adapter_of(server, api="responses")
        reply = adapter.read(adapter.generate(QUESTION))
    assert (reply.text, reply.finish_reason, reply.refusal) == (text, end, refusal)


def test_that_retry_after_arrives_through_responses() -> None:
    with (
        ScriptedServer(Script(default="429:7")) as server,
        pytest.raises(ProviderError) as caught,
    ):
        adapter_of(server, api="responses").generate(QUESTION)
    assert caught.value.retry_after_s == 7


def test_that_the_models_of_a_server_are_listed() -> None:
    with ScriptedServer(EndpointScript(models=("a", "b"))) as server:
        adapter = adapter_of(server)
        assert isinstance(adapter, ListsModels)
        assert adapter.listed_models() == ("a", "b")
    with ScriptedServer(EndpointScript(models=())) as server:
        silent = adapter_of(server)
        assert isinstance(silent, ListsModels)
        with pytest.raises(ProviderError, match="404"):
            silent.listed_models()


class Listing(Script):
    """A server whose list of models is what a test says."""

    def __init__(self, document: object) -> None:
        super().__init__()
        self.document = document

    def listing(self, path: str) -> tuple[int, object]:  # noqa: ARG002 - one list
        """Return the document."""
        return 200, self.document


@pytest.mark.parametrize(
    ("document", "names"),
    [
        ({"data": [{"id": 4}, "x", {"id": "a"}]}, ("a",)),
        ({"data": 4}, ()),
        ({"models": []}, ()),
        ([], ()),
    ],
)
def test_that_an_odd_list_of_models_holds_what_is_named(
    document: object, names: tuple[str, ...]
) -> None:
    with ScriptedServer(Listing(document)) as server:
        adapter = adapter_of(server)
        assert isinstance(adapter, ListsModels)
        assert adapter.listed_models() == names


def key_of(question: ModelRequest, **settings: object) -> str:
    table = {
        "name": "s",
        "adapter": "openai_api",
        "base_url": "http://127.0.0.1:1/v1",
        "model": "m",
        **settings,
    }
    identity = adapter_for(profile_from_table(table)).identity(0)
    return request_key(request_document(identity, question, 0, reads_facts=False))


def test_that_the_answer_s_schema_is_hashed_only_where_it_is_sent() -> None:
    schema: dict[str, object] = {"type": "object"}
    other = ModelRequest(QUESTION.messages, QUESTION.facts, "p", schema)
    plain = ModelRequest(QUESTION.messages, QUESTION.facts, "p")
    assert key_of(other) == key_of(plain)
    assert key_of(other, structured=True) != key_of(plain, structured=True)
    assert key_of(plain, structured=True) != key_of(plain)


def test_that_a_study_s_schema_goes_before_one_cell_s() -> None:
    schema: dict[str, object] = {"type": "object", "properties": {}}
    question = ModelRequest(QUESTION.messages, QUESTION.facts, "p", schema)
    with ScriptedServer(EndpointScript()) as server:
        adapter_of(server, structured=True).generate(question)
        form = sent(server)["response_format"]["json_schema"]
    assert form["schema"] == schema


@pytest.mark.parametrize(
    ("server", "address", "why"),
    [
        ("ollama", "http://127.0.0.1:1/v1", "Ollama has no batch endpoint"),
        ("anthropic", "https://a.example/v1", "Anthropic has no batch endpoint"),
        ("azure", "https://a.example", "The address of 's' has no batch endpoint"),
    ],
)
def test_that_a_server_without_batches_is_asked_at_once_only(
    server: str, address: str, why: str
) -> None:
    table = {"name": "s", "adapter": "openai_api", "server": server, "model": "m"}
    with pytest.raises(WrongUseError, match=why):
        profile_from_table({**table, "base_url": address, "answers": "batch"})
    assert profile_from_table({**table, "base_url": address}).name == "s"


def test_that_the_newer_address_of_azure_has_batches() -> None:
    table = {"name": "s", "adapter": "openai_api", "server": "azure", "model": "m"}
    address = "https://a.example/openai/v1"
    profile = profile_from_table({**table, "base_url": address, "answers": "batch"})
    assert profile.settings["answers"] == "batch"
