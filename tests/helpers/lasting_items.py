"""Trials as items.csv lists them, without what hangs on the clock or a server's port.

Two runs that ask the same tell the same of each trial, but for these columns.
"""

import csv
import io

from viewer.domain.report import Table

OF_THE_DAY = frozenset({"seconds", "request_sha256"})
Row = dict[str, object]


def lasting(table: Table) -> list[Row]:
    """Return the rows of a table of items."""
    return [_lasting(row) for row in table.records()]


def lasting_csv(data: bytes) -> list[Row]:
    """Return the rows of an items.csv."""
    rows = csv.DictReader(io.StringIO(data.decode(), newline=""))
    return [_lasting(dict(row)) for row in rows]


def _lasting(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in OF_THE_DAY}
