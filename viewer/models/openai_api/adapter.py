"""The adapter of one model on an OpenAI-compatible server."""

import hashlib
import json
import threading
import time
from collections.abc import Iterable, Mapping
from typing import Final

from viewer.domain.errors import ProviderError
from viewer.domain.exchange import (
    LEFT_OUT,
    LENGTH_CAP,
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
)
from viewer.models.batching import Outcome
from viewer.models.endpoint import LOCAL_ONLY, Allowance
from viewer.models.openai_api import chat, responses
from viewer.models.openai_api.address import address_of
from viewer.models.openai_api.batches import (
    LARGEST_RESULTS,
    LONGEST_S,
    OpenAIBatches,
)
from viewer.models.openai_api.client import Client, HttpReply
from viewer.models.openai_api.question import (
    DETAIL,
    TOKEN_CAPS,
    Form,
    Parameter,
    Settings,
    body_of,
    with_images,
)
from viewer.models.openai_api.rejection import rejected_member
from viewer.models.openai_api.servers import Api, server_of
from viewer.models.provider_errors import rejected_error
from viewer.models.reading import read_reply
from viewer.models.structured import CELL_SCHEMA, schema_of

_FORMS: Final[Mapping[Api, Form]] = {"chat": chat.FORM, "responses": responses.FORM}
_KEPT_HEADERS = ("x-request-id", "openai-model", "openai-processing-ms", "date")
_KEPT_PREFIXES = ("x-ratelimit-", "retry-after")


class OpenAIAdapter:
    """One model of one server.

    The constructor sends nothing. The key is read when the first question is asked, so
    that stored replies can be parsed without it. A parameter that the server rejects is
    left out from then on, as long as this object lives; the replies name it.

    Parameters
    ----------
    profile : ModelProfile
        With every setting that has a default.
    allowance : Allowance
        Which remote servers may be asked; another raises ``PrivacyError`` at the first
        question.
    """

    def __init__(
        self, profile: ModelProfile, allowance: Allowance = LOCAL_ONLY
    ) -> None:
        self._values = profile.settings
        self._model = str(profile.settings["model"])
        self._server = server_of(profile.settings)
        self._api: Api = (
            "responses" if profile.settings.get("api") == "responses" else "chat"
        )
        self._form = _FORMS[self._api]
        self._address = address_of(profile.settings)
        self._client = Client(profile.settings, self._address, allowance)
        patient = {**profile.settings, "timeout_s": LONGEST_S}
        self.batches = OpenAIBatches(
            Client(patient, self._address, allowance, LARGEST_RESULTS),
            self._address.endpoint.address,
            self._form.path,
            self._noted_of,
            self._outcome,
        )
        self._rejected: frozenset[str] = frozenset()
        self._lock = threading.Lock()

    def identity(self, repeat: int) -> ModelIdentity:
        """Return address, model and every setting sent, but neither key nor timeout."""
        endpoint = {
            "kind": "openai_api",
            "host": self._address.endpoint.address,
            "path": self._address.endpoint.path,
            "api": self._api,
            **{key.replace("-", "_"): v for key, v in self._address.query.items()},
        }
        # A server's model name is an alias: nothing says which weights answer today.
        return ModelIdentity(endpoint, self._model, "alias", self._identified(repeat))

    def _identified(self, repeat: int) -> dict[str, object]:
        """Return what affects an answer besides the messages, as part of the key."""
        # Without the rejected parameters, which a run learns: its keys must not change.
        settings = self._settings(frozenset())
        wanted = self._form.parameters(settings, repeat, CELL_SCHEMA)
        taken = [p for p in wanted if settings.takes(p)]
        params = body_of([p for p in taken if p.name != "structured"])
        if any(p.name == "structured" for p in taken):
            # Only that there is a form: the schema is part of the request's own key.
            params["structured"] = True
        detail = settings.get(DETAIL)
        if detail is not None and self._server.takes(self._api, DETAIL):
            params["image_detail"] = detail
        if self._api == "chat" and self._server.system_role != "system":
            params["system_role"] = self._server.system_role
        return params

    def generate(self, request: ModelRequest, body_sha256: str = "") -> RawReply:
        """Ask once; return the exact body bytes or raise ``ProviderError``.

        If a parameter is rejected, the question is sent again without it at once:
        nothing was answered and nothing paid. For a remote server that is another
        transmission with another body, so the caller has to repeat it
        (``PARAMETER_REJECTED``), as it must if the body no longer matches the given
        hash.
        """
        started = time.perf_counter()
        while True:
            settings = self._settings(self._rejected)
            wanted = self._wanted(settings, request)
            body = self._body(settings, wanted, request)
            if body_sha256 not in ("", hashlib.sha256(body).hexdigest()):
                raise self._rejection()
            reply = self._client.post(self._form.path, body)
            self._client.check(reply)
            if reply.is_answer:
                return self._raw(reply, settings, wanted, started)
            self._leave_out(reply, settings, wanted)

    @property
    def left_out(self) -> frozenset[str]:
        """The body members that this server is known to reject."""
        return self._rejected

    def leave_out(self, members: Iterable[str]) -> None:
        """Leave members out from now on, as another process has learned."""
        with self._lock:
            self._rejected = self._rejected.union(members)

    def body(self, request: ModelRequest) -> bytes:
        """Return the exact bytes that `generate` would send now."""
        settings = self._settings(self._rejected)
        return self._body(settings, self._wanted(settings, request), request)

    def _noted_of(self, request: ModelRequest) -> Mapping[str, str]:
        settings = self._settings(self._rejected)
        return _noted(settings, self._wanted(settings, request))

    def _outcome(self, reply: HttpReply, noted: Mapping[str, str]) -> Outcome:
        """Return what became of a question that was sent in a batch."""
        # As if nothing were known: many lines may have been sent before it was.
        settings = self._settings(frozenset())
        try:
            self._client.check(reply)
            if reply.is_answer:
                headers = {**_stored_headers(reply.headers), **noted}
                return RawReply(self._form.kind, reply.body, reply.status, headers)
            self._leave_out(reply, settings, self._parameters(settings))
        except ProviderError as error:
            return error
        return self._rejection()

    def _leave_out(
        self, reply: HttpReply, settings: Settings, wanted: list[Parameter]
    ) -> None:
        """Remember the parameter that a reply rejects; raise if it rejects none."""
        sent = [p for p in wanted if settings.takes(p)]
        member = rejected_member(reply.status, reply.body, sent)
        if member is None or settings.rejected.issuperset({*TOKEN_CAPS} - {member}):
            raise self._client.status_error(reply)
        self.leave_out([member])
        if not self._address.endpoint.is_here:
            raise self._rejection()

    def _rejection(self) -> ProviderError:
        return rejected_error(self._address.endpoint.address, self._rejected)

    def _raw(
        self,
        reply: HttpReply,
        settings: Settings,
        wanted: list[Parameter],
        started: float,
    ) -> RawReply:
        headers = {**_stored_headers(reply.headers), **_noted(settings, wanted)}
        latency_ms = round((time.perf_counter() - started) * 1000)
        return RawReply(self._form.kind, reply.body, reply.status, headers, latency_ms)

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)

    def listed_models(self) -> tuple[str, ...]:
        """Return the names of the models that the server offers, in its order."""
        return self._client.listed_models()

    def _settings(self, rejected: frozenset[str]) -> Settings:
        return Settings(self._values, self._server, self._api, rejected)

    def _wanted(self, settings: Settings, request: ModelRequest) -> list[Parameter]:
        """Return every parameter that the profile and the request set."""
        repeat, schema = request.facts.repeat, schema_of(request)
        details = [part.detail or settings.get(DETAIL) for part in request.images]
        return [
            *self._form.parameters(settings, repeat, schema),
            *(Parameter(DETAIL, {DETAIL: d}) for d in details if d),
        ]

    def _parameters(self, settings: Settings) -> list[Parameter]:
        """Return every parameter that the profile sets, whatever is asked."""
        detail = settings.get(DETAIL)
        named = [Parameter(DETAIL, {DETAIL: detail})] if detail else []
        return [*self._form.parameters(settings, 0, CELL_SCHEMA), *named]

    def _body(
        self, settings: Settings, wanted: list[Parameter], request: ModelRequest
    ) -> bytes:
        sent = [p for p in wanted if settings.takes(p) and p.name != DETAIL]
        content = self._form.content(settings, request)
        document = {"model": self._model, **content, **body_of(sent)}
        # These bytes are hashed for the ledger, and sent as they are.
        body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
        return with_images(body, request.images)


def _noted(settings: Settings, wanted: list[Parameter]) -> dict[str, str]:
    """Return the facts about the request that are needed to read the reply."""
    dropped = dict.fromkeys(p.name for p in wanted if not settings.takes(p))
    caps = [
        str(value)
        for p in wanted
        if p.name == "max_tokens" and settings.takes(p)
        for value in p.sent.values()
    ]
    left_out = {LEFT_OUT: " ".join(dropped)} if dropped else {}
    return {**left_out, **({LENGTH_CAP: caps[0]} if caps else {})}


def _stored_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in headers.items()
        if name in _KEPT_HEADERS or name.startswith(_KEPT_PREFIXES)
    }
