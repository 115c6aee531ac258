"""Placeholders such as ``{question}`` in the texts that models are asked with."""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from viewer.domain.errors import WrongUseError

PLACE: Final = re.compile(r"\{([A-Za-z][\w ]*)\}")
"""A placeholder of a prompt."""


def check_placeholders(
    name: str,
    text: str,
    required: Sequence[Sequence[str]],
    optional: Sequence[str] = (),
    untouched: Collection[str] = (),
) -> None:
    """Raise for a prompt that lacks a placeholder, or has one that nothing fills.

    Of each group in ``required`` one has to be there, those in ``optional`` may be;
    ``untouched`` ones stand for the model to read.
    """
    places = (*(one for group in required for one in group), *optional)
    found = dict.fromkeys(PLACE.findall(text))
    for place in found:
        if place not in (*places, *untouched):
            raise _refusal(name, f"has the unknown placeholder {{{place}}}", places)
    for group in required:
        if not any(place in found for place in group):
            lacks = f"lacks the placeholder {_listed(group, 'or')}"
            raise _refusal(name, lacks, places)


def _refusal(name: str, what: str, places: Sequence[str]) -> WrongUseError:
    allowed = _listed(places) if places else "none"
    return WrongUseError(
        f"The prompt '{name}' {what}.", f"Allowed placeholders: {allowed}."
    )


def _listed(places: Iterable[str], last: str = "and") -> str:
    """Return placeholders as a sentence names them, in braces."""
    *before, end = (f"{{{place}}}" for place in places)
    return f"{', '.join(before)} {last} {end}" if before else end
