"""Communication with a server: each request is sent once, as it was recorded."""

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, BinaryIO, Final

import httpx2

import viewer
from viewer.domain.errors import ProviderError
from viewer.models import provider_errors
from viewer.models.endpoint import Allowance, endpoint_at
from viewer.models.keys import key_named
from viewer.models.openai_api.address import Address
from viewer.models.openai_api.transport import LARGEST_BODY, transport_for

_LEAST_KEY: Final = 12
"""Shorter ones are words that stand in for a key, and keep nothing secret."""
_HEADERS: Final = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",
    "User-Agent": f"overread/{viewer.__version__}",
}
_JSON: Final = {"Content-Type": "application/json"}
_NO_KEY: Final = "none"
"""Stands for a key: servers without keys ignore it, and some insist on one."""


@dataclass(frozen=True)
class HttpReply:
    """A complete HTTP response of any status; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    @property
    def is_answer(self) -> bool:
        """True for a reply to be stored: an answer, or a final refusal."""
        filtered = provider_errors.is_filtered(self.status, self.body)
        return self.is_success or filtered


class Client:
    """One server, asked with one profile's key; thread-safe.

    Nothing is looked up or opened before the first question. ``largest`` is the most
    bytes of a reply.
    """

    def __init__(
        self,
        settings: Mapping[str, object],
        address: Address,
        allowance: Allowance,
        largest: int = LARGEST_BODY,
    ) -> None:
        self._settings, self._address = settings, address
        self._allowance, self._largest = allowance, largest
        self._timeout_s = float(str(settings.get("timeout_s", 120.0)))
        proxy = settings.get("proxy")
        self._proxy = endpoint_at(str(proxy), "proxy") if proxy else None
        self._key = ""
        self._transport: httpx2.BaseTransport | None = None
        self._lock = threading.Lock()

    def post(self, path: str, body: bytes) -> HttpReply:
        """Send exactly these bytes once; a failed connection raises ProviderError."""
        return self._once("POST", self._url(path), content=body, headers=_JSON)

    def get(self, path: str, query: Mapping[str, str] | None = None) -> HttpReply:
        """Get a document once, as `post` sends one."""
        return self._once("GET", self._url(path), query)

    def delete(self, path: str) -> HttpReply:
        """Delete what is at a path, once."""
        return self._once("DELETE", self._url(path))

    def upload(self, path: str, name: str, file: BinaryIO, purpose: str) -> HttpReply:
        """Send a file as a form's part, read while it is sent."""
        part = {"file": (name, file, "application/jsonl")}
        return self._once(
            "POST", self._url(path), data={"purpose": purpose}, files=part
        )

    def _url(self, path: str) -> str:
        return f"{self._address.endpoint.url}/{path.lstrip('/')}"

    def listed_models(self) -> tuple[str, ...]:
        """Return the names of the server's models; an empty list raises."""
        reply = self._once("GET", self._address.models)
        if not reply.is_success:
            raise self.status_error(reply)
        return _names(reply.body)

    def _once(
        self,
        method: str,
        url: str,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        **body: Any,  # noqa: ANN401 - as httpx2 takes it
    ) -> HttpReply:
        """Send a request; every attempt has a row in the ledger, so none is repeated.

        No redirect is followed: it leads where nobody allowed.
        """
        transport = self._connected()
        request = httpx2.Request(
            method,
            _parsed(url, (*self._address.query.items(), *(query or {}).items())),
            headers={**self._headers(), **(headers or {})},
            **body,
            extensions={"timeout": httpx2.Timeout(self._timeout_s).as_dict()},
        )
        try:
            reply = transport.handle_request(request)
            try:
                reply.read()
            finally:
                reply.close()
        except httpx2.RequestError as error:
            raise self._unanswered(error) from error
        whole = _whole(reply)
        # What is no answer is not stored; of its words the key is taken out.
        return self._without_key(whole) if whole.is_answer else whole

    def _without_key(self, reply: HttpReply) -> HttpReply:
        """Return a reply that may be stored; one that contains the key raises."""
        if len(self._key) < _LEAST_KEY:
            return reply
        everything = "\n".join([*reply.headers.values(), reply.body.decode("latin-1")])
        # JSON may write a slash as "\/" (RFC 8259 section 7), and a key may have one.
        if self._key in everything.replace("\\/", "/"):
            raise provider_errors.key_echoed_error(self._host)
        return reply

    def check(self, reply: HttpReply) -> None:
        """Raise for an answer that was begun but failed."""
        failed = provider_errors.failed_response(self._host, reply.body, self._key)
        if failed is not None:
            raise failed

    def status_error(self, reply: HttpReply) -> ProviderError:
        """Return the error of a reply whose status is not 2xx."""
        return provider_errors.status_error(
            self._host, reply.status, reply.headers, reply.body, self._key
        )

    @property
    def _host(self) -> str:
        return self._address.endpoint.address

    def _connected(self) -> httpx2.BaseTransport:
        with self._lock:
            if self._transport is None:
                self._allowance.check(self._address.endpoint)
                self._address.endpoint.check_key(self._settings.get("api_key_env"))
                self._key = self._read_key()
                self._transport = transport_for(
                    self._address.endpoint,
                    self._allowance,
                    self._timeout_s,
                    self._proxy,
                    self._settings.get("ca_file"),
                    self._largest,
                )
            return self._transport

    def _read_key(self) -> str:
        variable = self._settings.get("api_key_env")
        if variable is None:
            return ""
        key = key_named(str(variable))
        if not key or not (key.isascii() and key.isprintable()):
            raise provider_errors.no_key_error(str(variable))
        return key

    def _headers(self) -> dict[str, str]:
        key = self._key or _NO_KEY
        if self._settings.get("server") == "azure":  # which knows its own header
            return {**_HEADERS, "api-key": key}
        return {**_HEADERS, "Authorization": "Bearer " + key}

    def _unanswered(self, error: httpx2.RequestError) -> ProviderError:
        for cause in _causes(error):
            if isinstance(cause, ssl.SSLCertVerificationError):
                why = cause.verify_message
                return provider_errors.certificate_error(self._host, why)
            if isinstance(cause, ssl.SSLError):
                return provider_errors.not_tls_error(self._host)
        if isinstance(error, httpx2.ProxyError):
            return provider_errors.proxy_error(self._reached, str(error))
        if isinstance(error, httpx2.TimeoutException):
            return provider_errors.timeout_error(self._host, self._timeout_s)
        if isinstance(error, httpx2.ConnectError):
            return provider_errors.unreachable_error(self._reached)
        return provider_errors.connection_error(self._host)

    @property
    def _reached(self) -> str:
        """The host that is contacted first: the proxy, if there is one."""
        return self._proxy.address if self._proxy else self._host


@lru_cache(maxsize=64)
def _parsed(url: str, query: tuple[tuple[str, str], ...]) -> httpx2.URL:
    return httpx2.URL(url, params=query) if query else httpx2.URL(url)


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause = error.__cause__ or error.__context__
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _whole(reply: httpx2.Response) -> HttpReply:
    headers = {name.lower(): value for name, value in reply.headers.items()}
    return HttpReply(reply.status_code, headers, reply.content)


def _names(body: bytes) -> tuple[str, ...]:
    """Return the ids in a list of models; anything else has none."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return ()
    data = document.get("data") if isinstance(document, dict) else None
    rows = data if isinstance(data, list) else []
    ids = [row.get("id") for row in rows if isinstance(row, dict)]
    return tuple(name for name in ids if isinstance(name, str))
