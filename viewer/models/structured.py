"""The form an answer is asked in, where a profile wants it structured."""

from collections.abc import Mapping
from typing import Final

from viewer.domain.exchange import ModelRequest

CELL_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"cell": {"type": "string"}},
    "required": ["cell"],
    "additionalProperties": False,
}
"""JSON Schema of one named cell, which the free-text parser reads as well."""


def schema_of(request: ModelRequest) -> dict[str, object]:
    """Return the JSON Schema of a request's answer: its study's, or one cell's."""
    return dict(request.answer_schema or CELL_SCHEMA)
