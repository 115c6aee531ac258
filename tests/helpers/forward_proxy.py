"""A proxy on this machine that forwards plain HTTP, or refuses to."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def do_POST(self) -> None:
        self.server.asked.append(self.path)
        if self.server.refuses:
            self.send_error(407)
            return
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers["content-length"]))
        onward = http.client.HTTPConnection(str(url.hostname), url.port)
        onward.request("POST", url.path, body, {"content-type": "application/json"})
        reply = onward.getresponse()
        data = reply.read()
        onward.close()
        self.send_response(reply.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_CONNECT(self) -> None:
        self.server.asked.append(self.path)
        self.send_error(403)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Stay silent."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    refuses = False

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("127.0.0.1", 0), _Handler)


class ForwardProxy:
    """The proxy in this process, as a context manager."""

    def __init__(self, *, refuses: bool = False) -> None:
        self._server = _Server()
        self._server.refuses = refuses
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}
        )

    @property
    def asked(self) -> list[str]:
        """The addresses that were asked for through it."""
        return self._server.asked

    @property
    def url(self) -> str:
        """What a profile's proxy should be."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
