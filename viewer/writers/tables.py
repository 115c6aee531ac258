"""Tables as comma-separated values, the same bytes on every machine."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from viewer.domain.report import Table
from viewer.writers.files import write_atomically


def write_table(table: Table, path: Path) -> None:
    """Write a table as a CSV file; a folder that cannot be written to raises."""
    write_atomically(path, csv_bytes(table.header, table.rows))


def csv_bytes(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """Return UTF-8 CSV (RFC 4180 quoting, LF line ends).

    None and NaN are empty; a float is its shortest decimal that reads back the same.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([_printed(value) for value in row] for row in rows)
    return text.getvalue().encode()


def _printed(value: object) -> str:
    """Return a cell as it is printed; NaN differs from itself."""
    if value is None or value != value:
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)
