"""A real Chat Completions server on this machine that behaves as it is told.

Run it in its own process, where tests kill the client, as
``python -m tests.helpers.scripted_server --port 0 --journal FILE``: it prints its port
and serves until its standard input ends. In a test's process use `ScriptedServer`.

A behaviour is a word: ``ok``, an HTTP status (``500``), ``429:7`` (Retry-After in
seconds), ``429-ms:50``, ``429-date:3``, ``quota``, ``half`` (body cut off),
``half-json`` (whole body of half a document), ``reset``, ``drip`` (a byte now and
then, for ever), ``drip-headers``, ``drip-error``, ``hang``, ``endless``,
``not-json``, ``gzip``, ``loading`` and ``loading-ollama`` (what llama.cpp and Ollama
say while they load a model), ``redirect:URL``, ``slow:SECONDS``, ``held`` (until
`Script.release` is called) or a key of `DOCUMENTS`.
"""

import argparse
import base64
import gzip
import hashlib
import json
import os
import re
import socket
import ssl
import struct
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from tests.helpers.loopback_server import LoopbackServer, Silent

REFUSAL = "I'm sorry, but I can't assist with that."
_IMAGE = re.compile(rb"data:image/png;base64,([A-Za-z0-9+/=]+)")


@dataclass(frozen=True)
class Received:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes
    behaviour: str

    @property
    def image_sha256(self) -> tuple[str, ...]:
        """The hash of each PNG in the body."""
        return tuple(
            hashlib.sha256(base64.b64decode(data)).hexdigest()
            for data in _IMAGE.findall(self.body)
        )

    def as_json(self) -> str:
        """Return the journal's line."""
        return json.dumps(
            {
                "time": time.time(),
                "behaviour": self.behaviour,
                "sha256": hashlib.sha256(self.body).hexdigest(),
                "image_sha256": self.image_sha256,
                "body": self.body.decode("utf-8", "replace"),
            }
        )


@dataclass
class Script:
    """What the server does: ``behaviours`` in turn, then ``default`` for ever."""

    behaviours: Iterable[str] = ()
    default: str = "ok"
    answer: str = "D4"
    answer_by_hash: bool = False
    cells: int = 8
    latency_s: float = 0.0
    journal: Path | None = None
    key: str = ""
    received: list[Received] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._turns = iter(self.behaviours)
        self._released = threading.Event()
        self._lock = threading.Lock()

    def take(self, path: str, headers: dict[str, str], body: bytes) -> Received:
        """Record a request, in the journal too, and return it with its behaviour."""
        with self._lock:
            behaviour = next(self._turns, self.default)
            if self.key and headers.get("authorization") != f"Bearer {self.key}":
                behaviour = "401"
            request = Received(path, headers, body, behaviour)
            self.received.append(request)
            if self.journal is not None:
                with self.journal.open("a", encoding="utf-8") as file:
                    file.write(request.as_json() + "\n")
                    file.flush()
                    os.fsync(file.fileno())
        return request

    def release(self) -> None:
        """Answer whoever is held, and from now on at once."""
        self.latency_s = 0.0
        self._released.set()

    @property
    def is_released(self) -> bool:
        """Whether nobody is held any more."""
        return self._released.is_set()

    def reply_to(self, request: Received) -> tuple[int, object]:
        """Return the status and the document of a reply that goes well."""
        return 200, completion(self.answer_to(request.body))

    def listing(self, path: str) -> tuple[int, object]:
        """Return the status and the document of what can be asked for by GET."""
        listed = {"object": "list", "data": [{"id": "scripted-1", "object": "model"}]}
        return (200, listed) if "/models" in path else (404, {})

    def answer_to(self, body: bytes) -> str:
        """Return the constant answer, or a cell that the body's hash decides."""
        if not self.answer_by_hash:
            return self.answer
        number = int.from_bytes(hashlib.sha256(body).digest()[:8], "big")
        row, column = divmod(number % self.cells**2, self.cells)
        return f"{chr(ord('A') + row)}{column + 1}"


def completion(
    content: object, finish_reason: str = "stop", **message: object
) -> dict[str, Any]:
    """Return a Chat Completions document."""
    return {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": {"prompt_tokens": 85, "completion_tokens": 2, "total_tokens": 87},
    }


_WHOLE = json.dumps(completion("D4")).encode()
_CUT_SHORT = "The abnormality is most prominent in"
_QUOTA = {"message": "You exceeded your quota.", "code": "insufficient_quota"}

DOCUMENTS: Mapping[str, object] = {
    "empty": completion(""),
    "null": completion(None),
    "refusal": completion(None, refusal=REFUSAL),
    "refusal-text": completion(REFUSAL),
    "content-filter": completion("", "content_filter"),
    "length": completion(_CUT_SHORT, "length"),
    "think": completion("<think>maybe C4</think>\nF6"),
    "parts": completion([{"type": "text", "text": "D4"}]),
    "no-choices": {"choices": []},
}
"""Behaviours that reply 200 with a document."""

LOADING: Mapping[str, tuple[int, object]] = {
    "loading": (
        503,
        {"message": "Loading model", "type": "unavailable_error", "code": 503},
    ),
    "loading-ollama": (
        500,
        {"message": "unexpected server status: llm server loading model"},
    ),
}
"""Status and error of servers that have not loaded their model yet."""


class _Handler(Silent, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: "ScriptedServer"

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True  # the client died while it asked
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = self.server.script.take(self.path, headers, body)
        time.sleep(self.server.script.latency_s)
        try:
            self.behave(request)
            self.wfile.flush()
        except OSError:
            # the client went away, which is what some tests are about
            self.close_connection = True

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        key = self.server.script.key
        allowed = not key or headers.get("authorization") == f"Bearer {key}"
        status, document = self.server.script.listing(self.path)
        self.reply(status if allowed else 401, json.dumps(document).encode())

    def behave(self, request: Received) -> None:
        name, _, argument = request.behaviour.partition(":")
        if name[:3].isdigit():
            self.fail(name, argument)
        elif name in LOADING:
            status, error = LOADING[name]
            self.reply(status, json.dumps({"error": error}).encode())
        elif name in DOCUMENTS:
            self.reply(200, json.dumps(DOCUMENTS[name]).encode())
        elif name in ("ok", "slow", "held"):
            self.server.stopping.wait(float(argument) if name == "slow" else 0)
            while name == "held" and not self.server.script.is_released:
                if self.server.stopping.wait(0.005):
                    break
            status, document = self.server.script.reply_to(request)
            self.reply(status, json.dumps(document).encode())
        else:
            getattr(self, "do_" + name.replace("-", "_"))(argument)

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("x-request-id", "req-1")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def fail(self, name: str, argument: str) -> None:
        status, _, unit = name.partition("-")
        date = formatdate(time.time() + float(argument or 0), usegmt=True)
        headers = {
            "": {"Retry_After": argument},
            "ms": {"retry_after_ms": argument},
            "date": {"Retry_After": date},
        }[unit]
        echoed = self.headers.get("authorization", "")
        error = {"message": f"scripted {status} for {echoed}", "code": None}
        body = json.dumps({"error": error}).encode()
        self.reply(int(status), body, **(headers if argument else {}))

    def do_quota(self, _: str) -> None:
        self.reply(429, json.dumps({"error": _QUOTA}).encode(), Retry_After="1")

    def do_half(self, _: str) -> None:
        self.begin(len(_WHOLE))
        self.wfile.write(_WHOLE[: len(_WHOLE) // 2])
        self.wfile.flush()
        self.close_connection = True

    def do_half_json(self, _: str) -> None:
        self.reply(200, _WHOLE[: len(_WHOLE) // 2])

    def do_not_json(self, _: str) -> None:
        self.reply(200, b"<html>It works!</html>")

    def do_gzip(self, _: str) -> None:
        self.reply(200, gzip.compress(_WHOLE), Content_Encoding="gzip")

    def do_redirect(self, argument: str) -> None:
        self.reply(307, b"", Location=argument)

    def do_reset(self, _: str) -> None:
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.connection.close()
        self.close_connection = True

    def do_hang(self, _: str) -> None:
        self.for_ever(b"", 0.02)

    def do_drip(self, _: str) -> None:
        self.begin(None)
        self.for_ever(b" ", 0.02)

    def do_drip_headers(self, _: str) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        self.for_ever(b"x", 0.02)

    def do_drip_error(self, _: str) -> None:
        self.send_response(500)
        self.end_headers()
        self.for_ever(b" ", 0.02)

    def do_endless(self, _: str) -> None:
        self.begin(None)
        self.for_ever(b" " * 1_000_000, 0.0)

    def begin(self, length: int | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.flush()

    def for_ever(self, chunk: bytes, pause_s: float) -> None:
        self.close_connection = True
        while not self.server.stopping.wait(pause_s):
            self.wfile.write(chunk)
            self.wfile.flush()


class ScriptedServer(LoopbackServer):
    """The server in this process, as a context manager."""

    def __init__(
        self,
        script: Script | None = None,
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(_Handler, port, tls)
        self.script = script or Script()

    @property
    def base_url(self) -> str:
        """What a profile's base_url should be."""
        return f"{self.url}/v1"


def main() -> None:
    """Serve until standard input ends; print the port on one line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--answer", default="D4")
    parser.add_argument("--answer-by-hash", action="store_true")
    parser.add_argument("--cells", type=int, default=8)
    parser.add_argument("--script", default="", help="behaviours, joined by commas")
    parser.add_argument("--default", default="ok")
    parser.add_argument("--key", default="")
    given = parser.parse_args()
    script = Script(
        behaviours=[word for word in given.script.split(",") if word],
        default=given.default,
        answer=given.answer,
        answer_by_hash=given.answer_by_hash,
        cells=given.cells,
        latency_s=given.latency,
        journal=given.journal,
        key=given.key,
    )
    with ScriptedServer(script, given.port) as server:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
