"""Servers of models that listen on this machine, and the models that they declare.

Only 127.0.0.1 is asked, all ports at once and no longer than a limit for all. No key is
sent, and no image but a small black one where a server does not declare what its model
sees.

Formats: Ollama's ``/api/tags`` and ``/api/show`` (docs/openapi.yaml of
github.com/ollama/ollama; no other server tells a digest of a model's files), LM
Studio's ``/api/v0/models`` (REST API v0 in github.com/lmstudio-ai/docs), and OpenAI's
``/v1/models``, which the others serve; llama.cpp adds ``architecture.input_modalities``
(its server's README at github.com/ggml-org/llama.cpp).
"""

import base64
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, partial
from typing import Any, Final

import numpy as np

from viewer.domain.documents import read_json
from viewer.domain.errors import OverreadError
from viewer.domain.image import Raster
from viewer.imaging.png import encode_png
from viewer.models.endpoint import LOCAL_ONLY, Endpoint, endpoint_at
from viewer.models.openai_api.servers import SERVERS, in_ollamas_cloud

LIMIT_S: Final = 0.3
"""Seconds for all servers and questions together."""
SIGHT_LIMIT_S: Final = 20.0
"""Seconds for the questions with an image: a server may have to load its model."""
_BLACK_SIDE: Final = 56
"""Pixels: Qwen2-VL's processor refuses an image that is narrower than 28."""
_MODELS_AT_ONCE: Final = 8
_MOST_ASKED: Final = 3
"""A server with more models loads each as it is asked, so none is asked."""
_KEY_NEEDED: Final = object()
"""Stands for the document of a server that shows it only with a key."""
_REFUSED: Final = object()
"""Stands for the document of a server that does not do what was asked."""
_DIGEST: Final = re.compile("(sha256:)?[0-9a-f]{64}")
_OWNERS: Final = {"vllm": "vllm", "llamacpp": "llama_cpp"}
"""Kinds of server by the owner that they give for their models."""


@dataclass(frozen=True, slots=True)
class DeclaredModel:
    """A model of a server; ``sees`` is None if the server does not say."""

    name: str
    sees: bool | None = None


@dataclass(frozen=True, slots=True)
class ServedFiles:
    """Files of a model on its server: their digest, and the day they were put there.

    ``since`` is YYYY-MM-DD, "" if the server does not tell it.
    """

    digest: str
    since: str = ""


@dataclass(frozen=True, slots=True)
class LoopbackServer:
    """A server found on this machine; ``kind`` is one of `SERVERS`.

    ``locked``: it lists its models only to those who have its key.
    """

    kind: str
    base_url: str
    models: tuple[DeclaredModel, ...] = ()
    locked: bool = False

    @property
    def title(self) -> str:
        """Its kind's name."""
        return SERVERS[self.kind].title


@dataclass(frozen=True, slots=True)
class Place:
    """A port to look at, and the interface that its usual server has of its own."""

    port: int
    kind: str = "custom"


USUAL_PLACES: Final = (
    Place(11434, "ollama"),
    Place(1234, "lm_studio"),
    Place(8000),  # vLLM
    Place(8080),  # llama.cpp
    Place(30000),  # SGLang
)


def loopback_servers(
    places: Sequence[Place] = USUAL_PLACES, limit_s: float = LIMIT_S
) -> tuple[LoopbackServer, ...]:
    """Return the servers that answer on this machine, in the order of the places.

    ``limit_s`` is for all of them together: what has not answered by then is missing,
    and what a model can do that nobody had time to ask is unknown.
    """
    _Asker(Endpoint("http", "127.0.0.1", 1), limit_s)  # reads certificates, once
    until = time.monotonic() + limit_s
    with ThreadPoolExecutor(len(places) + _MODELS_AT_ONCE) as pool:
        found = pool.map(partial(_server_at, pool, until), places)
        return tuple(server for server in found if server is not None)


def files_at(
    base_url: str, limit_s: float = LIMIT_S
) -> Mapping[str, ServedFiles] | None:
    """Return the files of each model of an Ollama on this machine, by name.

    None if it is on another machine, does not answer in time, or is no Ollama.
    """
    endpoint = endpoint_at(base_url)
    if not endpoint.is_here:
        return None
    root = replace(endpoint, path=endpoint.path.removesuffix("/v1"))
    tags = _ask(root, time.monotonic() + limit_s, f"{root.path}/api/tags")
    rows = _rows(tags, "models")
    if rows is None:
        return None
    return {
        name: ServedFiles(str(row["digest"]), _day(row.get("modified_at")))
        for row in rows
        for name in _names([row], "name")
        if _DIGEST.fullmatch(str(row.get("digest")))
    }


def _day(told: object) -> str:
    try:
        return date.fromisoformat(str(told)[:10]).isoformat()
    except ValueError:
        return ""


def with_sight_asked(
    servers: Sequence[LoopbackServer], limit_s: float = SIGHT_LIMIT_S
) -> tuple[LoopbackServer, ...]:
    """Return servers with whether their models take images, asked where not declared.

    One that answers about an image may still not look at it, which a check finds out.
    What is not answered in time stays unknown.
    """
    until = time.monotonic() + limit_s
    with ThreadPoolExecutor(_MODELS_AT_ONCE) as pool:
        return tuple(pool.map(partial(_with_sight_asked, until), servers))


def _with_sight_asked(until: float, server: LoopbackServer) -> LoopbackServer:
    if len(server.models) > _MOST_ASKED:
        return server
    models = (
        replace(model, sees=_takes_image(server, model.name, until))
        if model.sees is None
        else model
        for model in server.models
    )
    return replace(server, models=tuple(models))


def _takes_image(server: LoopbackServer, model: str, until: float) -> bool | None:
    """Return whether a model answers about a black image, None without an answer."""
    content = [
        {"type": "image_url", "image_url": {"url": _black_image()}},
        {"type": "text", "text": "Is this image black?"},
    ]
    messages = [{"role": "user", "content": content}]
    body = {"model": model, "max_tokens": 1, "messages": messages}
    endpoint = endpoint_at(server.base_url)
    path = f"{endpoint.path}/chat/completions"
    reply = _ask(replace(endpoint, path=""), until, path, body)
    if reply is None or reply is _KEY_NEEDED:
        return None
    return reply is not _REFUSED


@cache
def _black_image() -> str:
    png = encode_png(Raster(np.zeros((_BLACK_SIDE, _BLACK_SIDE), np.uint8)))
    return "data:image/png;base64," + base64.b64encode(png).decode()


def _server_at(pool: Executor, until: float, place: Place) -> LoopbackServer | None:
    endpoint = Endpoint("http", "127.0.0.1", place.port)
    found = None
    if place.kind == "ollama":
        found = _ollama(endpoint, pool, until)
    elif place.kind == "lm_studio":
        found = _lm_studio(endpoint, until)
    return found or _openai(endpoint, until)


def _ollama(endpoint: Endpoint, pool: Executor, until: float) -> LoopbackServer | None:
    rows = _rows(_ask(endpoint, until, "/api/tags"), "models")
    if rows is None:
        return None
    # Ollama sends the questions to models that have a remote_host on to its company.
    here = (row for row in rows if not row.get("remote_host"))
    names = [name for name in _names(here, "name") if not in_ollamas_cloud(name)]
    models = pool.map(partial(_shown, endpoint, until), names)
    return LoopbackServer("ollama", f"{endpoint.origin}/v1", tuple(models))


def _shown(endpoint: Endpoint, until: float, name: str) -> DeclaredModel:
    shown = _ask(endpoint, until, "/api/show", {"model": name})
    able = shown.get("capabilities") if isinstance(shown, Mapping) else None
    return DeclaredModel(name, "vision" in able if isinstance(able, list) else None)


def _lm_studio(endpoint: Endpoint, until: float) -> LoopbackServer | None:
    rows = _rows(_ask(endpoint, until, "/api/v0/models"), "data")
    if rows is None:
        return None
    kinds = {str(row.get("id")): row.get("type") for row in rows}
    models = (
        DeclaredModel(name, None if kinds[name] is None else kinds[name] == "vlm")
        for name in _names(rows, "id")
        if kinds[name] != "embeddings"
    )
    return LoopbackServer("lm_studio", f"{endpoint.origin}/v1", tuple(models))


def _openai(endpoint: Endpoint, until: float) -> LoopbackServer | None:
    reply = _ask(endpoint, until, "/v1/models")
    base_url = f"{endpoint.origin}/v1"
    if reply is _KEY_NEEDED:
        return LoopbackServer("custom", base_url, locked=True)
    rows = _rows(reply, "data")
    if rows is None:
        return None
    owners = {_OWNERS.get(str(row.get("owned_by")), "custom") for row in rows}
    kind = owners.pop() if len(owners) == 1 else "custom"
    modalities = {str(row.get("id")): _modalities(row) for row in rows}
    models = (DeclaredModel(name, modalities[name]) for name in _names(rows, "id"))
    return LoopbackServer(kind, base_url, tuple(models))


def _modalities(row: Mapping[str, Any]) -> bool | None:
    """Return whether a model takes images by its declared input, None without one."""
    declared = row.get("architecture")
    taken = declared.get("input_modalities") if isinstance(declared, dict) else None
    return "image" in taken if isinstance(taken, list) else None


def _rows(reply: object, key: str) -> list[Mapping[str, Any]] | None:
    """Return the list under a key of a JSON object, None if it is another document."""
    rows = reply.get(key) if isinstance(reply, Mapping) else None
    if not isinstance(rows, list):
        return None
    return [row for row in rows if isinstance(row, Mapping)]


def _names(rows: Iterable[Mapping[str, Any]], key: str) -> list[str]:
    return [row[key] for row in rows if isinstance(row.get(key), str) and row[key]]


def _ask(endpoint: Endpoint, until: float, path: str, body: object = None) -> object:
    """Return a JSON document, what stands for one, or None without one in time."""
    left = until - time.monotonic()
    return _Asker(endpoint, left).ask(path, body) if left > 0 else None


class _Asker:
    """Asks one server of this machine, which it does not wait for after its time."""

    def __init__(self, endpoint: Endpoint, left_s: float) -> None:
        # Not with every run and worker, most of which look for no server.
        import httpx2

        from viewer.models.openai_api.transport import transport_for

        self._origin = endpoint.origin
        transport = transport_for(endpoint, LOCAL_ONLY, left_s)
        self._client = httpx2.Client(
            transport=transport, timeout=left_s, trust_env=False, follow_redirects=False
        )

    def ask(self, path: str, body: object) -> object:
        import httpx2

        method = "GET" if body is None else "POST"
        try:
            with self._client:
                reply = self._client.request(method, self._origin + path, json=body)
            if reply.status_code in (401, 403):
                return _KEY_NEEDED
            return read_json(reply.content) if reply.is_success else _REFUSED
        except (httpx2.HTTPError, OverreadError, ValueError):
            return None  # no server of models, or one too slow: it is not listed
