"""Tables as comma-separated values, the same bytes on every machine."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from viewer.domain.escapes import guarded
from viewer.domain.report import Table
from viewer.writers.files import write_atomically

_QUOTED_ENDS: Final = "\r\n"


def write_table(table: Table, path: Path) -> None:
    """Write a table as a CSV file; a folder that cannot be written to raises."""
    write_atomically(path, csv_bytes(table.header, table.rows))


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return UTF-8 CSV (RFC 4180 quoting, LF line ends).

    None and NaN are empty; a float is its shortest decimal that reads back the same.
    Text that a spreadsheet would take for a formula is guarded (domain/escapes).
    """
    lines = _Lines()
    writer = csv.writer(lines, lineterminator=_QUOTED_ENDS)
    writer.writerow(map(guarded, header))
    writer.writerows([_printed(value) for value in row] for row in rows)
    return "".join(lines).encode()


class _Lines(list[str]):
    """Takes the lines of csv, which quotes only what it would end a line with."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix(_QUOTED_ENDS) + "\n")


def _printed(value: object) -> str:
    """Return a cell as it is printed; NaN differs from itself."""
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return guarded(str(value)) if isinstance(value, str) else str(value)
