"""Placeholders such as ``{question}`` in prompts."""

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
    """Raise WrongUseError if a prompt lacks a placeholder or has an unknown one.

    At least one of each group in ``required`` must be present, those in ``optional``
    may be; ``untouched`` ones are left for the model to read.
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
    """Return placeholders in braces, listed as in a sentence."""
    *before, end = (f"{{{place}}}" for place in places)
    return f"{', '.join(before)} {last} {end}" if before else end
