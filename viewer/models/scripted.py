"""Answers written down beforehand."""

import hashlib
import json
import time
from pathlib import Path

from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.exchange import (
    Facts,
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
)
from viewer.models.reading import plain_reply, read_reply
from viewer.models.recorded import not_recorded, read_file


class Scripted:
    """One constant answer, or a table of answers by item.

    The table's keys are ``item`` or ``item|condition|repeat``; the longer one wins,
    and ``answer`` is what an item without an entry gets.
    """

    def __init__(self, profile: ModelProfile) -> None:
        settings = profile.settings
        self._answer = settings.get("answer")
        self._delay_s = float(str(settings.get("delay_s", 0.0)))
        self._fields = {
            key: str(settings[key])
            for key in ("finish_reason", "refusal")
            if settings.get(key) is not None
        }
        path = settings.get("answers_file")
        self._table: dict[str, str] = {}
        self._sha256 = ""
        if path is not None:
            data = read_file(Path(str(path)))
            self._table = _answers(data)
            self._sha256 = hashlib.sha256(data).hexdigest()
        elif self._answer is None:
            raise WrongUseError(
                f"The scripted model '{profile.name}' has nothing to say.",
                "Give it an answer or an answers_file.",
            )

    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - the facts hold it
        """Return the script itself as parameters, so that another one is another."""
        params = {
            "answer": self._answer,
            "answers_sha256": self._sha256,
            **self._fields,
        }
        endpoint = {"kind": "scripted", "api": "local"}
        return ModelIdentity(endpoint, "scripted", "1", params)

    def generate(self, request: ModelRequest) -> RawReply:
        """Return the answer written for this item; none raises ``ProviderError``."""
        text = self._find(request.facts)
        if text is None:
            raise not_recorded("The scripted answers hold nothing for this item.")
        time.sleep(self._delay_s)
        return plain_reply(text, **self._fields)

    def read(self, raw: RawReply) -> ModelReply:
        """Read a stored reply."""
        return read_reply(raw)

    def _find(self, facts: Facts) -> str | None:
        full = f"{facts.item}|{facts.condition}|{facts.repeat}"
        for key in (full, facts.item):
            if key in self._table:
                return self._table[key]
        return None if self._answer is None else str(self._answer)


def _answers(data: bytes) -> dict[str, str]:
    try:
        table = json.loads(data)
    except ValueError as error:
        raise _no_table() from error
    if not isinstance(table, dict) or not all(
        isinstance(value, str) for value in table.values()
    ):
        raise _no_table()
    return table


def _no_table() -> UnreadableInputError:
    return UnreadableInputError(
        "The file of scripted answers is not a JSON object of texts.",
        'Write {"item": "D4", "item|grid=8|0": "E5"}.',
    )
