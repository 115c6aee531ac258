"""Study files and model profiles as TOML; plain values, tables and arrays of tables."""

import json
from collections.abc import Iterator, Mapping, Sequence

from viewer.domain.errors import WrongUseError


def toml_bytes(table: Mapping[str, object]) -> bytes:
    """Return a table as a TOML document, UTF-8, in the order of its keys.

    Values are text, whole numbers, finite numbers, booleans, lists of these, tables
    and lists of tables; tables come last, as TOML wants it. Anything else raises.
    """
    return ("\n".join(_document(table)) + "\n").encode()


def _document(table: Mapping[str, object], *above: str) -> Iterator[str]:
    yield from _entries(table)
    for key, value in table.items():
        where = ".".join((*above, _key(key)))
        if isinstance(value, Mapping):
            yield from ("", f"[{where}]", *_document(value, where))
        elif _is_tables(value):
            for each in value:  # type: ignore[attr-defined]
                yield from ("", f"[[{where}]]", *_entries(each))


def _entries(table: Mapping[str, object]) -> Iterator[str]:
    for key, value in table.items():
        if not isinstance(value, Mapping) and not _is_tables(value):
            yield f"{_key(key)} = {toml_value(value, key)}"


def _is_tables(value: object) -> bool:
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(each, Mapping) for each in value)
    )


def _key(key: str) -> str:
    bare = key.replace("_", "").replace("-", "")
    return key if bare.isascii() and bare.isalnum() else _basic(key)


def toml_value(value: object, key: str = "") -> str:
    """Return a value as TOML; raise if TOML has no such type."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_text(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Sequence):
        return f"[{', '.join(toml_value(each, key) for each in value)}]"
    raise WrongUseError(f"The entry '{key}' cannot be written as TOML.", "Correct it.")


def toml_text(text: str) -> str:
    """Return text as a TOML string; multi-line text stays multi-line."""
    plain = text.replace("\n", "").replace("\t", "")
    # Quotes side by side, or one before the closing three, would end the string.
    if plain == text or not plain.isprintable() or "''" in text:
        return _basic(text)
    return f"'''\n{text}'''"


def _basic(text: str) -> str:
    """Return a basic string; unlike JSON, TOML also requires DEL to be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
