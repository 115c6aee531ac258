"""The JSON Schema of an answer, for every convention that is written in JSON.

Everything a schema allows can be parsed by its convention. The outermost value is an
object, because OpenAI's structured outputs accept nothing else; lists of locations are
under "findings".
"""

from collections.abc import Mapping
from typing import Final

from viewer.domain.errors import WrongUseError

_ONE: Final[Mapping[str, tuple[str, int | None]]] = {
    "claude": ("box", None),
    "xyxy_1000": ("box", 1000),
}
"""Conventions of one place: its key, and the largest number where there is one."""
_SEVERAL: Final[Mapping[str, tuple[str, int | None]]] = {
    "qwen2_5_vl": ("bbox_2d", None),
    "qwen3_vl": ("bbox_2d", 1000),
    "gemini": ("box_2d", 1000),
}
"""Conventions of a list of places."""
_GRID: Final = "grid"

FORMED: Final = (_GRID, *_ONE, *_SEVERAL)
"""The conventions whose answers can be asked for in a form."""


def form_of(convention: str, finding: str) -> dict[str, object] | None:
    """Return the JSON Schema of an answer about a finding.

    Parameters
    ----------
    convention : str
        One of ``FORMED``.
    finding : str
        The only label that an answer may have.

    Returns
    -------
    dict or None
        None for a cell of the grid, whose schema is the same for every question.
    """
    if convention == _GRID:
        return None
    if convention in _ONE:
        return _place(*_ONE[convention], finding)
    places = {"type": "array", "items": _place(*_SEVERAL[convention], finding)}
    return _object({"findings": places})


def not_formed(model: str, convention: str) -> WrongUseError:
    """Return the error for structured answers in a convention that is not JSON."""
    return WrongUseError(
        f"The model '{model}' must answer in a fixed form (structured), but its "
        f"convention {convention} is not JSON.",
        f"Remove structured, or choose one of {', '.join(FORMED)}.",
    )


def _place(key: str, largest: int | None, finding: str) -> dict[str, object]:
    bound = {} if largest is None else {"maximum": largest}
    number = {"type": "integer", "minimum": 0, **bound}
    box = {"type": "array", "items": number, "minItems": 4, "maxItems": 4}
    return _object({key: box, "label": {"type": "string", "enum": [finding]}})


def _object(properties: Mapping[str, object]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": [*properties],
        "additionalProperties": False,
    }
