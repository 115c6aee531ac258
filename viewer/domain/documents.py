"""Safe reading of JSON and TOML from untrusted sources."""

import json
import re
from typing import Any, Final

_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(document: str | bytes) -> Any:  # noqa: ANN401 - any value, as json.loads
    """Return the value of a JSON document whose strings can be stored.

    Raises
    ------
    ValueError
        If the text is not JSON, or nested too deeply.
    """
    text = document if isinstance(document, str) else _decoded(document)
    try:
        return with_whole_letters(json.loads(text), text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML document.

    Raises
    ------
    tomllib.TOMLDecodeError
        If the text is not TOML, or nested too deeply.
    """
    import tomllib  # the window starts with JSON alone

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("lists or tables are nested too deeply") from None


def with_whole_letters(value: Any, text: str) -> Any:  # noqa: ANN401 - any value
    """Replace lone surrogates in a value read from ``text`` by U+FFFD.

    JSON can encode them, but UTF-8 cannot.
    """
    if not _SURROGATE.search(text):
        return value
    return json.loads(whole_letters(json.dumps(value, ensure_ascii=False)))


def whole_letters(text: str) -> str:
    """Return text with U+FFFD for each lone surrogate."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _decoded(document: bytes) -> str:
    return document.decode(json.detect_encoding(document), "surrogatepass")
