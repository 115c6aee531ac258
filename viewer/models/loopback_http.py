"""HTTP that stays on this machine and comes to an end.

The SDK's own client reads for as long as a server sends. This transport ends a reply
after a time and a size, lets no connection leave the machine, and sends no header
that names the user or comes from the environment.
"""

import socket
import threading
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import SplitResult, urlsplit

import httpx2

from viewer.domain.errors import PrivacyError, WrongUseError
from viewer.models.loopback import is_loopback
from viewer.models.provider_errors import timeout_error, too_large_error

LARGEST_BODY = 8_000_000
"""Bytes after which a reply is no reply any more; Chat Completions take thousands."""

_SENT_HEADERS = frozenset(
    {
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
    }
)


def loopback_url(url: str) -> SplitResult:
    """Return the parts of a base URL on this machine.

    Raises
    ------
    WrongUseError
        For what is no http or https URL, or carries a user name, query or fragment.
    PrivacyError
        For any host but 127.0.0.0/8, ::1 and localhost.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise WrongUseError(
            "The base_url is not the address of a server.",
            "Write it like http://127.0.0.1:8131/v1.",
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise WrongUseError(
            "The base_url holds more than host, port and path.",
            "Leave user names, keys and queries out of it; name a key by api_key_env.",
        )
    if not is_loopback(parts.hostname):
        raise PrivacyError(
            f"Images are sent to this machine only, and {parts.hostname} is not it; "
            "use a server on 127.0.0.1, ::1 or localhost."
        )
    return parts


class BoundedTransport(httpx2.BaseTransport):
    """HTTP/1.1 with one connection a request, a deadline and a largest body.

    A connection of its own costs a fraction of a millisecond on this machine, and no
    request can fail on one that the server had closed meanwhile.

    Parameters
    ----------
    host : str
        Host and port as sentences name them.
    timeout_s : float
        Seconds from the first byte sent to the last received.
    """

    def __init__(self, host: str, timeout_s: float) -> None:
        self._host, self._timeout_s = host, timeout_s
        self._inner = httpx2.HTTPTransport(
            trust_env=False,
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=0),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its stream raises ``ProviderError`` at either limit."""
        watch = _Watch(self._host, self._timeout_s)
        sent = httpx2.Request(
            request.method,
            request.url,
            headers={k: v for k, v in request.headers.items() if k in _SENT_HEADERS},
            stream=request.stream,
            extensions={**request.extensions, "trace": watch.trace},
        )
        with watch.errors_named():
            response = self._inner.handle_request(sent)
        # no decoding: the body is kept as it came, and cannot unpack into gigabytes
        response.headers.pop("content-encoding", None)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_BoundedStream(response.stream, watch, self._host),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Close every connection."""
        self._inner.close()


class _Watch:
    """Shuts the connection down when the time is over, whatever it is waiting for."""

    def __init__(self, host: str, timeout_s: float) -> None:
        self._host, self._timeout_s = host, timeout_s
        self._socket: socket.socket | None = None
        self._expired = False
        self._timer = threading.Timer(timeout_s, self._expire)
        self._timer.daemon = True
        self._timer.start()

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Learn of the connection before anything is sent over it."""
        if event == "connection.connect_tcp.complete":
            stream = info["return_value"]
            self._socket = stream.get_extra_info("socket")
            peer = stream.get_extra_info("server_addr")[0]
            if not is_loopback(peer):
                stream.close()
                raise PrivacyError(
                    f"The name of the server leads to {peer}, which is not this "
                    "machine; use a server on 127.0.0.1."
                )

    def cancel(self) -> None:
        """Stop watching."""
        self._timer.cancel()

    def check(self) -> None:
        """Raise if the time was over; a shut connection looks like a short reply."""
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
    ) -> None:
        assert isinstance(inner, httpx2.SyncByteStream)  # noqa: S101 - for mypy
        self._inner, self._watch, self._host = inner, watch, host

    def __iter__(self) -> Iterator[bytes]:
        received = 0
        with self._watch.errors_named():
            for chunk in self._inner:
                received += len(chunk)
                if received > LARGEST_BODY:
                    raise too_large_error(self._host, LARGEST_BODY)
                yield chunk
        self._watch.check()

    def close(self) -> None:
        """Give the connection back; nothing is left to watch."""
        self._watch.cancel()
        self._inner.close()
