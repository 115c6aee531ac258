"""The text of an output, for cards and pictures."""

import re
from typing import Final

from viewer.studies.json_documents import found_documents

_FENCES: Final = re.compile(r"```(?:json)?\s*```")
"""What is left of a code block whose JSON is gone."""
_EXCERPT: Final = 60
"""Words of an output that an error card shows."""


def without_boxes(text: str) -> str:
    """Return the text of an output without the JSON of its boxes."""
    words, place = "", 0
    for found in found_documents(text):
        if "box" in str(found.document):
            words, place = f"{words}{text[place : found.start]}", found.end
    return _FENCES.sub("", f"{words}{text[place:]}").strip() or text


def excerpt(text: str, words: int = _EXCERPT) -> str:
    """Return the first words of a text."""
    parts = text.split()
    return " ".join(parts[:words]) + (" …" if len(parts) > words else "")
