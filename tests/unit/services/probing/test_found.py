"""Servers found on this computer: stand-ins speak as the servers' documents show.

Ollama: github.com/ollama/ollama/blob/main/docs/openapi.yaml. LM Studio:
github.com/lmstudio-ai/docs/blob/main/1_developer/2_rest/endpoints.md. OpenAI's list of
models: platform.openai.com/docs/api-reference/models/list.
"""

import json
import socket
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import ClassVar, cast

import pytest

from tests.helpers.llama_server import llama_server
from tests.helpers.loopback_server import LoopbackServer as Served
from tests.helpers.loopback_server import Silent
from viewer.cli import run_command_line
from viewer.models.catalog import profile_from_table
from viewer.models.openai_api.loopback_servers import (
    LIMIT_S,
    USUAL_PLACES,
    DeclaredModel,
    LoopbackServer,
    Place,
    loopback_servers,
    with_sight_asked,
)
from viewer.services.probing.found import found_models, found_rows
from viewer.services.worker.endpoints import found_here

OLLAMA = {
    "/api/tags": {
        "models": [
            {"name": "llama3.2:latest", "size": 2019393189},
            {"name": "medgemma:4b", "size": 3338801718},
            # of Ollama's cloud, which images would be sent on to: never offered
            {"name": "qwen3-vl:235b-cloud", "remote_host": "https://ollama.com:443"},
            {"name": "gpt-oss:120b-cloud"},
            {"name": "mine", "remote_host": "https://ollama.com:443"},
        ]
    },
    "/api/show llama3.2:latest": {"capabilities": ["completion", "tools"]},
    "/api/show medgemma:4b": {"capabilities": ["completion", "vision"]},
}
LM_STUDIO = {
    "/api/v0/models": {
        "object": "list",
        "data": [
            {"id": "meta-llama-3.1-8b-instruct", "object": "model", "type": "llm"},
            {"id": "qwen2.5-vl-7b-instruct", "object": "model", "type": "vlm"},
            {"id": "text-embedding-nomic-embed-text-v1.5", "type": "embeddings"},
        ],
    }
}
VLLM = {
    "/v1/models": {
        "object": "list",
        "data": [
            {"id": "Qwen/Qwen3-VL-8B-Instruct", "object": "model", "owned_by": "vllm"}
        ],
    }
}


class Handler(Silent, BaseHTTPRequestHandler):
    """Answers from a table of documents; waits first, or refuses without a key."""

    documents: ClassVar[Mapping[str, object]] = {}
    wait_s = 0.0
    status = 200
    heard: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self._answer(self.path)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(f"{self.path} {json.loads(body)['model']}")

    def _answer(self, asked: str) -> None:
        self.heard.append(asked)
        time.sleep(self.wait_s)
        found = self.documents.get(asked)
        body = json.dumps(found).encode()
        self.send_response(self.status if found is not None else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serving(
    documents: Mapping[str, object], wait_s: float = 0.0, status: int = 200
) -> Served:
    values = {"documents": documents, "wait_s": wait_s, "status": status, "heard": []}
    return Served(type("Served", (Handler,), values))


def test_that_vision_models_come_first_by_what_their_server_declares() -> None:
    with serving(OLLAMA) as ollama, serving(LM_STUDIO) as studio, serving(VLLM) as vllm:
        places = (
            Place(ollama.port, "ollama"),
            Place(studio.port, "lm_studio"),
            Place(vllm.port),
        )
        rows = found_rows(loopback_servers(places, limit_s=10))
    assert [(row["model"], row["images"], row["known_as"]) for row in rows] == [
        ("medgemma:4b", "yes", "medgemma-4b"),
        ("qwen2.5-vl-7b-instruct", "yes", "qwen2.5-vl-7b"),
        ("Qwen/Qwen3-VL-8B-Instruct", "unknown", "qwen3-vl-8b"),
        ("llama3.2:latest", "no", "unknown"),
        ("meta-llama-3.1-8b-instruct", "no", "unknown"),
    ]
    assert [row["server"] for row in rows[:3]] == ["Ollama", "LM Studio", "vLLM"]


def test_that_a_found_models_profile_has_address_convention_view_and_limit() -> None:
    with serving(OLLAMA) as ollama, serving(VLLM) as vllm:
        places = (Place(ollama.port, "ollama"), Place(vllm.port))
        tables = {
            str(row["model"]): dict(row["table"])  # type: ignore[call-overload]
            for row in found_rows(loopback_servers(places, limit_s=10))
        }
        ollama_url = f"http://127.0.0.1:{ollama.port}/v1"
    profiles = {name: profile_from_table(table) for name, table in tables.items()}
    medgemma = profiles["medgemma:4b"]
    assert medgemma.name == "medgemma-4b"
    assert medgemma.settings["base_url"] == ollama_url
    assert medgemma.settings["provider_view"] == "gemma3"
    assert medgemma.settings["max_tokens"] == 8192
    qwen = profiles["Qwen/Qwen3-VL-8B-Instruct"]
    assert qwen.settings["convention"] == "qwen3_vl"
    assert qwen.settings["server"] == "vllm"


def test_that_a_real_server_of_llama_cpp_is_found(tmp_path: Path) -> None:
    with llama_server(tmp_path) as base_url:
        port = int(base_url.split(":")[2].partition("/")[0])
        (server,) = loopback_servers((Place(port),), limit_s=10)
    assert server.models[0].sees
    assert server.kind == "llama_cpp"
    assert server.base_url == f"http://127.0.0.1:{port}/v1"
    assert len(server.models) == 1


def test_that_a_model_of_which_nothing_is_declared_is_asked_about_an_image() -> None:
    path = "/v1/chat/completions Qwen/Qwen3-VL-8B-Instruct"
    with (
        serving({**VLLM, path: {"choices": []}}) as sees,
        serving(VLLM) as blind,
        serving(OLLAMA) as declared,
    ):
        places = (Place(blind.port), Place(sees.port), Place(declared.port, "ollama"))
        found = loopback_servers(places, limit_s=10)
        asked = with_sight_asked(found, limit_s=10)
        summaries = [new.summary for new in found_models(found, ask=True)]
    assert [model.sees for server in found[:2] for model in server.models] == [None] * 2
    assert [model.sees for server in asked for model in server.models] == [
        False, True, False, True,
    ]  # fmt: skip
    assert summaries == [
        "vLLM · sees images",
        "Ollama · sees images",
        "vLLM · text only",
        "Ollama · text only",
        "downloads one by its name",
    ]


def test_that_a_real_model_takes_an_image(tmp_path: Path) -> None:
    with llama_server(tmp_path) as base_url:
        silent = LoopbackServer("custom", base_url, (DeclaredModel("tiny-vlm"),))
        (asked,) = with_sight_asked((silent,))
    assert asked.models == (DeclaredModel("tiny-vlm", sees=True),)


def test_that_nobody_waits_for_a_model_that_takes_long_to_load() -> None:
    path = "/v1/chat/completions Qwen/Qwen3-VL-8B-Instruct"
    with serving({**VLLM, path: {"choices": []}}, wait_s=5) as slow:
        silent = LoopbackServer("vllm", f"{slow.url}/v1", (DeclaredModel("slow"),))
        (asked,) = with_sight_asked((silent,), limit_s=0.2)
    assert asked.models[0].sees is None


def test_that_a_server_of_many_models_is_not_made_to_load_each() -> None:
    models = tuple(DeclaredModel(f"m{n}") for n in range(300))
    many = LoopbackServer("custom", "http://127.0.0.1:9/v1", models)
    assert with_sight_asked((many,)) == (many,)


def test_that_a_slow_server_holds_nobody_up() -> None:
    with serving(VLLM, wait_s=3) as slow, serving(VLLM) as quick:
        begun = time.monotonic()
        found = loopback_servers((Place(slow.port), Place(quick.port)), limit_s=1)
        took = time.monotonic() - begun
    assert [server.base_url for server in found] == [f"{quick.url}/v1"]
    assert took < 3  # the slow server's answer was not waited for


def test_that_a_model_nobody_had_time_to_ask_is_listed_as_unknown() -> None:
    with serving({"/api/tags": OLLAMA["/api/tags"]}) as ollama:
        (server,) = loopback_servers((Place(ollama.port, "ollama"),), limit_s=10)
    assert {model.sees for model in server.models} == {None}


def test_that_a_server_with_a_key_is_named_and_others_are_not() -> None:
    with serving(VLLM, status=401) as locked, serving({}) as website:
        places = (Place(locked.port), Place(website.port, "lm_studio"), Place(_free()))
        (row,) = found_rows(loopback_servers(places, limit_s=10))
    assert row["model"] == "needs a key"
    assert row["table"] == {}


@pytest.mark.parametrize("document", [[], {"data": 1}, {"data": [{"id": 3}, 4]}, "no"])
def test_that_other_documents_are_no_lists_of_models(document: object) -> None:
    with serving({"/v1/models": document}) as other:
        assert found_rows(loopback_servers((Place(other.port),), limit_s=10)) == []


def test_that_only_the_usual_ports_of_this_machine_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reached: list[tuple[str, int]] = []

    def connect(
        address: tuple[str, int], *args: object, **kwargs: object
    ) -> socket.socket:
        del args, kwargs
        reached.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setenv("HTTP_PROXY", "http://192.0.2.1:3128")
    assert loopback_servers() == ()
    assert {host for host, _ in reached} == {"127.0.0.1"}
    assert {port for _, port in reached} == {p.port for p in USUAL_PLACES}
    assert LIMIT_S == 0.3


def test_that_the_command_line_lists_known_and_found_models(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    store = ["--store", str(tmp_path / "s.sqlite")]
    assert run_command_line(["models", "--known", "--json", *store]) == 0
    known = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert known["qwen3-vl-8b"]["convention"] == "qwen3_vl"
    assert known["qwen3-vl-8b"]["sources"]["licence"]["quote"] == "License: apache-2.0"
    assert known["gpt-5"]["convention"] == "unknown"
    assert run_command_line(["models", "--known", *store]) == 0
    printed = capsys.readouterr()
    assert "Apache 2.0" in printed.out
    assert "calibrate" in printed.err
    assert run_command_line(["models", "--from", "gpt-5", *store]) == 0
    assert "overread calibrate gpt-5" in capsys.readouterr().out
    assert run_command_line(["models", "--from", "medgemma-4b", "--json", *store]) == 0
    assert json.loads(capsys.readouterr().out)["provider_view"] == "gemma3"
    assert run_command_line(["models", "--from", "nobody", *store]) == 2
    assert run_command_line(["models", "--known", "--found", *store]) == 2
    capsys.readouterr()
    with serving(VLLM) as vllm:
        (server,) = loopback_servers((Place(vllm.port),), limit_s=10)
    monkeypatch.setattr(
        "viewer.services.probing.found.loopback_servers", lambda: (server,)
    )
    assert run_command_line(["models", "--found", *store]) == 0
    assert "Qwen/Qwen3-VL-8B-Instruct" in capsys.readouterr().out
    (offered,) = cast("list[dict[str, object]]", found_here(ask=False)["found"])
    assert offered["title"] == "Qwen/Qwen3-VL-8B-Instruct"
    assert offered["summary"] == "vLLM · it does not say whether it sees images"
    assert str(offered["note"]).startswith("Licence: Apache 2.0.")
    monkeypatch.setattr("viewer.services.probing.found.loopback_servers", tuple)
    assert run_command_line(["models", "--found", *store]) == 0
    assert "No server" in capsys.readouterr().out


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
