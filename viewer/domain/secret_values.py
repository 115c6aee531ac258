"""Recognise keys and passwords by their value, whatever their variable is called.

A value is secret if the program knows it as a key, if it has the format of a well-known
kind of key, or if it is long, looks random and is assigned to a name for keys
(``api_key = …``). Numbers, hashes, UIDs and words are not secret.
"""

import base64
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import quote

STRUCK: Final = "…"
"""What stands where a secret was."""
_SHORTEST: Final = 12
"""Characters; what is shorter is a word that stands in for a key, such as ``none``."""
_FORMS: Final = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|gh[opusr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|hf_[A-Za-z0-9]{20,}"
    r"|gsk_[A-Za-z0-9]{20,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|nvapi-[A-Za-z0-9_-]{20,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,})"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?"
)
"""Of OpenAI, Anthropic and others; Google; GitHub; GitLab; Hugging Face; Groq; Slack;
NVIDIA; AWS; JSON Web Tokens; PEM."""
_HOLDERS: Final = (
    r"(?:api|access|account|auth|private|secret|shared|subscription)[_-]?(?:key|token)"
    r"|(?:bearer|refresh|session|id)[_-]?token|client[_-]?secret|secret|passw(?:or)?d"
    r"|credentials?|authorization|x-api-key"
)
_HOLDER: Final = re.compile(
    rf"(?:.*[_-])?(?:{_HOLDERS}|key|token|auth|bearer)", re.IGNORECASE
)
_ASSIGNED: Final = re.compile(
    rf"(?P<head>(?:{_HOLDERS})[\"']?\s*(?:[:=]|=>)\s*(?:(?:Bearer|Basic)\s+)?[\"']?"
    r"|\b(?:Bearer|Basic)\s+)"
    r"(?P<value>[A-Za-z0-9_.~+/=-]{8,})",
    re.IGNORECASE,
)
_IN_ADDRESS: Final = re.compile(r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)")
_DRAWN: Final = re.compile(r"(?=.*[A-Za-z])(?=.*\d)[A-Za-z0-9_.~+/=-]{16,}")
_GAP: Final = r"(?:[\"']\s*[\"']|\\?\r?\n\s*|\\[nr])?"
"""What may stand between two characters of a text that was broken over lines."""


def holds_keys(name: str) -> bool:
    """Tell whether a name is one for keys, such as ``api_key``.

    ``max_tokens`` and ``prompt_sha256`` are not.
    """
    return _HOLDER.fullmatch(name) is not None


def is_secret(text: str, known: Iterable[str] = ()) -> bool:
    """Tell whether a text contains a key in any encoding."""
    return without_secrets(text, known) != text


def without_secrets(text: str, known: Iterable[str] = ()) -> str:
    """Return a text with ``STRUCK`` in place of every key.

    Parameters
    ----------
    text : str
        A log line, an error sentence, a report or a value.
    known : iterable of str
        The keys that the program knows; they are also found in percent-encoding, base64
        and hexadecimal, and split across lines or string literals.
    """
    # The longest first: a key may contain another, whose rest would stay.
    for key in sorted(set(known), key=len, reverse=True):
        if len(key) >= _SHORTEST:
            text = _pattern(key).sub(STRUCK, text)
    text = _IN_ADDRESS.sub(STRUCK, _FORMS.sub(STRUCK, text))
    return _ASSIGNED.sub(_struck, text)


def secret_place(value: object, known: Iterable[str] = (), place: str = "") -> str:
    """Return the path of a key in a document, such as ``model.1.note``; "" if none."""
    if isinstance(value, str):
        return place if is_secret(value, known) else ""
    if isinstance(value, Mapping):
        parts = [(str(name), one) for name, one in value.items()]
    elif isinstance(value, list | tuple):
        parts = [(str(number), one) for number, one in enumerate(value, 1)]
    else:
        return ""
    found = (
        secret_place(one, known, f"{place}.{name}" if place else name)
        for name, one in parts
    )
    return next(filter(None, found), "")


def _struck(found: re.Match[str]) -> str:
    return f"{found['head']}{STRUCK}" if _DRAWN.match(found["value"]) else found[0]


@lru_cache(maxsize=64)
def _pattern(key: str) -> re.Pattern[str]:
    """Return a pattern that matches a key in every encoding."""
    raw = key.encode()
    written = [_GAP.join(_either(letter) for letter in key), raw.hex()]
    written += [_GAP.join(map(re.escape, text)) for text in _base64(raw)]
    return re.compile("|".join(written))


def _either(letter: str) -> str:
    coded = "".join(f"%{byte:02x}" for byte in letter.encode())
    forms = {letter, quote(letter, safe=""), coded, coded.upper()}
    return f"(?:{'|'.join(map(re.escape, sorted(forms)))})"


def _base64(raw: bytes) -> set[str]:
    """Return the base64 substrings that encode the key, one per alignment."""
    found = set()
    # Three bytes become four characters, so a key's characters depend on its offset;
    # those at its ends, which share bits with its neighbours, are left out.
    for before in range(3):
        text = base64.b64encode(bytes(before) + raw).decode().rstrip("=")
        whole = text[-(-8 * before // 6) : (before + len(raw)) * 8 // 6]
        found |= {whole, whole.replace("+", "-").replace("/", "_")}
    return found
