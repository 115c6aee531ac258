"""What the tests' own servers share: they listen on this machine, in a thread."""

import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class Silent:
    """What a handler inherits first to log nothing."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Stay silent."""


class LoopbackServer(ThreadingHTTPServer):
    """Serves as long as its context lasts, on a free port where none is named.

    ``stopping`` is set when the context ends, for handlers that wait.
    """

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(
        self,
        handler: type[BaseHTTPRequestHandler],
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(("127.0.0.1", port), handler)
        self.stopping = threading.Event()
        self._scheme = "https" if tls else "http"
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self._thread = threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.02}
        )

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        """Its address, without a path."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent where a client went away between two requests."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]
