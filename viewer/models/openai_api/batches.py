"""OpenAI's Batch API, and that of servers compatible with it.

A file of JSON lines is uploaded, a batch begun over it and looked at until it is over;
its answers and its errors are files too, in any order, found by ``custom_id``
(platform.openai.com/docs/guides/batch, platform.openai.com/docs/api-reference/batch,
learn.microsoft.com/azure/foundry/reference/rest/batches-create-batch).
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, BinaryIO, Final

from viewer.domain.errors import ProviderError, RetryClass
from viewer.domain.exchange import ModelRequest
from viewer.models.batching import MISSING, BatchState, BatchStatus, Outcome
from viewer.models.openai_api.client import Client, HttpReply
from viewer.models.provider_errors import quotation, retry_after

WINDOW: Final = "24h"
"""The only completion window that there is."""
PURPOSE: Final = "batch"
KEY: Final = "overread"
"""The name under which a batch's metadata has our key."""
LARGEST_RESULTS: Final = 1_000_000_000
"""Bytes after which a file of results is no such file any more."""
LONGEST_S: Final = 1800.0
"""Seconds that a file may take on its way, at most 200 MB at 1 Mbit/s."""
_PAGE: Final = 100
_CROWDED: Final = "token_limit_exceeded"
"""Why a batch fails at once while too many tokens wait in others of the account."""
_AGAIN: Final = frozenset({"request_timeout", "server_error", "rate_limit_exceeded"})

ReadsLine = Callable[[HttpReply, Mapping[str, str]], Outcome]
"""Makes an outcome of one question's status and body, and what was noted of it."""


class OpenAIBatches:
    """The batch endpoint of one server, for one model.

    Parameters
    ----------
    client : Client
        For the server, with time and space for files.
    host : str
        Host and port, for messages.
    path : str
        The path that each question would go to by itself, after ``/v1``.
    notes : callable
        Returns what must be kept of a request to read its reply.
    reads : callable
        Makes an outcome of a question's status and body.
    """

    def __init__(
        self,
        client: Client,
        host: str,
        path: str,
        notes: Callable[[ModelRequest], Mapping[str, str]],
        reads: ReadsLine,
    ) -> None:
        self._client, self._host, self._url = client, host, f"/v1{path}"
        self.noted, self._reads = notes, reads

    def line(self, name: str, body: bytes) -> bytes:
        """Return a question's line of the file: its name there, and its exact body."""
        head = {"custom_id": name, "method": "POST", "url": self._url}
        return json.dumps(head)[:-1].encode() + b', "body": ' + body + b"}\n"

    def upload(self, name: str, file: BinaryIO) -> str:
        """Upload a file of lines; return its id there."""
        document = self._document(self._client.upload("/files", name, file, PURPOSE))
        return self._text(document, "id")

    def submit(self, file: str, key: str) -> BatchState:
        """Begin a batch that can be found again by its key."""
        body = {
            "input_file_id": file,
            "endpoint": self._url,
            "completion_window": WINDOW,
            "metadata": {KEY: key},
        }
        return self._state(self._client.post("/batches", json.dumps(body).encode()))

    def found(self, file: str, key: str) -> BatchState | None:
        """Return the batch of a key or a file, None if the provider knows none."""
        for batch in self._listed("/batches", {}):
            named = batch.get("metadata") or {}
            if named.get(KEY) == key or batch.get("input_file_id") == file:
                return self._state_of(batch, None)
        return None

    def _listed(self, path: str, query: dict[str, str]) -> Iterator[dict[str, Any]]:
        """Yield what the provider lists at a path, page by page."""
        query = {**query, "limit": str(_PAGE)}
        while True:
            listed = self._document(self._client.get(path, query))
            data = listed.get("data")
            rows = [row for row in data if isinstance(row, dict)] if data else []
            yield from rows
            if not listed.get("has_more") or not rows:
                return
            query["after"] = self._text(rows[-1], "id")

    def state(self, batch: str) -> BatchState:
        """Return a batch as it is now."""
        return self._state(self._client.get(f"/batches/{batch}"))

    def cancel(self, batch: str) -> BatchState:
        """Have a batch cancelled; answers that it has already are kept."""
        return self._state(self._client.post(f"/batches/{batch}/cancel", b"{}"))

    def results(
        self, state: BatchState, noted: Mapping[str, Mapping[str, str]]
    ) -> Iterator[tuple[str, Outcome]]:
        """Yield what became of each question of a batch that is over, by its name.

        ``noted`` is what was noted of each question; others are passed over.
        """
        left = dict(noted)
        for file in state.files:
            for line in self._content(file).split(b"\n"):
                document = _object(line)
                name = document.get("custom_id")
                if name in left:
                    yield name, self._outcome(document, left.pop(name))
        for name in left:
            yield name, self._missing(state)

    def files_named(self, name: str) -> tuple[str, ...]:
        """Return the ids there of the files that were uploaded under a name."""
        rows = self._listed("/files", {"purpose": PURPOSE})
        return tuple(
            self._text(row, "id")
            for row in rows
            if row.get("filename") == name and row.get("purpose") == PURPOSE
        )

    def remove(self, file: str) -> None:
        """Delete a file there; one that is not there is no failure."""
        reply = self._client.delete(f"/files/{file}")
        if reply.status != HTTPStatus.NOT_FOUND:
            self._document(reply)

    def _content(self, file: str) -> bytes:
        reply = self._client.get(f"/files/{file}/content")
        if not reply.is_success:
            raise self._client.status_error(reply)
        return reply.body

    def _outcome(
        self, document: Mapping[str, Any], noted: Mapping[str, str]
    ) -> Outcome:
        response, error = document.get("response"), document.get("error")
        status = response.get("status_code") if isinstance(response, dict) else None
        if isinstance(response, dict) and isinstance(status, int):
            body = response.get("body")
            sent = {"x-request-id": str(response.get("request_id") or "")}
            plain = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
            return self._reads(HttpReply(status, sent, plain.encode()), noted)
        told = error if isinstance(error, dict) else {}
        code = str(told.get("code") or "")
        return ProviderError(
            f"The server at {self._host} did not answer a question of its batch"
            f"{quotation(told.get('message'), '')}.",
            "Ask the failed questions again.",
            retry_class=RetryClass.RETRY if code in _AGAIN else RetryClass.FAIL,
            reason=code if code.isidentifier() else "batch_error",
        )

    def _missing(self, state: BatchState) -> ProviderError:
        """Return the end of a question that the results of a batch do not name."""
        unpaid = {
            BatchStatus.EXPIRED: "batch_expired",
            BatchStatus.CANCELLED: "batch_cancelled",
            BatchStatus.FAILED: "batch_rejected",
        }
        return ProviderError(
            f"The batch at {self._host} is over without an answer to this question.",
            "Ask the failed questions again.",
            retry_class=RetryClass.FAIL,
            reason=unpaid.get(state.status, MISSING),
        )

    def _state(self, reply: HttpReply) -> BatchState:
        return self._state_of(self._document(reply), retry_after(reply.headers))

    def _state_of(self, batch: dict[str, Any], look_after: float | None) -> BatchState:
        try:
            status = BatchStatus(str(batch.get("status")))
        except ValueError:
            status = BatchStatus.IN_PROGRESS  # a word of a later version: go on looking
        counts = batch.get("request_counts") or {}
        errors = [e for e in (batch.get("errors") or {}).get("data") or [] if e]
        first = errors[0] if errors else {}
        files = (batch.get("output_file_id"), batch.get("error_file_id"))
        return BatchState(
            id=self._text(batch, "id"),
            status=status,
            input_file=str(batch.get("input_file_id") or ""),
            due=_time(batch.get("expires_at")),
            ended=sum(int(counts.get(k) or 0) for k in ("completed", "failed")),
            files=tuple(str(file) for file in files if file),
            why=quotation(first.get("message"), "").removeprefix(": "),
            is_crowded=bool(errors) and all(e.get("code") == _CROWDED for e in errors),
            look_after_s=look_after,
        )

    def _document(self, reply: HttpReply) -> dict[str, Any]:
        if not reply.is_success:
            raise self._client.status_error(reply)
        return _object(reply.body)

    def _text(self, document: Mapping[str, Any], name: str) -> str:
        value = document.get(name)
        if isinstance(value, str) and value:
            return value
        raise ProviderError(
            f"The server at {self._host} has no batch endpoint of OpenAI's kind.",
            "Ask its model at once instead.",
            retry_class=RetryClass.STOP_RUN,
            reason="no_batches",
        )


def _object(line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _time(seconds: object) -> str:
    """Return a Unix time as UTC in ISO 8601, "" if there is none."""
    if not isinstance(seconds, int | float) or not 0 < seconds < 1e11:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
