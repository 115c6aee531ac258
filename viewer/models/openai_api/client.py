"""Communication with a server, through the openai SDK and our own transport."""

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import httpx2
import openai

from viewer.domain.errors import ProviderError
from viewer.models import provider_errors
from viewer.models.endpoint import Allowance, endpoint_at
from viewer.models.keys import key_named
from viewer.models.openai_api.address import Address
from viewer.models.openai_api.transport import transport_for

_LEAST_KEY: Final = 12
"""Shorter ones are words that stand in for a key, and keep nothing secret."""
_NO_KEY: Final = "none"  # the SDK insists on one; servers without keys ignore it


@dataclass(frozen=True)
class HttpReply:
    """A complete HTTP response of any status; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_answer(self) -> bool:
        """True for a reply to be stored: an answer, or a final refusal."""
        filtered = provider_errors.is_filtered(self.status, self.body)
        return self.status < 300 or filtered


class Client:
    """One server, asked with one profile's key; thread-safe.

    Nothing is looked up or opened before the first question.
    """

    def __init__(
        self, settings: Mapping[str, object], address: Address, allowance: Allowance
    ) -> None:
        self._settings, self._address = settings, address
        self._allowance = allowance
        self._timeout_s = float(str(settings.get("timeout_s", 120.0)))
        proxy = settings.get("proxy")
        self._proxy = endpoint_at(str(proxy), "proxy") if proxy else None
        self._key = ""
        self._sdk: openai.OpenAI | None = None
        self._lock = threading.Lock()

    def post(self, path: str, body: bytes) -> HttpReply:
        """Send exactly these bytes once; a failed connection raises ProviderError."""
        sdk = self._connected()
        try:
            reply = sdk.post(path, content=body, cast_to=httpx2.Response)
        except openai.OpenAIError as error:
            return self._answered(error)
        return self._without_key(_whole(reply))

    def listed_models(self) -> tuple[str, ...]:
        """Return the names of the server's models; an empty list raises."""
        sdk = self._connected()
        try:
            reply = _whole(sdk.get(self._address.models, cast_to=httpx2.Response))
        except openai.OpenAIError as error:
            raise self.status_error(self._answered(error)) from error
        return _names(self._without_key(reply).body)

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

    def _connected(self) -> openai.OpenAI:
        with self._lock:
            if self._sdk is None:
                self._allowance.check(self._address.endpoint)
                self._address.endpoint.check_key(self._settings.get("api_key_env"))
                self._key = self._read_key()
                self._sdk = self._make_sdk()
            return self._sdk

    def _read_key(self) -> str:
        variable = self._settings.get("api_key_env")
        if variable is None:
            return ""
        key = key_named(str(variable))
        if not key or not (key.isascii() and key.isprintable()):
            raise provider_errors.no_key_error(str(variable))
        return key

    def _make_sdk(self) -> openai.OpenAI:
        transport = transport_for(
            self._address.endpoint,
            self._allowance,
            self._timeout_s,
            self._proxy,
            self._settings.get("ca_file"),
            # Azure knows its own header, and the SDK would send the key twice
            withheld=frozenset({"authorization"} if self._is_azure else ()),
        )
        http = openai.DefaultHttpxClient(
            # A redirect, or a proxy of the environment, leads where nobody allowed.
            transport=transport,
            trust_env=False,
            follow_redirects=False,
        )
        return openai.OpenAI(
            api_key=self._key or _NO_KEY,
            base_url=self._address.endpoint.url,
            # Every attempt has its own row in the ledger, so the scheduler repeats it.
            max_retries=0,
            timeout=self._timeout_s,
            default_headers=self._headers(),
            default_query=dict(self._address.query),
            http_client=http,
        )

    def _headers(self) -> dict[str, str]:
        key_header = {"api-key": self._key} if self._is_azure else {}
        return {"Accept-Encoding": "identity", **key_header}

    @property
    def _is_azure(self) -> bool:
        return self._settings.get("server") == "azure"

    def _answered(self, error: openai.OpenAIError) -> HttpReply:
        """Return the reply that the SDK raised as an error; raise if there was none."""
        if isinstance(error, openai.APIStatusError):
            return _whole(error.response)
        raise self._unanswered(error) from error

    def _unanswered(self, error: openai.OpenAIError) -> ProviderError:
        for cause in _causes(error):
            if isinstance(cause, ssl.SSLCertVerificationError):
                why = cause.verify_message
                return provider_errors.certificate_error(self._host, why)
            if isinstance(cause, ssl.SSLError):
                return provider_errors.not_tls_error(self._host)
            if isinstance(cause, httpx2.ProxyError):
                return provider_errors.proxy_error(self._reached, str(cause))
        if isinstance(error, openai.APITimeoutError):
            return provider_errors.timeout_error(self._host, self._timeout_s)
        if isinstance(error.__cause__, httpx2.ConnectError):
            return provider_errors.unreachable_error(self._reached)
        return provider_errors.connection_error(self._host)

    @property
    def _reached(self) -> str:
        """The host that is contacted first: the proxy, if there is one."""
        return self._proxy.address if self._proxy else self._host


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
