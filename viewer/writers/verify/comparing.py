"""A printed table compared with the rows that were computed."""

import csv
import io
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from math import isclose

from viewer.writers.verify.archive import Bundle

Row = tuple[object, ...]
TAKEN = "(taken as stored)"
"""A cell that needs more than trials, such as an interval by resampling."""
Tell = Callable[[str], None]
_CLOSE = 1e-9
_GUARDED = re.compile("'+[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")


@dataclass
class Report:
    """The result: problems, what was done, and what could not be checked."""

    wrong: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Worked:
    """The expected contents of a table.

    The columns ``close`` may differ by a billionth: an area that was integrated, or a
    mean, which versions of Python add up differently. Nothing is known of the header of
    a list without a row.
    """

    name: str
    header: Sequence[str]
    rows: Sequence[Row]
    close: Collection[str] = ()


def compare_table(bundle: Bundle, table: Worked, found: Report) -> None:
    """Compare a table's printed rows with those computed."""
    file, rows = f"tables/{table.name}.csv", table.rows
    if file not in bundle.members:
        if rows:
            found.wrong.append(f"{file} is missing.")
        return
    header, *printed = read_csv(bundle.members[file])
    if header != list(table.header or header):
        found.wrong.append(f"{file} does not have the columns it should have.")
    if len(printed) != len(rows):
        found.wrong.append(f"{file} has {len(printed)} rows, not {len(rows)}.")
    for number, (row, values) in enumerate(zip(printed, rows, strict=False), 2):
        if len(row) != len(values):
            found.wrong.append(f"{file}, row {number} has {len(row)} cells.")
        for name, cell, value in zip(table.header, row, values, strict=False):
            if not _is_as(cell, value, close=name in table.close):
                found.wrong.append(
                    f"{file}, row {number} ({', '.join(row[:4])}): {name} is "
                    f"{cell or 'empty'}, computed again {_printed(value) or 'empty'}."
                )
    found.done.append(_worked_out(table))


def has_other_columns(bundle: Bundle, table: Worked) -> bool:
    """Tell whether a table has columns that are not computed here."""
    printed = read_csv(bundle.members.get(f"tables/{table.name}.csv", b""))
    return bool(printed) and printed[0] != list(table.header)


def read_csv(data: bytes) -> list[list[str]]:
    """Return the rows of a CSV file, each cell as its original text.

    An apostrophe stands before a text that a spreadsheet would take for a formula. A
    cell may be as long as the file, as replies are.
    """
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))
    rows = csv.reader(io.StringIO(data.decode(), newline=""))
    return [[_unguarded(cell) for cell in row] for row in rows]


def _unguarded(cell: str) -> str:
    return cell[1:] if _GUARDED.match(cell) else cell


def _worked_out(table: Worked) -> str:
    """Return what was computed of a table, and what was not."""
    names = dict.fromkeys(
        name
        for row in table.rows
        for name, value in zip(table.header, row, strict=False)
        if value == TAKEN
    )
    but = f", but for {', '.join(names)}" if names else ""
    rows = f"{len(table.rows)} rows computed again"
    return f"tables/{table.name}.csv: {rows}{but}."


def _is_as(cell: str, value: object, *, close: bool) -> bool:
    if value == TAKEN:
        return True
    return cell == _printed(value) or (close and _is_close(cell, value))


def _printed(value: object) -> str:
    if value is None or value != value:
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def _is_close(cell: str, value: object) -> bool:
    try:
        return isinstance(value, float) and isclose(
            float(cell), value, rel_tol=_CLOSE, abs_tol=_CLOSE
        )
    except ValueError:
        return False
