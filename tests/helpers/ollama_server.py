"""Stand-ins for Ollama's ``POST /api/pull`` and ``GET /api/tags``, from its documents.

docs/openapi.yaml of github.com/ollama/ollama (``ListResponse``, ``PullRequest``,
``StatusEvent``, ``ErrorResponse``). A pull is a JSON object a line, the last with the
status ``success`` or an ``error``. What one request downloaded is not downloaded again
by the next.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler

from tests.helpers.loopback_server import LoopbackServer, Silent
from tests.helpers.seeing_server import Seeing

SIZES = {"sha256:aa": 2_000_000, "sha256:bb": 1_000_000}
"""The files of every model here, and their bytes."""
_STEP = 100_000
LIBRARY = ("medgemma:4b",)
UNKNOWN = "pull model manifest: file does not exist"


class _Handler(Silent, BaseHTTPRequestHandler):
    server: "OllamaServer"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, body))
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson")
        self.end_headers()
        try:
            for line in self.server.script or self._pull(body["model"]):
                self.wfile.write(line + b"\n")
                self.wfile.flush()
            if self.server.hangs:
                self.wait_for_the_end()
        except OSError:
            self.server.left.set()

    def wait_for_the_end(self) -> None:
        """Say nothing until the client goes away."""
        if not self.rfile.read(1):
            self.server.left.set()

    def _pull(self, model: str) -> Iterator[bytes]:
        yield _line(status="pulling manifest")
        if model not in LIBRARY:
            yield _line(error=UNKNOWN)
            return
        for digest, total in SIZES.items():
            status = f"pulling {digest[7:]}"
            yield _line(status=status, digest=digest, total=total)
            while self.server.here.get(digest, 0) < total:
                self.server.stopping.wait(self.server.pause_s)
                here = self.server.download(digest, total)
                yield _line(status=status, digest=digest, total=total, completed=here)
            yield _line(status=status, digest=digest, total=total, completed=total)
        yield _line(status="verifying sha256 digest")
        yield _line(status="success")


def _line(**fields: object) -> bytes:
    return json.dumps(fields).encode()


class OllamaServer(LoopbackServer):
    """The server; ``here`` has the bytes of each file that it has downloaded.

    With a ``script`` it sends these lines, and ends or, if it ``hangs``, waits.
    """

    def __init__(
        self, *script: bytes, pause_s: float = 0.0, hangs: bool = False
    ) -> None:
        super().__init__(_Handler)
        self.script, self.pause_s, self.hangs = script, pause_s, hangs
        self.asked = list[tuple[str, dict[str, object]]]()
        self.here = dict[str, int]()
        self.left = threading.Event()
        self._lock = threading.Lock()

    def download(self, digest: str, total: int) -> int:
        """Download more of a file, for every request; return the bytes that are here.

        A request whose client left may still be at it when the next one comes.
        """
        with self._lock:
            here = min(self.here.get(digest, 0) + _STEP, total)
            self.here[digest] = here
            return here

    @property
    def base_url(self) -> str:
        """What a profile's base_url should be."""
        return f"{self.url}/v1"


@dataclass
class SeeingOllama(Seeing):
    """Lists one model with the digest of its files, and answers for it."""

    model: str = "medgemma:latest"
    digest: str = "a" * 64
    modified_at: str = "2026-11-20T14:56:49.277302595-07:00"

    def listing(self, path: str) -> tuple[int, object]:
        """Return the list of models that Ollama keeps."""
        if path != "/api/tags":
            return super().listing(path)
        row = {"name": self.model, "model": self.model, "size": 3338801804}
        told = {"modified_at": self.modified_at, "digest": self.digest}
        return 200, {"models": [{**row, **told}]}
