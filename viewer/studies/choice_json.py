"""The options that a reply written as JSON names."""

from collections.abc import Iterator

from viewer.studies.fields import plain_name
from viewer.studies.json_documents import documents

_KEYS = frozenset(
    {
        *("answer", "choice", "option", "letter", "selection", "selected option"),
        *("final answer", "correct answer", "correct option", "prediction"),
    }
)


def json_choices(text: str) -> list[str | None]:
    """Return the value of every answer key, a null as None; empty without JSON."""
    return [value for document in documents(text) for value in _answers(document)]


def _answers(document: object) -> Iterator[str | None]:
    """Yield what stands under the answer keys of an object or of a list of them."""
    parts = document if isinstance(document, list) else [document]
    for part in parts:
        if isinstance(part, dict):
            named = (value for key, value in part.items() if plain_name(key) in _KEYS)
            for value in named:
                yield from _values(value)


def _values(value: object) -> Iterator[str | None]:
    for one in value if isinstance(value, list) else [value]:
        yield None if one is None else str(one)
