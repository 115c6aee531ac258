"""Looks in a prompt for what the image's own header says of its patient.

Exact values of this study are looked for, which finds more and errs less than patterns
of what names and numbers look like (studies.md 3.8).
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from viewer.domain.errors import PrivacyError
from viewer.readers.identifiers import Identifier

_LONG: Final = 6
"""From so many characters on, a value inside a longer word is one too."""


def check_prompt(
    text: str, identifiers: Sequence[Identifier], known: Iterable[str] = ()
) -> None:
    """Raise ``PrivacyError`` where a text holds a value of the header.

    Parameters
    ----------
    text : str
        All text that would leave.
    identifiers : sequence of Identifier
        The header's values.
    known : iterable of str
        Texts that every patient's question holds; what stands in them names nobody.

    Raises
    ------
    PrivacyError
        Naming the header's keywords, never their values.
    """
    said, common = _plain(text), _plain("\n".join(known))
    hits = {
        identifier.keyword: None
        for identifier in identifiers
        if _holds(said, identifier.value) and not _holds(common, identifier.value)
    }
    if hits:
        raise PrivacyError(
            f"A question was not sent: its text holds the image's {', '.join(hits)}.",
            "Take it out of the finding or the prompt, and ask again.",
        )


def _holds(said: str, value: str) -> bool:
    wanted = _plain(value)
    if len(wanted) >= _LONG:
        return wanted in said
    return bool(wanted) and _pattern(wanted).search(said) is not None


@lru_cache(maxsize=1024)
def _pattern(wanted: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(wanted)}(?!\w)")


def _plain(text: str) -> str:
    """Return a text without case, accents and runs of white space."""
    apart = unicodedata.normalize("NFKD", text)
    bare = "".join(c for c in apart if not unicodedata.combining(c))
    return " ".join(bare.casefold().split())
