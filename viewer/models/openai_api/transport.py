"""HTTP that connects only to allowed hosts and always ends.

An HTTP client reads for as long as a server sends. This transport limits a
reply's time and size, opens no connection to another machine unless that is allowed,
and sends no header that identifies the user or comes from the environment.
"""

import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import httpx2

from viewer.domain.errors import PrivacyError, UnreadableInputError
from viewer.models.endpoint import Allowance, Endpoint
from viewer.models.loopback import is_loopback
from viewer.models.openai_api.deadlines import Deadlines
from viewer.models.provider_errors import timeout_error, too_large_error

_CONNECTED: Final = ("connect_tcp.complete", "start_tls.complete")
LARGEST_BODY = 8_000_000
"""Bytes after which a reply is no reply any more; Chat Completions take thousands."""

_SENT_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "api-key",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    }
)


def transport_for(
    endpoint: Endpoint,
    allowance: Allowance,
    timeout_s: float,
    proxy: Endpoint | None = None,
    ca_file: object = None,
    largest: int = LARGEST_BODY,
) -> "BoundedTransport":
    """Return the HTTP transport for an endpoint.

    Parameters
    ----------
    endpoint : Endpoint
        Where questions go.
    allowance : Allowance
        Which remote servers may be asked.
    timeout_s : float
        Seconds for a whole reply.
    proxy : Endpoint or None
        Only a proxy that the profile names is used, never the environment's.
    ca_file : str or None
        PEM file of the authority that signs the server's certificate; None for those
        the system trusts.
    largest : int
        The most bytes of a reply.

    Raises
    ------
    PrivacyError
        If nothing may be sent to the endpoint, or not through the proxy.
    UnreadableInputError
        If the file contains no certificate.
    """
    allowance.check(endpoint, proxy)
    connect = partial(
        httpx2.HTTPTransport,
        verify=_trusted(Path(str(ca_file))) if ca_file else _trusted_by_system(),
        trust_env=False,
        proxy=proxy.url if proxy else None,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
    )
    return BoundedTransport(
        connect,
        endpoint.address,
        timeout_s,
        stays_here=endpoint.is_here,
        largest=largest,
    )


@cache
def _trusted_by_system() -> ssl.SSLContext:
    """Read the system's certificates once: they take 25 ms, for every model anew."""
    return httpx2.create_ssl_context(trust_env=False)


def _trusted(ca_file: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as error:
        raise UnreadableInputError(
            f"The ca_file {ca_file.name} contains no readable certificate.",
            "Name a PEM file that begins with -----BEGIN CERTIFICATE-----.",
        ) from error


class BoundedTransport(httpx2.BaseTransport):
    """HTTP/1.1 with one connection per request, a deadline and a maximum body size.

    A new connection costs a fraction of a millisecond on this machine, and no request
    can fail on one that the server has closed meanwhile. In a pool that is shared,
    requests would wait for one another while it looks through all of them.

    Parameters
    ----------
    connect : callable
        Makes the transport that sends one request, and keeps no connection.
    host : str
        Host and port as used in messages.
    timeout_s : float
        Seconds from the first byte sent to the last received.
    stays_here : bool
        Whether to refuse a name that resolves to another machine.
    largest : int
        The most bytes of a body.
    """

    def __init__(
        self,
        connect: Callable[[], httpx2.BaseTransport],
        host: str,
        timeout_s: float,
        *,
        stays_here: bool,
        largest: int = LARGEST_BODY,
    ) -> None:
        self._connect, self._host, self._largest = connect, host, largest
        self._timeout_s, self._stays_here = timeout_s, stays_here
        self._deadlines = Deadlines(timeout_s)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its stream raises ``ProviderError`` at either limit."""
        watch = _Watch(
            self._host, self._timeout_s, self._deadlines, stays_here=self._stays_here
        )
        sent = httpx2.Request(
            request.method,
            request.url,
            headers={k: v for k, v in request.headers.items() if k in _SENT_HEADERS},
            stream=request.stream,
            extensions={**request.extensions, "trace": watch.trace},
        )
        with watch.errors_named():
            response = self._connect().handle_request(sent)
        # no decoding: the body is kept as it came, and cannot unpack into gigabytes
        response.headers.pop("content-encoding", None)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_BoundedStream(response.stream, watch, self._host, self._largest),
            extensions=response.extensions,
        )


class _Watch:
    """Shuts a connection down at the deadline, whatever it is waiting for."""

    def __init__(
        self, host: str, timeout_s: float, deadlines: Deadlines, *, stays_here: bool
    ) -> None:
        self._host, self._timeout_s = host, timeout_s
        self._stays_here = stays_here
        self._socket: socket.socket | None = None
        self._expired = False
        self._deadline = deadlines.add(self._expire)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Record the connection before anything is sent over it.

        TLS replaces the socket object.
        """
        if event == "connection.connect_tcp.complete":
            # "localhost" is looked up like any name; only the address is certain.
            self._refuse_elsewhere(info["return_value"])
        if event.endswith(_CONNECTED):
            self._socket = info["return_value"].get_extra_info("socket")
            if self._expired:  # while it was connecting: there was nothing to shut
                info["return_value"].close()
                self.check()

    def _refuse_elsewhere(self, stream: Any) -> None:  # noqa: ANN401 - httpcore's
        peer = stream.get_extra_info("server_addr")[0]
        if self._stays_here and not is_loopback(peer):
            stream.close()
            raise PrivacyError(
                f"The name of the server leads to {peer}, which is not this "
                "machine; use a server on 127.0.0.1."
            )

    def cancel(self) -> None:
        """Stop watching."""
        self._deadline.cancel()

    def check(self) -> None:
        """Raise if the deadline passed; a shut connection looks like a short reply."""
        if self._expired:
            raise timeout_error(self._host, self._timeout_s)

    def errors_named(self) -> "_ErrorsNamed":
        """Return a context in which the shut connection's error becomes a timeout."""
        return _ErrorsNamed(self)

    def _expire(self) -> None:
        self._expired = True
        if self._socket is not None:
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                # closed by itself in the same moment, which is what was wanted
                self._socket = None


class _ErrorsNamed:
    def __init__(self, watch: _Watch) -> None:
        self._watch = watch

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._watch.cancel()
            self._watch.check()


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(
        self,
        inner: httpx2.SyncByteStream | httpx2.AsyncByteStream,
        watch: _Watch,
        host: str,
        largest: int,
    ) -> None:
        assert isinstance(inner, httpx2.SyncByteStream)  # noqa: S101 - for mypy
        self._inner, self._watch, self._host = inner, watch, host
        self._largest = largest

    def __iter__(self) -> Iterator[bytes]:
        received = 0
        with self._watch.errors_named():
            for chunk in self._inner:
                received += len(chunk)
                if received > self._largest:
                    raise too_large_error(self._host, self._largest)
                yield chunk
        self._watch.check()

    def close(self) -> None:
        """Return the connection and stop watching it."""
        self._watch.cancel()
        self._inner.close()
