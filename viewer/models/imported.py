"""The adapter for replies that a model gave elsewhere."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.domain.exchange import (
    Asked,
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
)
from viewer.domain.written_reply import WrittenReply, reply_of_row
from viewer.models.reading import plain_reply, read_reply
from viewer.models.recorded import not_recorded, read_file

ADAPTER: Final = "imported"
_Key = tuple[str, str, int, Asked | None]


class Imported:
    """The replies in a file, one per line, to the questions of a run.

    A reply is found by item, condition, repeat, step, role and the model under test. In
    a role, such as a judge's, a model answers about several models.
    """

    def __init__(self, profile: ModelProfile) -> None:
        data = read_file(Path(str(profile.settings["replies_file"])))
        self._replies = {_key(one): one for one in _replies(data)}
        self._sha256 = hashlib.sha256(data).hexdigest()

    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - the facts hold it
        """Return the hash of the file, so that other replies are another model's."""
        endpoint = {"kind": ADAPTER, "api": "local"}
        params = {"replies_sha256": self._sha256}
        return ModelIdentity(endpoint, ADAPTER, "1", params)

    def generate(self, request: ModelRequest) -> RawReply:
        """Return the reply to this question; ``ProviderError`` if there is none."""
        facts = request.facts
        key = facts.item, facts.condition, facts.repeat, facts.asked
        reply = self._replies.get(key)
        if reply is None:
            raise not_recorded("The imported replies have none to this question.")
        return reply.raw or plain_reply(reply.text, **_parts(reply))

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)


def _parts(reply: WrittenReply) -> dict[str, str]:
    parts = {"finish_reason": reply.finish_reason, "refusal": reply.refusal}
    return {name: part for name, part in parts.items() if part}


def _key(reply: WrittenReply) -> _Key:
    asked = Asked(reply.model, reply.step, reply.role, reply.again)
    return reply.item, reply.condition, int(reply.repeat), asked


def _replies(data: bytes) -> Iterator[WrittenReply]:
    for line in data.splitlines():
        try:
            yield reply_of_row(read_json(line))
        except (ValueError, TypeError, AttributeError) as error:
            raise UnreadableInputError(
                "The file of imported replies was changed since it was imported.",
                "Import the replies again.",
            ) from error
