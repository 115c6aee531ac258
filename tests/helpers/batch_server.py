"""A stand-in for OpenAI's Batch API, written from its public documentation.

platform.openai.com/docs/guides/batch and /docs/api-reference/batch: a file is uploaded,
a batch is begun over it, and its answers and errors are files too. What it answers, and
so bills, is noted. Each question of a batch has one fate, such as ``ok``, an HTTP
status, ``expired`` or ``missing`` (not in the results at all).

Run it in a process of its own as ``python -m tests.helpers.batch_server --journal
FILE``: it prints its port and serves until its standard input ends.
"""

import argparse
import email.parser
import email.policy
import hashlib
import json
import os
import random
import re
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.helpers.loopback_server import LoopbackServer, Silent
from tests.helpers.scripted_server import Received, Script, completion

OVER = ("completed", "failed", "expired", "cancelled")
_PAGE = 20


def all_well(_: bytes, __: int) -> str:
    """Answer every question."""
    return "ok"


def mixed(body: bytes, again: int) -> str:
    """Fail some questions when they are first asked, and a few for good."""
    dice = random.Random(hashlib.sha256(body).digest())
    fate = dice.choices(("ok", "500", "expired", "400"), (88, 6, 3, 3))[0]
    return "ok" if fate == "500" and again else fate


@dataclass
class Batch:
    """A batch, its questions by custom_id in the file's order, and their fates."""

    id: str
    file: str
    metadata: dict[str, str]
    endpoint: str
    lines: list[dict[str, Any]]
    fates: list[str]
    created: float
    status: str = "in_progress"
    why: tuple[str, str] | None = None
    cancelled_at: float | None = None
    output: str | None = None
    errors: str | None = None


@dataclass
class BatchScript:
    """What the server does.

    ``takes_s`` is how long a batch takes, and ``cancelling_s`` a cancelled one. Each
    question's fate is that of ``fate`` for its body and how often it came before.
    ``refused`` are the code and message with which the next batches fail their
    validation; ``trouble`` the statuses with which the next requests fail, by method
    and the last word of the path; with 599 the request is obeyed and the connection
    closed. ``look_ms`` is the pause that it asks for between two looks.
    """

    takes_s: float = 0.0
    cancelling_s: float = 0.0
    latency_s: float = 0.0
    fate: Callable[[bytes, int], str] = all_well
    refused: list[tuple[str, str]] = field(default_factory=list)
    trouble: dict[str, list[int]] = field(default_factory=dict)
    expires: bool = False
    most_enqueued: int = 1_000_000
    look_ms: int = 10
    price_in: int = 0
    price_out: int = 0
    answer_by_hash: bool = False
    journal: Path | None = None
    asked: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    billed: list[bytes] = field(default_factory=list)
    bill: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    batches: dict[str, Batch] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self._numbers = 0
        self._seen: dict[bytes, int] = {}
        self._answers = Script(answer_by_hash=self.answer_by_hash)

    def number(self, kind: str) -> str:
        """Return a new id."""
        self._numbers += 1
        return f"{kind}-{self._numbers}"

    def keep(self, content: bytes, name: str = "results.jsonl") -> str:
        """Keep a file under a name."""
        number = self.number("file")
        self.files[number], self.names[number] = content, name
        return number

    def begin(self, wanted: dict[str, Any]) -> Batch:
        """Begin a batch."""
        file = str(wanted["input_file_id"])
        rows = self.files[file].splitlines()
        lines = [json.loads(row) for row in rows]
        batch = Batch(
            self.number("batch"),
            file,
            wanted.get("metadata") or {},
            wanted["endpoint"],
            lines,
            [],
            time.monotonic(),
        )
        names = [line["custom_id"] for line in lines]
        waiting = sum(
            len(b.lines) for b in self.batches.values() if b.status not in OVER
        )
        self.batches[batch.id] = batch
        if waiting + len(lines) > self.most_enqueued:
            batch.why = ("token_limit_exceeded", "Enqueued token limit reached.")
        elif self.refused:
            batch.why = self.refused.pop(0)
        elif len({*names}) < len(names):
            batch.why = ("duplicate_custom_id", "A custom_id is not unique.")
        elif any(line["url"] != batch.endpoint for line in lines):
            batch.why = ("mismatched_url", "A url differs from the endpoint.")
        if batch.why is not None:
            batch.status = "failed"
            return batch
        for line in lines:
            body = json.dumps(line["body"]).encode()
            batch.fates.append(self.fate(body, self._seen.get(body, 0)))
            self._seen[body] = self._seen.get(body, 0) + 1
            self.bodies.append(body)
        return batch

    def move_on(self, batch: Batch) -> None:
        """Bring a batch to what it is by now."""
        now = time.monotonic()
        if batch.status in OVER:
            return
        if batch.cancelled_at is not None:
            batch.status = "cancelling"
            if now >= batch.cancelled_at + self.cancelling_s:
                part = batch.cancelled_at - batch.created
                done = int(len(batch.lines) * min(1.0, part / (self.takes_s or 1.0)))
                batch.fates[done:] = ["cancelled"] * (len(batch.lines) - done)
                self._end(batch, "cancelled")
        elif now >= batch.created + self.takes_s:
            self._end(batch, "expired" if self.expires else "completed")

    def _end(self, batch: Batch, status: str) -> None:
        """Answer a batch's questions, in any order, and bill the answers."""
        rows: dict[str, list[bytes]] = {"output": [], "errors": []}
        together = [*zip(batch.lines, batch.fates, strict=True)]
        random.Random(batch.id).shuffle(together)
        for line, fate in together:
            if fate != "missing":
                where, row = self._row(line, fate)
                rows[where].append(json.dumps(row).encode() + b"\n")
        for where, found in rows.items():
            if found:
                setattr(batch, where, self.keep(b"".join(found)))
        batch.status = status

    def _row(self, line: dict[str, Any], fate: str) -> tuple[str, dict[str, Any]]:
        row = {"id": self.number("batch_req"), "custom_id": line["custom_id"]}
        body = json.dumps(line["body"]).encode()
        if fate == "ok":
            answer = completion(self._answers.answer_to(body))
            self._charge(body, answer["usage"])
            response = {"status_code": 200, "request_id": "req-1", "body": answer}
            return "output", {**row, "response": response, "error": None}
        if fate[:3].isdigit():
            status, _, param = fate.partition(":")
            error = {"message": f"Unsupported parameter: {param}", "param": param}
            told = error if param else {"message": f"scripted {status}", "code": None}
            response = {
                "status_code": int(status),
                "request_id": "req-2",
                "body": {"error": told},
            }
            return "errors", {**row, "response": response, "error": None}
        error = {"code": f"batch_{fate}", "message": f"This request is {fate}."}
        return "errors", {**row, "response": None, "error": error}

    def _charge(self, body: bytes, usage: dict[str, int]) -> None:
        self.billed.append(body)
        self.bill += self.price_in * usage["prompt_tokens"]
        self.bill += self.price_out * usage["completion_tokens"]
        if self.journal is not None:
            received = Received("", {}, body, "ok")
            with self.journal.open("a", encoding="utf-8") as file:
                file.write(received.as_json() + "\n")
                file.flush()
                os.fsync(file.fileno())


def described(batch: Batch) -> dict[str, Any]:
    """Return a batch as the API describes it."""
    errors = None
    if batch.why is not None:
        code, message = batch.why
        errors = {"object": "list", "data": [{"code": code, "message": message}]}
    over = batch.status in ("completed", "expired", "cancelled")
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": batch.endpoint,
        "errors": errors,
        "input_file_id": batch.file,
        "completion_window": "24h",
        "status": batch.status,
        "output_file_id": batch.output,
        "error_file_id": batch.errors,
        "created_at": int(time.time()),
        "expires_at": int(time.time()) + 86_400,
        "request_counts": {
            "total": len(batch.lines),
            "completed": batch.fates.count("ok") if over else 0,
            "failed": 0,
        },
        "metadata": batch.metadata,
    }


def _page(rows: list[dict[str, Any]], query: dict[str, list[str]]) -> dict[str, Any]:
    """Return a page of a list, as the API cuts it."""
    after, ids = query.get("after", [""])[0], [row["id"] for row in rows]
    start = ids.index(after) + 1 if after in ids else 0
    more = start + _PAGE < len(rows)
    return {"object": "list", "data": rows[start : start + _PAGE], "has_more": more}


class _Handler(Silent, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: "BatchServer"

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True  # the client died while it sent
            return
        self._answer("POST", body)

    def do_GET(self) -> None:
        self._answer("GET", b"")

    def do_DELETE(self) -> None:
        self._answer("DELETE", b"")

    def _answer(self, method: str, body: bytes) -> None:
        script = self.server.script
        parts = urlsplit(self.path)
        path = parts.path.removeprefix("/v1")
        self.server.stopping.wait(script.latency_s)
        try:
            with script.lock:
                script.asked.append(f"{method} {path}")
                word = re.sub(r"[-/].*[0-9]$", "", path.rsplit("/", 1)[-1])
                waiting = script.trouble.get(f"{method} {word}", [])
                status = waiting.pop(0) if waiting else 0
                if status not in (0, 599):
                    self._reply(status, {"error": {"message": f"scripted {status}"}})
                    return
                found = self._done(method, path, parse_qs(parts.query), body)
                if status == 599:
                    self.close_connection = True
                    return
                self._reply(*found)
            self.wfile.flush()
        except OSError:
            self.close_connection = True

    def _done(
        self, method: str, path: str, query: dict[str, list[str]], body: bytes
    ) -> tuple[int, Any]:
        script = self.server.script
        for batch in script.batches.values():
            script.move_on(batch)
        _, kind, *rest = path.split("/")
        if kind == "files" and method == "POST":
            return 200, self._described_file(script.keep(*self._uploaded(body)))
        if kind == "files" and not rest:
            return 200, self._files(query)
        if kind == "files" and rest[0] in script.files:
            return 200, self._file(method, rest[0])
        if kind == "batches" and method == "POST" and not rest:
            return 200, described(script.begin(json.loads(body)))
        if kind == "batches" and not rest:
            return 200, self._listed(query)
        if kind == "batches" and rest[0] in script.batches:
            batch = script.batches[rest[0]]
            if rest[1:] == ["cancel"] and batch.status not in OVER:
                batch.cancelled_at = batch.cancelled_at or time.monotonic()
                script.move_on(batch)
            elif rest[1:] == ["cancel"]:
                return 409, {"error": {"message": f"The batch is {batch.status}."}}
            return 200, described(batch)
        return 404, {"error": {"message": f"There is no {path}."}}

    def _listed(self, query: dict[str, list[str]]) -> dict[str, Any]:
        newest = [*reversed(self.server.script.batches.values())]
        return _page([described(batch) for batch in newest], query)

    def _files(self, query: dict[str, list[str]]) -> dict[str, Any]:
        files = [self._described_file(f) for f in reversed(self.server.script.files)]
        purpose = query.get("purpose", [""])[0]
        return _page([f for f in files if purpose in ("", f["purpose"])], query)

    def _file(self, method: str, file: str) -> Any:  # noqa: ANN401 - bytes or JSON
        if method == "GET":
            return self.server.script.files[file]
        del self.server.script.files[file]
        return {"id": file, "object": "file", "deleted": True}

    def _described_file(self, file: str) -> dict[str, Any]:
        name = self.server.script.names[file]
        purpose = "batch_output" if name == "results.jsonl" else "batch"
        return {"id": file, "object": "file", "filename": name, "purpose": purpose}

    def _uploaded(self, body: bytes) -> tuple[bytes, str]:
        head = f"Content-Type: {self.headers['content-type']}\r\n\r\n".encode()
        parser = email.parser.BytesParser(policy=email.policy.HTTP)
        parts = {
            part.get_param("name", header="content-disposition"): part
            for part in parser.parsebytes(head + body).iter_parts()
        }
        assert parts["purpose"].get_payload(decode=True) == b"batch"
        content = parts["file"].get_payload(decode=True)
        assert isinstance(content, bytes)
        return content, parts["file"].get_filename() or ""

    def _reply(self, status: int, document: Any) -> None:  # noqa: ANN401 - JSON
        plain = isinstance(document, bytes)
        body = document if plain else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("retry-after-ms", str(self.server.script.look_ms))
        self.end_headers()
        self.wfile.write(body)


class BatchServer(LoopbackServer):
    """The server in this process, as a context manager."""

    def __init__(self, script: BatchScript | None = None) -> None:
        super().__init__(_Handler)
        self.script = script or BatchScript()

    @property
    def base_url(self) -> str:
        """What a profile's base_url should be."""
        return f"{self.url}/v1"


def main() -> None:
    """Serve until standard input ends; print the port on one line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--takes", type=float, default=0.5)
    parser.add_argument("--mixed", action="store_true")
    told = parser.parse_args()
    script = BatchScript(
        takes_s=told.takes,
        latency_s=told.latency,
        fate=mixed if told.mixed else all_well,
        answer_by_hash=True,
        look_ms=50,
        journal=told.journal,
    )
    with BatchServer(script) as server:
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
