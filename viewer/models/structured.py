"""The JSON Schema of an answer, for profiles that want structured answers."""

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
    """Return the JSON Schema of a request's answer: the study's, or that of a cell."""
    return dict(request.answer_schema or CELL_SCHEMA)
