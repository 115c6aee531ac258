"""JSON in a reply, among any prose and code fences."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from viewer.domain.documents import with_whole_letters

_MOST_STARTS = 20
_START = re.compile(r"[{\[]")
_DECODER = json.JSONDecoder()


class Found(NamedTuple):
    """A document with where it begins and ends in its text."""

    document: object
    start: int
    end: int


def documents(text: str, most_starts: int = _MOST_STARTS) -> Iterator[object]:
    """Yield every JSON object or array in a text, outermost ones only.

    ``most_starts`` brackets are tried, so that a text of brackets costs no time.
    """
    return (found.document for found in found_documents(text, most_starts))


def found_documents(text: str, most_starts: int = _MOST_STARTS) -> Iterator[Found]:
    """Yield every such object or array with its place."""
    position = 0
    for _ in range(most_starts):
        start = _START.search(text, position)
        if start is None:
            return
        try:
            document, end = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
        else:
            read = with_whole_letters(document, text[start.start() : end])
            yield Found(read, start.start(), end)
            position = end
