"""Models behind OpenAI's Chat Completions, through the openai SDK."""

import base64
import os
import threading
import time
from collections.abc import Mapping
from typing import Any

import httpx2
import openai

from viewer.domain.errors import ProviderError
from viewer.domain.exchange import (
    ImagePart,
    Message,
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
    ReplyKind,
    TextPart,
)
from viewer.models import provider_errors
from viewer.models.loopback_http import BoundedTransport, loopback_url
from viewer.models.reading import read_reply

_SENT_SETTINGS = (
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "reasoning_effort",
)
_NO_KEY = "none"  # the SDK insists on one; servers without keys ignore it
_KEPT_HEADERS = ("x-request-id", "openai-model", "openai-processing-ms", "date")
_KEPT_PREFIXES = ("x-ratelimit-", "retry-after")
_DEFAULT_PORTS = {"http": 80, "https": 443}


class OpenAIAdapter:
    """One model of one server.

    Construction checks the address and sends nothing. The key is read from its
    environment variable when the first question is asked, so that stored replies
    can be read again without it.

    Raises
    ------
    PrivacyError
        For a server beyond this machine.
    """

    def __init__(self, profile: ModelProfile) -> None:
        self._settings = _with_one_cap(profile.settings)
        url = loopback_url(str(self._settings["base_url"]))
        host = f"[{url.hostname}]" if ":" in str(url.hostname) else url.hostname
        self._host = f"{host}:{url.port or _DEFAULT_PORTS[url.scheme]}"
        self._path = url.path.rstrip("/")
        self._base_url = f"{url.scheme}://{self._host}{self._path}"
        self._timeout_s = float(str(self._settings.get("timeout_s", 120.0)))
        self._key = ""
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()

    def identity(self, repeat: int) -> ModelIdentity:
        """Return address, model and every setting sent; neither key nor timeout."""
        endpoint = {
            "kind": "openai_api",
            "host": self._host,
            "path": self._path,
            "api": "chat",
        }
        params = self._params(repeat)
        if "detail" in self._settings:
            params["image_detail"] = self._settings["detail"]
        return ModelIdentity(endpoint, str(self._settings["model"]), "alias", params)

    def generate(self, request: ModelRequest) -> RawReply:
        """Ask once; returns the exact body bytes or raises ``ProviderError``."""
        client = self._connected()
        arguments = {
            "model": self._settings["model"],
            "messages": [self._message(message) for message in request.messages],
            **self._params(request.facts.repeat),
        }
        started = time.perf_counter()
        try:
            reply = client.chat.completions.with_raw_response.create(**arguments)
        except openai.OpenAIError as error:
            raise self._named(error) from error
        return RawReply(
            ReplyKind.CHAT_COMPLETION,
            reply.content,
            reply.status_code,
            _kept(reply.headers),
            round((time.perf_counter() - started) * 1000),
        )

    def read(self, raw: RawReply) -> ModelReply:
        """Read a stored reply."""
        return read_reply(raw)

    def _params(self, repeat: int) -> dict[str, Any]:
        params = {
            key: self._settings[key] for key in _SENT_SETTINGS if key in self._settings
        }
        if "seed" in self._settings:
            params["seed"] = int(str(self._settings["seed"])) + repeat
        return params

    def _message(self, message: Message) -> dict[str, Any]:
        if all(isinstance(part, TextPart) for part in message.parts):
            # some servers take a system turn as one string only
            texts = [part.text for part in message.parts if isinstance(part, TextPart)]
            return {"role": message.role, "content": "\n".join(texts)}
        return {
            "role": message.role,
            "content": [self._part(part) for part in message.parts],
        }

    def _part(self, part: TextPart | ImagePart) -> dict[str, Any]:
        if isinstance(part, TextPart):
            return {"type": "text", "text": part.text}
        data = base64.b64encode(part.png).decode("ascii")
        image = {"url": f"data:{part.media_type};base64,{data}"}
        detail = part.detail or self._settings.get("detail")
        if detail is not None:
            image["detail"] = str(detail)
        return {"type": "image_url", "image_url": image}

    def _connected(self) -> openai.OpenAI:
        with self._lock:
            if self._client is None:
                self._key = self._read_key()
                self._client = self._make_client()
            return self._client

    def _read_key(self) -> str:
        variable = self._settings.get("api_key_env")
        if variable is None:
            return ""
        key = os.environ.get(str(variable), "").strip()
        if not key or not (key.isascii() and key.isprintable()):
            raise provider_errors.no_key_error(str(variable))
        return key

    def _make_client(self) -> openai.OpenAI:
        http = openai.DefaultHttpxClient(
            transport=BoundedTransport(self._host, self._timeout_s),
            trust_env=False,
            follow_redirects=False,
        )
        return openai.OpenAI(
            api_key=self._key or _NO_KEY,
            base_url=self._base_url,
            max_retries=0,
            timeout=self._timeout_s,
            default_headers={"Accept-Encoding": "identity"},
            http_client=http,
        )

    def _named(self, error: openai.OpenAIError) -> ProviderError:
        if isinstance(error, openai.APIStatusError):
            reply = error.response
            return provider_errors.status_error(
                self._host, reply.status_code, reply.headers, reply.content, self._key
            )
        if isinstance(error, openai.APITimeoutError):
            return provider_errors.timeout_error(self._host, self._timeout_s)
        if isinstance(error.__cause__, httpx2.ConnectError):
            return provider_errors.unreachable_error(self._host)
        return provider_errors.connection_error(self._host)


def _with_one_cap(settings: Mapping[str, object]) -> dict[str, object]:
    """Return the settings with max_tokens only where it is the name sent."""
    one = dict(settings)
    if "max_completion_tokens" in one:
        one.pop("max_tokens", None)
    return one


def _kept(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name.lower(): value
        for name, value in headers.items()
        if name.lower() in _KEPT_HEADERS or name.lower().startswith(_KEPT_PREFIXES)
    }
