"""Write a table that is on the screen to a file."""

from pathlib import Path

from viewer.domain.escapes import guarded, one_line
from viewer.domain.report import Table
from viewer.writers.tables import csv_bytes, write_table


def table_as_csv(table: Table) -> str:
    """Return a table as the text of the file that :func:`export_table` writes."""
    return csv_bytes(table.header, table.rows).decode()


def table_as_tsv(table: Table) -> str:
    """Return a table separated by tabs, as spreadsheets paste it; None is empty."""
    lines = [table.header, *table.rows]
    return "".join("\t".join(map(_pasted, line)) + "\n" for line in lines)


def _pasted(value: object) -> str:
    if value is None:
        return ""
    return one_line(guarded(str(value))) if isinstance(value, str) else str(value)


def export_table(table: Table, path: Path) -> None:
    """Write a table as CSV, byte for byte as the run's report has it.

    A folder that cannot be written to raises WrongUseError and leaves no half a file.
    """
    write_table(table, path)
