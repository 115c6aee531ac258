"""The adapter that answers from an earlier report."""

import base64
import binascii
import csv
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.escapes import unguarded
from viewer.domain.exchange import (
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
    ReplyKind,
)
from viewer.domain.map_texts import with_texts
from viewer.models.reading import plain_reply, read_reply
from viewer.models.recorded import not_recorded, read_file

_COLUMNS = {
    "item",
    "condition",
    "repeat",
    "model",
    "status",
    "answer",
    "request_sha256",
}
_Row = dict[str, str]
_Key = tuple[str, str, str]


class Replay:
    """Answers found by item, condition and repeat in an earlier items.csv.

    With ``replies_file`` the raw replies themselves are returned. Without it only what
    items.csv has: the answered cell, a refusal, an unreadable or truncated reply.
    """

    def __init__(self, profile: ModelProfile) -> None:
        settings = profile.settings
        items = read_file(Path(str(settings["items_file"])))
        self._rows = _rows(items, settings.get("model"))
        self._params = {
            "items_sha256": hashlib.sha256(items).hexdigest(),
            "model": settings.get("model"),
        }
        self._replies: dict[str, RawReply] | None = None
        if settings.get("replies_file") is not None:
            replies = read_file(Path(str(settings["replies_file"])))
            self._replies = _replies(replies)
            self._params["replies_sha256"] = hashlib.sha256(replies).hexdigest()

    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - the facts hold it
        """Return the hashes of the files, so that another report is another model."""
        endpoint = {"kind": "replay", "api": "local"}
        return ModelIdentity(endpoint, "replay", "1", self._params)

    def generate(self, request: ModelRequest) -> RawReply:
        """Return the recorded reply; ``ProviderError`` if there is none."""
        facts = request.facts
        row = self._rows.get((facts.item, facts.condition, str(facts.repeat)))
        raw = None if row is None else self._recorded(row)
        if raw is None:
            raise not_recorded("The earlier report has no reply to this question.")
        return raw

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)

    def _recorded(self, row: _Row) -> RawReply | None:
        if self._replies is not None:
            return self._replies.get(row["request_sha256"])
        return _status_reply(row)


def _status_reply(row: _Row) -> RawReply | None:
    """Return a reply that gives the row's status again, None for an unknown status."""
    note, status = f"Replayed from a row with status {row['status']}.", row["status"]
    if row["answer"]:
        return plain_reply(row["answer"], note)
    if status == "refused":
        return plain_reply("", note, refusal="refused in the earlier report")
    if status == "truncated":
        return plain_reply("", note, finish_reason="length")
    return plain_reply("", note) if status == "unparsed" else None


def _rows(data: bytes, model: object) -> dict[_Key, _Row]:
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))  # replies are cells
    try:
        reader = csv.DictReader(io.StringIO(data.decode("utf-8-sig")), strict=True)
        rows = [with_texts(row, unguarded) for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise _no_items() from error
    if not set(reader.fieldnames or ()) >= _COLUMNS or any(
        None in row or None in row.values() for row in rows
    ):
        raise _no_items()
    models = sorted({row["model"] for row in rows})
    if model is None and len(models) > 1:
        raise WrongUseError(
            f"The earlier report has several models: {', '.join(models)}.",
            "Name one of them as the replay's model.",
        )
    if model is not None and model not in models:
        raise WrongUseError(
            f"The earlier report has no model '{model}'.",
            f"It has {', '.join(models) or 'none'}.",
        )
    return _by_question([row for row in rows if model in {None, row["model"]}])


def _by_question(rows: Sequence[_Row]) -> dict[_Key, _Row]:
    """Return the row of each question; contradictory rows raise."""
    rows_by_question: dict[_Key, _Row] = {}
    for row in rows:
        key = row["item"], row["condition"], row["repeat"]
        if rows_by_question.setdefault(key, row) != row:
            raise UnreadableInputError(
                f"The items file has two answers to {row['item']} ({row['condition']}, "
                f"repeat {row['repeat']}).",
                "Keep one row per question.",
            )
    return rows_by_question


def _no_items() -> UnreadableInputError:
    return UnreadableInputError(
        "The items file is not an items.csv of a report.",
        "Choose the items.csv that 'overread report' wrote.",
    )


def _replies(data: bytes) -> dict[str, RawReply]:
    replies: dict[str, RawReply] = {}
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            row = read_json(line)
            body = base64.b64decode(row["body"], validate=True)
            replies[str(row["request_sha256"])] = RawReply(ReplyKind(row["kind"]), body)
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            raise UnreadableInputError(
                f"Line {number} of the replies file is not a recorded reply.",
                "Each line must be a JSON object with request_sha256, kind and body "
                "(base64).",
            ) from error
    return replies
