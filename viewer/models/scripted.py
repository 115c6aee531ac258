"""The adapter with prepared answers."""

import hashlib
import io
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError, WrongUseError
from viewer.domain.exchange import (
    Facts,
    ModelIdentity,
    ModelProfile,
    ModelReply,
    ModelRequest,
    RawReply,
    SentHeatMap,
)
from viewer.domain.interpretability import Measured, Measures, Spelled
from viewer.models.reading import local_reply, plain_reply, read_reply
from viewer.models.recorded import not_recorded, read_file

TEXT: Final = "text"
_PARTS: Final = frozenset({TEXT, "finish_reason", "refusal"})
_POSTERIOR: Final = "posterior"
_NEVER: Final = -700.0
"""Log-probability of impossible tokens; finite, since JSON has no infinity."""


@dataclass(frozen=True)
class Entry:
    """A prepared reply: its parts by name, and the probability of each option."""

    parts: Mapping[str, str]
    posterior: tuple[float, ...] = ()


def entries(table: object) -> dict[str, Entry]:
    """Return the entries of a JSON object; ValueError for any other form."""
    if not isinstance(table, dict):
        raise ValueError("a table of answers is an object")  # noqa: TRY004 - of a file
    return {str(key): _entry(value) for key, value in table.items()}


def likelihoods(
    entry: Entry, spellings: Sequence[Sequence[str]]
) -> tuple[tuple[Spelled, ...], ...]:
    """Return each option's probability, assigned to its first spelling.

    Without a posterior the model is certain of the option that its text spells, and of
    none if it spells none.
    """
    chances = entry.posterior or tuple(
        float(entry.parts[TEXT].strip() in {s.strip() for s in option})
        for option in spellings
    )
    return tuple(
        (Spelled(option[0], 1, math.log(chance) if chance > 0 else _NEVER),)
        for option, chance in zip(spellings, chances, strict=True)
    )


def _entry(value: object) -> Entry:
    if isinstance(value, str):
        return Entry({TEXT: value})
    if not isinstance(value, dict):
        raise ValueError("an entry is text or an object")  # noqa: TRY004 - of a file
    parts = {key: part for key, part in value.items() if key != _POSTERIOR}
    if TEXT not in parts or not set(parts) <= _PARTS:
        raise ValueError("an entry has a text and no other parts than are known")
    if not all(isinstance(part, str) for part in parts.values()):
        raise ValueError("a part of an entry is text")
    return Entry(parts, _posterior(value.get(_POSTERIOR, [])))


def _posterior(value: object) -> tuple[float, ...]:
    """Return the probabilities; invalid numbers raise."""
    chances = tuple(float(chance) for chance in value)  # type: ignore[attr-defined]
    if any(not 0 <= chance <= 1 for chance in chances):
        raise ValueError("a probability lies from 0 to 1")
    return chances


class Scripted:
    """One constant answer, or a table of answers by item.

    The table's keys are ``item`` or ``item|condition|repeat``, each optionally followed
    by ``|step`` for one of several questions of a trial; the longest key wins, and
    ``answer`` is the answer for items without an entry. An entry is the text, or an
    object of ``text``, ``finish_reason``, ``refusal`` and ``posterior``, a probability
    for every option, which is returned if likelihoods are requested. A heat map file is
    the answer to every item.
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
        self._heat_map, self._heat_map_sha256 = None, ""
        if settings.get("heat_map_file") is not None:
            data = read_file(Path(str(settings["heat_map_file"])))
            self._heat_map = _heat_map(data)
            self._heat_map_sha256 = hashlib.sha256(data).hexdigest()
        path = settings.get("answers_file")
        self._table: dict[str, Entry] = {}
        self._sha256 = ""
        if path is not None:
            data = read_file(Path(str(path)))
            self._table = _answers(data)
            self._sha256 = hashlib.sha256(data).hexdigest()
        elif self._answer is None and self._heat_map is None:
            raise WrongUseError(
                f"The scripted model '{profile.name}' has no answer.",
                "Give it an answer or an answers_file.",
            )

    def identity(self, repeat: int) -> ModelIdentity:  # noqa: ARG002 - the facts hold it
        """Return the script itself as parameters: each script is another model."""
        params = {
            "answer": self._answer,
            "answers_sha256": self._sha256,
            **self._fields,
        }
        if self._heat_map_sha256:
            params["heat_map_sha256"] = self._heat_map_sha256
        endpoint = {"kind": "scripted", "api": "local"}
        return ModelIdentity(endpoint, "scripted", "1", params)

    def generate(self, request: ModelRequest) -> RawReply:
        """Return the answer for this item; ``ProviderError`` if there is none."""
        if self._heat_map is not None:
            return local_reply("", model="scripted", heat_map=self._heat_map)
        answer = self._find(request.facts)
        if answer is None:
            raise not_recorded("The scripted answers have none for this item.")
        time.sleep(self._delay_s)
        if request.measures is not None:
            return _measured_reply(answer, request.measures)
        return plain_reply(**{**self._fields, **answer.parts})

    def read(self, raw: RawReply) -> ModelReply:
        """Parse a stored reply."""
        return read_reply(raw)

    def _find(self, facts: Facts) -> Entry | None:
        full = f"{facts.item}|{facts.condition}|{facts.repeat}"
        step = f"|{facts.step}" if facts.step else ""
        for key in (full + step, full, facts.item + step, facts.item):
            if key in self._table:
                return self._table[key]
        return None if self._answer is None else Entry({TEXT: str(self._answer)})


def _answers(data: bytes) -> dict[str, Entry]:
    try:
        return entries(read_json(data))
    except (ValueError, TypeError, AttributeError) as error:
        raise _no_table() from error


def _measured_reply(entry: Entry, measures: Measures) -> RawReply:
    if entry.posterior and len(entry.posterior) != len(measures.spellings):
        raise not_recorded("The scripted posterior has the wrong number of options.")
    options = likelihoods(entry, measures.spellings)
    text = entry.parts[TEXT] if measures.answer else ""
    return local_reply(text, model="scripted", measured=Measured(options))


def _heat_map(data: bytes) -> SentHeatMap:
    try:
        values = np.load(io.BytesIO(data), allow_pickle=False)
        # Half floats overflow beyond 65,504, which would no longer be a map.
        with np.errstate(over="ignore"):
            half = np.asarray(values, dtype="<f2")
    except (ValueError, EOFError) as error:
        raise _no_map() from error
    if half.ndim != 2 or not half.size or not np.isfinite(half).all():
        raise _no_map()
    return SentHeatMap.of(half)


def _no_map() -> UnreadableInputError:
    return UnreadableInputError(
        "The file of a scripted heat map contains no map.",
        "Save an array of finite numbers, rows by columns, with numpy.save.",
    )


def _no_table() -> UnreadableInputError:
    return UnreadableInputError(
        "The file of scripted answers is not a JSON object of texts.",
        'Write {"item": "D4", "item|grid=8|0": "E5"}.',
    )
