"""Comma-separated tables, recognised by their columns wherever they are."""

import csv
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from viewer.domain.case import Notice
from viewer.domain.errors import UnreadableInputError
from viewer.domain.escapes import unguarded
from viewer.domain.geometry import BoxPx
from viewer.readers.datasets.files import files_below
from viewer.readers.files.text_files import (
    BROKEN_GZIP,
    check_text,
    header_cells,
    open_text,
)

_SPLITS = {"train": "", "val": "val", "valid": "val", "test": "test"}


@dataclass(frozen=True)
class CsvRow:
    """A row: its line number in the file, from 1, and its stripped cells by column.

    The apostrophe that guards text from being read as a formula is removed.

    ``overlong`` is True if it has more cells than there are columns.
    """

    line: int
    cells: Mapping[str, str]
    overlong: bool = False


def is_table(path: Path) -> bool:
    """Tell whether a file name is that of a CSV file, plain or compressed with gzip."""
    return path.name.lower().endswith((".csv", ".csv.gz"))


def tables_below(path: Path, columns: Collection[str]) -> tuple[Path, ...]:
    """Return the tables below a folder, or the named one, that have these columns."""
    files = (path,) if path.is_file() else files_below(path)
    return tuple(p for p in files if is_table(p) and set(columns) <= set(header_of(p)))


def required_tables(path: Path, columns: Collection[str]) -> tuple[Path, ...]:
    """Return the tables with these columns; raises if there are none."""
    found = tables_below(path, columns)
    if not found:
        wanted = ", ".join(columns)
        where = f"'{path.name}'" if path.is_file() else f"no table below '{path}'"
        has = "does not have" if path.is_file() else "has"
        raise UnreadableInputError(
            f"{where[0].upper()}{where[1:]} {has} the columns {wanted}.",
            "Name the folder or the CSV file of that format, or import another format.",
        )
    return found


def header_of(path: Path) -> list[str]:
    """Return the names of a table's columns, empty if it cannot be read."""
    return [unguarded(name).strip() for name in header_cells(path)]


def rows_of(path: Path) -> Iterator[CsvRow]:
    """Yield a table's rows; raises if the text is not CSV."""
    try:
        check_text(path)
        with open_text(path) as stream:
            reader = csv.DictReader(stream)
            for row in reader:
                yield CsvRow(reader.line_num, _cells(row), None in row)
    except (UnicodeDecodeError, csv.Error, *BROKEN_GZIP) as error:
        raise UnreadableInputError(
            f"The table '{path.name}' cannot be read as comma-separated text.",
            "Save it as CSV in UTF-8, or download it again.",
        ) from error
    except OSError as error:
        raise UnreadableInputError(
            f"'{path.name}' cannot be read: {error.strerror or 'no reason is given'}.",
            "Check its path and that you may read it.",
        ) from error


def columns_not_read(table: Path, read: Collection[str]) -> list[Notice]:
    """Return a notice that names the columns of a table that are not used."""
    others = [column for column in header_of(table) if column not in {*read, ""}]
    if not others:
        return []
    text = f"It has columns that are not read: {', '.join(others)}."
    return [Notice("columns_not_read", table.name, text)]


def split_of(tables: Collection[Path]) -> str:
    """Return the split in the tables' names, "" if there is none or several."""
    found = {
        split
        for path in tables
        for word, split in _SPLITS.items()
        if word in path.stem.lower().replace("-", "_").split("_")
    }
    return found.pop() if len(found) == 1 else ""


def corners(*numbers: str) -> BoxPx | None:
    """Return the box from x0, y0 to x1, y1; None if it is invalid."""
    try:
        x0, y0, x1, y1 = map(float, numbers)
    except ValueError:
        return None
    if not all(map(math.isfinite, (x0, y0, x1, y1))) or x1 <= x0 or y1 <= y0:
        return None
    return BoxPx(x0, y0, x1, y1)


def corner_and_size(*numbers: str) -> BoxPx | None:
    """Return the box at x, y with a width and height; None if it is invalid."""
    try:
        x, y, width, height = map(float, numbers)
    except ValueError:
        return None
    return corners(str(x), str(y), str(x + width), str(y + height))


def _cells(row: Mapping[str | None, object]) -> dict[str, str]:
    return {
        unguarded(key).strip(): unguarded(value).strip()
        for key, value in row.items()
        if isinstance(key, str) and isinstance(value, str)
    }
