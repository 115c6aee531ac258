"""Rows of a table and of JSON lines, with the number of their line."""

import csv
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viewer.domain.documents import read_json
from viewer.domain.errors import UnreadableInputError
from viewer.readers.datasets.csv_tables import rows_of


@dataclass(frozen=True)
class Row:
    """The content of a line, and its number in the file or of a sample in a log."""

    place: str
    values: Mapping[str, Any]


def csv_rows(file: Path) -> list[Row]:
    """Return a table's rows; a file without a table raises UnreadableInputError."""
    csv.field_size_limit(sys.maxsize)  # a reply may be longer than 128 KiB
    return [Row(f"line {row.line}", row.cells) for row in rows_of(file)]


def json_line_rows(file: Path) -> list[Row]:
    """Return the objects of a JSON Lines file; raises for any other line."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UnreadableInputError(
            f"'{file.name}' cannot be read as text.", "Choose a file in UTF-8."
        ) from error
    # splitlines() would also split at U+2028, which JSON allows inside a text.
    lines = enumerate(text.split("\n"), start=1)
    return [
        Row(f"line {n}", _object(file, n, line)) for n, line in lines if line.strip()
    ]


def _object(file: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        found = read_json(line)
    except ValueError as error:
        raise _no_object(file, number) from error
    if not isinstance(found, dict):
        raise _no_object(file, number)
    return found


def _no_object(file: Path, number: int) -> UnreadableInputError:
    return UnreadableInputError(
        f"Line {number} of '{file.name}' is not a JSON object.",
        "Write one object a line.",
    )
