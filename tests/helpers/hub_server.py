"""A hub on this machine that knows one model, as huggingface_hub asks for it."""

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from importlib import import_module
from math import inf
from pathlib import Path
from typing import ClassVar, Final

import pytest

from tests.helpers.loopback_server import LoopbackServer, Silent

COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"
REFUSED: Final = {
    "acme/gated": (403, "GatedRepo"),
    "acme/forbidden": (403, ""),
    "acme/expired": (401, ""),
}
"""Models that are refused, with status and code."""
GATED: Final = "acme/gated"
_PIECE: Final = 1 << 16
_LARGE: Final = 1000


@contextmanager
def hub_server(
    model: str,
    folder: Path,
    bytes_per_s: float = inf,
    asked: list[str] | None = None,
    sent: dict[str, bytes] | None = None,
) -> Iterator[str]:
    """Serve a folder as ``model``; yield the hub's address.

    ``asked`` gets each file that was asked for, with the range that was. ``sent`` has
    by name what is sent instead of a file's true bytes.
    """
    files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    kept = [] if asked is None else asked

    class Handler(_Handler):
        shelf = _Shelf(model, files, bytes_per_s, kept, sent or {})

    with LoopbackServer(Handler) as server:
        yield server.url


def ask_hub(patch: pytest.MonkeyPatch, address: str, home: Path) -> None:
    """Let huggingface_hub ask that server and keep its cache in ``home``.

    It reads its environment only once, at its import.
    """
    constants = import_module("huggingface_hub.constants")
    template = f"{address}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    patch.setattr(constants, "ENDPOINT", address)
    patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    patch.setattr(constants, "HF_HUB_OFFLINE", False)
    patch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    patch.setattr(constants, "HF_HUB_CACHE", str(home))


@dataclass(frozen=True)
class _Shelf:
    model: str
    files: dict[str, bytes]
    bytes_per_s: float
    asked: list[str]
    sent: dict[str, bytes]


class _Handler(Silent, BaseHTTPRequestHandler):
    shelf: ClassVar[_Shelf]

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        path, model = self.path.split("?")[0], self.shelf.model
        if path.startswith(f"/api/models/{model}"):
            self._send(json.dumps(_told(model, path, self.shelf.files)).encode())
        elif path.startswith(f"/{model}/resolve/{COMMIT}/"):
            self._send_file(path.rpartition("/")[2], with_body=with_body)
        else:
            refused = (REFUSED[name] for name in REFUSED if name in path)
            self._send(b"{}", *next(refused, (404, "RepoNotFound")))

    def _send_file(self, name: str, *, with_body: bool) -> None:
        body, wanted = self.shelf.files[name], self.headers.get("Range", "")
        begin = int(wanted.removeprefix("bytes=").rstrip("-") or 0)
        self._head(206 if wanted else 200, len(body) - begin, body)
        if with_body:
            self.shelf.asked.append(f"{name} {wanted}".strip())
            self._trickle(self.shelf.sent.get(name, body)[begin:])

    def _trickle(self, body: bytes) -> None:
        with suppress(ConnectionError):  # a cancelled download hangs up
            for at in range(0, len(body), _PIECE):
                self.wfile.write(body[at : at + _PIECE])
                time.sleep(_PIECE / self.shelf.bytes_per_s)

    def _send(self, body: bytes, status: int = 200, code: str = "") -> None:
        self._head(status, len(body), body, code)
        if self.command == "GET":
            self.wfile.write(body)

    def _head(self, status: int, length: int, body: bytes, code: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.send_header("ETag", f'"{_tag(body)}"')
        self.send_header("X-Repo-Commit", COMMIT)
        if code:
            self.send_header("X-Error-Code", code)
        elif status == HTTPStatus.UNAUTHORIZED:
            said = "Invalid credentials in Authorization header"
            self.send_header("X-Error-Message", said)
        self.end_headers()


def _tag(body: bytes) -> str:
    """Return Git's SHA-1 of a small file, as the hub does, and SHA-256 of a large."""
    if len(body) < _LARGE:
        blob = b"blob %d\0" % len(body) + body
        return hashlib.sha1(blob, usedforsecurity=False).hexdigest()
    return hashlib.sha256(body).hexdigest()


def _told(model: str, path: str, files: dict[str, bytes]) -> object:
    if "/tree/" in path:
        return [
            {"type": "file", "path": name, "size": len(data), "oid": "0" * 40}
            for name, data in files.items()
        ]
    siblings = [{"rfilename": n, "size": len(data)} for n, data in files.items()]
    return {"id": model, "sha": COMMIT, "siblings": siblings}
