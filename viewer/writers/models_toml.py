"""Edits of one ``[[model]]`` table in a hand-written TOML file.

Only the lines of the table itself are written anew; comments, other tables and their
order stay as a person wrote them. Every change is read back before it is returned.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from viewer.domain.documents import read_toml
from viewer.domain.errors import WrongUseError
from viewer.writers.toml import toml_bytes

_HEADER: Final = re.compile(r"\s*\[\[\s*model\s*\]\]\s*(#.*)?\s*$")
_ANY_HEADER: Final = re.compile(r"\s*\[")
_ASIDE: Final = re.compile(r"\s*(#.*)?\s*$")
_ENTRY: Final = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")

Tables = list[dict[str, Any]]


def model_tables(text: str) -> Tables:
    """Return the ``[[model]]`` tables of a TOML document that holds such a list."""
    found = read_toml(text).get("model", [])
    return [dict(table) for table in found]


def with_model(text: str, name: str | None, table: Mapping[str, object]) -> str:
    """Return a document with one table rewritten.

    Parameters
    ----------
    text : str
        The document before.
    name : str or None
        The ``name`` of the table to replace; None adds one at the end.
    table : Mapping
        The table's plain values, its own name among them.

    Raises
    ------
    WrongUseError
        If the document is laid out so that the rest could not be left alone.
    """
    tables = model_tables(text)
    if name is None:
        gap = "\n" if text and not text.endswith("\n\n") else ""
        end = "" if not text or text.endswith("\n") else "\n"
        added = text + end + gap + "\n".join(_written(table, [])) + "\n"
        return _checked(added, [*tables, dict(table)])
    lines = text.removesuffix("\n").split("\n")
    start, end_line = _place_of(lines, name)
    lines[start:end_line] = _written(table, lines[start:end_line])
    wanted = [dict(table) if t.get("name") == name else t for t in tables]
    return _checked("\n".join(lines) + "\n", wanted)


def without_model(text: str, name: str) -> str:
    """Return a document without the named table; raises like `with_model`."""
    tables = [t for t in model_tables(text) if t.get("name") != name]
    lines = text.removesuffix("\n").split("\n")
    start, end = _place_of(lines, name)
    while end < len(lines) and not lines[end].strip():
        end += 1
    del lines[start:end]
    return _checked("\n".join(lines).rstrip("\n") + "\n", tables)


def _place_of(lines: Sequence[str], name: str) -> tuple[int, int]:
    """Return where a table's lines begin and end, without what follows it."""
    for start, line in enumerate(lines):
        if _HEADER.match(line):
            end = _end_of(lines, start)
            if _name_of(lines[start:end]) == name:
                return start, end
    raise _cannot()


def _end_of(lines: Sequence[str], start: int) -> int:
    end = start + 1
    while end < len(lines) and not _ANY_HEADER.match(lines[end]):
        end += 1
    while _ASIDE.match(lines[end - 1]):
        end -= 1
    return end


def _name_of(lines: Sequence[str]) -> object:
    try:
        tables = model_tables("\n".join(lines))
    except tomllib.TOMLDecodeError:
        return None
    return tables[0].get("name")


def _written(table: Mapping[str, object], before: Sequence[str]) -> list[str]:
    """Return a table's lines, leaving those with unchanged values as they were."""
    values = dict(table)
    lines: list[str] = []
    for line in before[1:]:
        entry = _ENTRY.match(line)
        if entry is None:
            lines.append(line)
        elif entry[1] in values:
            value = values.pop(entry[1])
            lines.append(line if _says(line, value) else _line(entry[1], value))
    head = before[0] if before else "[[model]]"
    return [head, *lines, *(_line(key, value) for key, value in values.items())]


def _says(line: str, value: object) -> bool:
    try:
        (written,) = read_toml(line).values()
    except tomllib.TOMLDecodeError:
        return False
    return type(written) is type(value) and written == value


def _line(key: str, value: object) -> str:
    return toml_bytes({key: value}).decode().rstrip("\n")


def _checked(text: str, wanted: Tables) -> str:
    try:
        found = model_tables(text)
    except tomllib.TOMLDecodeError:
        raise _cannot() from None
    if found != wanted:
        raise _cannot()
    return text


def _cannot() -> WrongUseError:
    return WrongUseError(
        "The models file is laid out so that one model cannot be changed without "
        "touching the rest.",
        "Change it in a text editor.",
    )
